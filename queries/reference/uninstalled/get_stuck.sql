-- Records still `processing` whose lease ended more than $1 seconds ago, oldest first, with their payment.
-- $1 bigint: seconds past the end of the lease; $2 bigint: how many at most. Since: 1.
-- version covers the record and every payment that carries its key, in order of id: what an action is checked against.
-- The page is cut on the record alone, so that the joins are paid for what is shown.
-- For a database without schema `unstuck`: the owner of a hand-over is not known there.
WITH page AS (
  SELECT k.scope, k.key, k.order_id, k.status, k.recovery_point, k.locked_until, k.locked_by, k.attempt, k.provider,
    k.provider_ref, k.created_at, k.updated_at, k::text AS row_text
  FROM idempotency_keys k
  WHERE k.status = 'processing' AND k.locked_until < now() - interval '1 second' * $1::bigint
  ORDER BY k.created_at, k.scope, k.key
  LIMIT $2::bigint
)
SELECT
  page.scope,
  page.key,
  coalesce(page.order_id, pay.order_id) AS order_id,
  pay.id AS payment_id,
  page.status,
  pay.status AS payment_status,
  page.recovery_point,
  page.locked_until AS lease_until,
  page.locked_by AS lease_holder,
  page.attempt::bigint AS attempt,
  coalesce(page.provider, pay.provider) AS provider,
  coalesce(page.provider_ref, pay.provider_ref) AS provider_ref,
  pay.amount,
  pay.currency,
  least(page.created_at, same.first_at, asked.first_at, called.first_at, taken.first_at) AS first_key_use,
  page.created_at,
  greatest(page.updated_at, same.changed_at) AS changed_at,
  NULL::text AS owner,
  encode(sha256(convert_to(page.row_text || '|' || coalesce(same.row_text, ''), 'UTF8')), 'hex') AS version
FROM page
LEFT JOIN LATERAL (
  SELECT string_agg(p::text, '|' ORDER BY p.id) AS row_text, min(p.created_at) AS first_at, max(p.updated_at) AS changed_at
  FROM payments p
  WHERE p.scope = page.scope AND p.key = page.key
) same ON true
LEFT JOIN LATERAL (
  SELECT p.id, p.order_id, p.status, p.provider, p.provider_ref, p.amount, p.currency
  FROM payments p
  WHERE p.scope = page.scope AND p.key = page.key
  ORDER BY CASE p.status WHEN 'unknown' THEN 0 WHEN 'pending' THEN 1 WHEN 'created' THEN 2 WHEN 'succeeded' THEN 3 ELSE 4 END,
    p.created_at DESC, p.id
  LIMIT 1
) pay ON true
LEFT JOIN LATERAL (
  SELECT min(r.at) AS first_at FROM api_requests r WHERE r.scope = page.scope AND r.key = page.key
) asked ON true
LEFT JOIN LATERAL (
  SELECT min(c.at) AS first_at, max(c.at) FILTER (WHERE c.purpose = 'charge') AS last_at
  FROM provider_calls c
  WHERE c.scope = page.scope AND c.key = page.key
) called ON true
LEFT JOIN LATERAL (
  SELECT min(a.started_at) AS first_at, max(a.started_at) FILTER (WHERE NOT starts_with(a.worker, 'operator:')) AS last_at
  FROM payment_attempts a
  WHERE a.scope = page.scope AND a.key = page.key
) taken ON true
ORDER BY page.created_at, page.scope, page.key
LIMIT $2::bigint
