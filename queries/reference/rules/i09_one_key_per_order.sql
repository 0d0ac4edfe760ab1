-- id: I9
-- sentence: No order gathered several keys within the retry window: a client makes a key per attempt.
-- severity: caution
-- cadence: 10s
-- next: Look every payment of the order up at the provider, and tell the client's team: one key per intent, kept on every retry.
-- needs: retry_window_s
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
WITH touched AS (
  SELECT k.order_id
  FROM idempotency_keys k
  WHERE k.order_id IS NOT NULL AND k.created_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND k.created_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  UNION
  SELECT p.order_id
  FROM payments p
  WHERE p.created_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND p.created_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
),
used AS (
  SELECT u.order_id, u.scope, u.key, min(u.at) AS at
  FROM (
    SELECT k.order_id, k.scope, k.key, k.created_at AS at
    FROM touched t
    JOIN idempotency_keys k ON k.order_id = t.order_id
    UNION ALL
    SELECT p.order_id, p.scope, p.key, p.created_at
    FROM touched t
    JOIN payments p ON p.order_id = t.order_id
  ) u
  GROUP BY u.order_id, u.scope, u.key
),
in_turn AS (
  SELECT u.order_id, u.scope, u.key, u.at,
    lag(u.at) OVER (PARTITION BY u.order_id ORDER BY u.at, u.scope, u.key) AS at_before,
    lag(u.key) OVER (PARTITION BY u.order_id ORDER BY u.at, u.scope, u.key) AS key_before
  FROM used u
)
SELECT
  i.scope,
  i.key,
  i.order_id,
  pay.id AS payment_id,
  pay.provider_ref AS ref,
  pay.amount,
  pay.currency,
  i.at,
  'key ' || i.key || ' came ' || round(extract(epoch FROM i.at - i.at_before))::text || ' s after key ' || i.key_before AS detail
FROM in_turn i
LEFT JOIN LATERAL (
  SELECT p.id, p.provider_ref, p.amount, p.currency
  FROM payments p
  WHERE p.scope = i.scope AND p.key = i.key
  ORDER BY p.created_at DESC, p.id
  LIMIT 1
) pay ON true
WHERE i.at - i.at_before <= interval '1 second' * ($2::jsonb ->> 'retry_window_s')::bigint
ORDER BY i.at DESC, i.order_id, i.scope, i.key
LIMIT 200
