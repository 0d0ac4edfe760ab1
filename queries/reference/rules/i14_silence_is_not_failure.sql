-- id: I14
-- sentence: No payment is failed because the provider did not answer: silence is not a no.
-- severity: critical
-- cadence: 10s
-- next: Look each payment up at the provider: the charge may have succeeded. The service takes time-outs for failures; hand over.
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- A failure rests on something: an answer to a call, a charge named by its ref, or a person who looked it up.
SELECT
  p.scope,
  p.key,
  p.order_id,
  p.id AS payment_id,
  p.provider_ref AS ref,
  p.amount,
  p.currency,
  p.updated_at AS at,
  'failed' || coalesce(' (' || p.failure_reason || ')', '') || ', though its charge was not answered in ' || silent.timeout_ms::text || ' ms' AS detail
FROM payments p
JOIN LATERAL (
  SELECT c.at, c.timeout_ms
  FROM provider_calls c
  WHERE c.scope = p.scope AND c.key = p.key AND c.payment_id = p.id AND c.purpose = 'charge' AND c.outcome = 'timeout'
  ORDER BY c.at DESC
  LIMIT 1
) silent ON true
WHERE p.status = 'failed' AND p.provider_ref IS NULL
    AND p.updated_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND p.updated_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  AND NOT EXISTS (
    SELECT 1 FROM provider_calls a
    WHERE a.scope = p.scope AND a.key = p.key AND a.at > silent.at AND a.outcome IN ('ok', 'declined')
  )
  AND NOT EXISTS (
    SELECT 1 FROM payment_transitions t
    WHERE t.payment_id = p.id AND t.to_status = 'failed' AND starts_with(t.actor, 'operator:')
  )
ORDER BY p.updated_at DESC, p.id
LIMIT 200
