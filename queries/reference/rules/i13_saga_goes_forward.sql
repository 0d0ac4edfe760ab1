-- id: I13
-- sentence: A saga past its pivot is not compensated, and moves.
-- severity: caution
-- cadence: 10s
-- next: Never compensate it: the money was captured. Find what the next step waits for and retry that step.
-- needs: saga_limit_s
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- A saga that stands still is not touched, so every open one is asked about each time.
WITH past AS (
  SELECT s.saga_id, min(s.position) AS pivot_at
  FROM saga_steps s
  WHERE s.pivot AND s.status IN ('done', 'compensating', 'compensated')
    AND s.saga_id IN (SELECT o.saga_id FROM saga_steps o WHERE o.status <> 'done')
  GROUP BY s.saga_id
),
state AS (
  SELECT
    s.saga_id,
    max(s.order_id) AS order_id,
    max(s.updated_at) AS at,
    string_agg(s.step, ', ' ORDER BY s.position) FILTER (WHERE s.status IN ('compensating', 'compensated')) AS undone,
    string_agg(s.step, ', ' ORDER BY s.position) FILTER (WHERE s.status IN ('pending', 'running', 'failed') AND s.position > past.pivot_at) AS waiting
  FROM past
  JOIN saga_steps s ON s.saga_id = past.saga_id
  GROUP BY s.saga_id
)
SELECT
  pay.scope,
  pay.key,
  t.order_id,
  pay.id AS payment_id,
  t.saga_id AS ref,
  pay.amount,
  pay.currency,
  t.at,
  CASE
    WHEN t.undone IS NOT NULL THEN 'compensated past its pivot: ' || t.undone
    ELSE 'has not moved for ' || round(extract(epoch FROM now() - t.at))::text || ' s; waits at ' || t.waiting
  END AS detail
FROM state t
LEFT JOIN LATERAL (
  SELECT p.scope, p.key, p.id, p.amount, p.currency
  FROM payments p
  WHERE p.order_id = t.order_id
  ORDER BY CASE p.status WHEN 'succeeded' THEN 0 ELSE 1 END, p.created_at DESC, p.id
  LIMIT 1
) pay ON true
WHERE (t.undone IS NOT NULL AND t.at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND t.at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0))
  OR (t.undone IS NULL AND t.waiting IS NOT NULL AND t.at < now() - interval '1 second' * ($2::jsonb ->> 'saga_limit_s')::bigint)
ORDER BY t.at DESC, t.saga_id
LIMIT 200
