-- id: I11
-- sentence: A webhook event is applied once.
-- severity: critical
-- cadence: 10s
-- next: Check what the second application did to the payment, then hand over: the inbox does not know its events.
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
WITH touched AS (
  SELECT DISTINCT w.provider, w.event_id
  FROM webhook_events w
  WHERE w.applied_at IS NOT NULL AND w.applied_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND w.applied_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
),
twice AS (
  SELECT w.provider, w.event_id, count(*) AS n, max(w.applied_at) AS at, max(w.type) AS type, max(w.provider_ref) AS ref
  FROM touched t
  JOIN webhook_events w ON w.event_id = t.event_id AND w.provider = t.provider
  WHERE w.applied_at IS NOT NULL
  GROUP BY w.provider, w.event_id
  HAVING count(*) > 1
)
SELECT
  p.scope,
  p.key,
  p.order_id,
  p.id AS payment_id,
  t.ref,
  p.amount,
  p.currency,
  t.at,
  concat_ws(' ', 'event', t.event_id, 'of', t.provider, '(' || t.type || ')', 'was applied', t.n::text, 'times') AS detail
FROM twice t
LEFT JOIN LATERAL (
  SELECT q.scope, q.key, q.order_id, q.id, q.amount, q.currency
  FROM payments q
  WHERE q.provider_ref = t.ref AND q.provider = t.provider
  ORDER BY q.created_at, q.id
  LIMIT 1
) p ON true
ORDER BY t.at DESC, t.provider, t.event_id
LIMIT 200
