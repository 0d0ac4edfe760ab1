-- Whose payment was marked failed because the provider did not answer in time, and who paid again after it.
-- $1 timestamptz: since; $2 bigint: how many at most. Since: 4.
-- What our books show: who may have paid twice. Whether a charge stands, only the provider knows.
SELECT p.scope, p.key, p.order_id, p.provider_ref AS ref, p.updated_at AS at, p.amount, p.currency,
  'payment ' || p.id || ' was marked failed after a time-out of ' || silent.timeout_ms::text || ' ms; ' ||
    coalesce('paid again as ' || again.id, 'not paid again') AS what
FROM payments p
JOIN LATERAL (
  SELECT c.at, c.timeout_ms
  FROM provider_calls c
  WHERE c.scope = p.scope AND c.key = p.key AND c.payment_id = p.id AND c.purpose = 'charge' AND c.outcome = 'timeout'
  ORDER BY c.at DESC
  LIMIT 1
) silent ON true
LEFT JOIN LATERAL (
  SELECT n.id
  FROM payments n
  WHERE n.scope = p.scope AND n.order_id = p.order_id AND n.id <> p.id AND n.status NOT IN ('failed', 'created') AND n.created_at >= silent.at
  ORDER BY n.created_at, n.id
  LIMIT 1
) again ON true
WHERE p.status = 'failed' AND p.provider_ref IS NULL AND p.updated_at >= $1::timestamptz
  AND NOT EXISTS (
    SELECT 1 FROM provider_calls a
    WHERE a.scope = p.scope AND a.key = p.key AND a.at > silent.at AND a.outcome IN ('ok', 'declined')
      AND (a.payment_id IS NULL OR a.payment_id = p.id)
  )
  AND NOT EXISTS (
    SELECT 1 FROM payment_transitions t
    WHERE t.payment_id = p.id AND t.to_status = 'failed' AND starts_with(t.actor, 'operator:')
  )
ORDER BY p.updated_at DESC, p.id
LIMIT $2::bigint
