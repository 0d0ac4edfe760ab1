-- Whose record was removed: two payments of one key within the time keys are kept while the record of the first is gone or was made
-- again; or a payment that lost its record.
-- $1 timestamptz: since; $2 bigint: how many at most; $3 bigint: how long keys are promised to be kept, in seconds. Since: 4.
-- What the service did at the time goes before what it promises: its config event says it ("keys are kept for 5 seconds").
-- Without an amount where no retry has come yet: the next one would charge again.
-- What our books show: who may have paid twice. Whether a charge stands, only the provider knows.
SELECT f.scope, f.key, f.order_id, f.ref, f.at, f.amount, f.currency, f.what
FROM (
  SELECT b.scope, b.key, b.order_id, b.provider_ref AS ref, b.created_at AS at, b.amount, b.currency, b.id,
    'payment ' || earlier.id || ', and ' || round(extract(epoch FROM b.created_at - earlier.created_at))::text || ' s later ' || b.id ||
      ' with the same key: the first record was removed' AS what
  FROM payments b
  JOIN LATERAL (
    SELECT a.id, a.created_at
    FROM payments a
    WHERE a.scope = b.scope AND a.key = b.key AND a.status NOT IN ('failed', 'created') AND (a.created_at, a.id) < (b.created_at, b.id)
    ORDER BY a.created_at DESC, a.id DESC
    LIMIT 1
  ) earlier ON true
  CROSS JOIN LATERAL (
    SELECT interval '1 second' * coalesce((
      SELECT substring(e.what, '^keys are kept for ([0-9]{1,9}) seconds')::bigint
      FROM service_events e
      WHERE e.kind = 'config' AND e.what LIKE 'keys are kept for %' AND e.at <= b.created_at
      ORDER BY e.at DESC, e.id DESC
      LIMIT 1
    ), $3::bigint) AS time
  ) kept
  WHERE b.created_at >= $1::timestamptz AND b.status NOT IN ('failed', 'created') AND b.created_at - earlier.created_at < kept.time
    AND NOT EXISTS (
      SELECT 1 FROM idempotency_keys k WHERE k.scope = b.scope AND k.key = b.key AND k.created_at <= earlier.created_at
    )
  UNION ALL
  SELECT p.scope, p.key, p.order_id, p.provider_ref, p.created_at, NULL, NULL, p.id, 'payment ' || p.id || ' is ' || p.status ||
    ' and its record is gone; no retry has come yet'
  FROM payments p
  CROSS JOIN LATERAL (
    SELECT interval '1 second' * coalesce((
      SELECT substring(e.what, '^keys are kept for ([0-9]{1,9}) seconds')::bigint
      FROM service_events e
      WHERE e.kind = 'config' AND e.what LIKE 'keys are kept for %' AND e.at <= p.created_at
      ORDER BY e.at DESC, e.id DESC
      LIMIT 1
    ), $3::bigint) AS time
  ) kept
  WHERE p.created_at >= $1::timestamptz AND p.created_at > now() - kept.time AND p.status <> 'failed'
    AND NOT EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.scope = p.scope AND k.key = p.key)
    AND NOT EXISTS (SELECT 1 FROM payments n WHERE n.scope = p.scope AND n.key = p.key AND n.id <> p.id)
) f
ORDER BY f.at DESC, f.id
LIMIT $2::bigint
