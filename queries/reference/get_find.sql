-- Any id a person may have, exactly as written, to the records it belongs to.
-- $1 text: an order, payment, key, provider ref or customer; $2 bigint: how many at most. Since: 4.
-- A payment whose record is gone is still found: its scope and key are known.
WITH hits AS (
  SELECT p.scope, p.key, p.order_id, p.id AS payment_id, 'order' AS why, 1 AS nth, p.created_at, p.amount, p.currency
  FROM payments p WHERE p.order_id = $1::text
  UNION ALL
  SELECT p.scope, p.key, p.order_id, p.id, 'payment', 2, p.created_at, p.amount, p.currency
  FROM payments p WHERE p.id = $1::text
  UNION ALL
  SELECT k.scope, k.key, k.order_id, p.id, 'key', 3, coalesce(p.created_at, k.created_at), p.amount, p.currency
  FROM idempotency_keys k LEFT JOIN payments p ON p.scope = k.scope AND p.key = k.key WHERE k.key = $1::text
  UNION ALL
  SELECT p.scope, p.key, p.order_id, p.id, 'key', 3, p.created_at, p.amount, p.currency
  FROM payments p
  WHERE p.key = $1::text AND NOT EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.scope = p.scope AND k.key = p.key)
  UNION ALL
  SELECT p.scope, p.key, p.order_id, p.id, 'provider ref', 4, p.created_at, p.amount, p.currency
  FROM payments p WHERE p.provider_ref = $1::text
  UNION ALL
  SELECT k.scope, k.key, k.order_id, p.id, 'provider ref', 5, coalesce(p.created_at, k.created_at), p.amount, p.currency
  FROM idempotency_keys k LEFT JOIN payments p ON p.scope = k.scope AND p.key = k.key
  WHERE k.provider_ref = $1::text AND p.provider_ref IS DISTINCT FROM k.provider_ref
  UNION ALL
  SELECT c.scope, c.key, p.order_id, p.id, 'provider ref of a call', 5, coalesce(p.created_at, c.at), p.amount, p.currency
  FROM provider_calls c LEFT JOIN payments p ON p.scope = c.scope AND p.key = c.key
  WHERE c.provider_ref = $1::text AND p.provider_ref IS DISTINCT FROM c.provider_ref
  UNION ALL
  SELECT p.scope, p.key, p.order_id, p.id, 'customer', 6, p.created_at, p.amount, p.currency
  FROM (
    SELECT c.scope, c.key, c.order_id, c.id, c.created_at, c.amount, c.currency
    FROM payments c WHERE c.customer_id = $1::text ORDER BY c.created_at DESC, c.id LIMIT $2::bigint
  ) p
  UNION ALL
  SELECT k.scope, k.key, k.order_id, NULL, 'order', 7, k.created_at, NULL, NULL
  FROM idempotency_keys k
  WHERE k.order_id = $1::text AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.scope = k.scope AND p.key = k.key)
)
SELECT h.scope, h.key, h.order_id, h.payment_id, h.why, h.amount, h.currency, h.created_at AS at
FROM hits h
ORDER BY h.nth, h.created_at DESC, h.scope, h.key, h.payment_id
LIMIT $2::bigint
