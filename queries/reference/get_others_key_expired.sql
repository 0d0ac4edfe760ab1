-- Who else came back after a key's time was over: two payments of one key, further apart than keys are kept, and the record of the
-- first is gone or was made again.
-- $1 timestamptz: since; $2 bigint: how many at most; $3 bigint: how long keys are promised to be kept, in seconds. Since: 4.
-- What the service did at the time goes before what it promises: its config event says it ("keys are kept for 5 seconds").
-- What our books show: who may have paid twice. Whether a charge stands, only the provider knows.
SELECT b.scope, b.key, b.order_id, b.provider_ref AS ref, b.created_at AS at, b.amount, b.currency,
  'payment ' || earlier.id || ', and ' || round(extract(epoch FROM b.created_at - earlier.created_at))::text || ' s later ' || b.id ||
    ' with the same key, which was kept for ' || round(extract(epoch FROM kept.time))::text || ' s' AS what
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
WHERE b.created_at >= $1::timestamptz AND b.status NOT IN ('failed', 'created') AND b.created_at - earlier.created_at >= kept.time
  AND NOT EXISTS (
    SELECT 1 FROM idempotency_keys k WHERE k.scope = b.scope AND k.key = b.key AND k.created_at <= earlier.created_at
  )
ORDER BY b.created_at DESC, b.id
LIMIT $2::bigint
