-- Who else came back after a key's time was over: two payments of one key, further apart than keys are kept.
-- $1 timestamptz: since; $2 bigint: how many at most; $3 bigint: how long keys are promised to be kept, in seconds. Since: 4.
-- What the service does goes before what it promises: the latest config event says it ("keys are kept for 5 seconds").
-- What our books show: who may have paid twice. Whether a charge stands, only the provider knows.
WITH kept AS (
  SELECT interval '1 second' * coalesce((
    SELECT substring(e.what, '^keys are kept for ([0-9]{1,9}) seconds')::bigint
    FROM service_events e
    WHERE e.kind = 'config' AND e.what LIKE 'keys are kept for %'
    ORDER BY e.at DESC, e.id DESC
    LIMIT 1
  ), $3::bigint) AS time
)
SELECT b.scope, b.key, b.order_id, b.provider_ref AS ref, b.created_at AS at, b.amount, b.currency,
  'payment ' || earlier.id || ', and ' || round(extract(epoch FROM b.created_at - earlier.created_at))::text || ' s later ' || b.id ||
    ' with the same key, which was kept for ' || round(extract(epoch FROM kept.time))::text || ' s' AS what
FROM payments b
CROSS JOIN kept
JOIN LATERAL (
  SELECT a.id, a.created_at
  FROM payments a
  WHERE a.scope = b.scope AND a.key = b.key AND a.status <> 'failed' AND (a.created_at, a.id) < (b.created_at, b.id)
  ORDER BY a.created_at DESC, a.id DESC
  LIMIT 1
) earlier ON true
WHERE b.created_at >= $1::timestamptz AND b.status <> 'failed' AND b.created_at - earlier.created_at >= kept.time
ORDER BY b.created_at DESC, b.id
LIMIT $2::bigint
