-- A key or a user, exactly as written, to the records it belongs to.
-- $1 text: a key or a user's uuid; $2 bigint: how many at most. Since: 4.
WITH hits AS (
  SELECT k.user_id, k.key, 'key' AS why, 1 AS nth, k.created_at
  FROM idempotency_records k
  WHERE k.key = $1::text
  UNION ALL
  SELECT u.user_id, u.key, 'customer', 2, u.created_at
  FROM idempotency_records u
  WHERE u.user_id = CASE WHEN $1::text ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' THEN $1::uuid END
)
SELECT h.user_id::text AS scope, h.key::text AS key, NULL::text AS order_id, NULL::text AS payment_id, h.why, NULL::bigint AS amount, NULL::text AS currency,
  h.created_at AS at
FROM hits h
ORDER BY h.nth, h.created_at DESC, scope, h.key
LIMIT $2::bigint
