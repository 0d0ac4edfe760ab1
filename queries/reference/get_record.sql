-- One record whole, with the payment it is about and the other payments of its order.
-- $1 text: scope; $2 text: key. Since: 1.
-- version covers the record and every payment that carries its key, in order of id: what an action is checked against.
-- last_attempt_at is the last time a charge may have been sent: the latest charge call or take by anybody but an operator.
WITH page AS (
  SELECT k.scope, k.key, k.order_id, k.status, k.recovery_point, k.locked_until, k.locked_by, k.attempt, k.provider,
    k.provider_ref, k.created_at, k.updated_at, k::text AS row_text,
    k.fingerprint, k.response_code, k.provider_key
  FROM idempotency_keys k
  WHERE k.scope = $1::text AND k.key = $2::text
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
  hand.owner AS owner,
  encode(sha256(convert_to(page.row_text || '|' || coalesce(same.row_text, ''), 'UTF8')), 'hex') AS version,
  page.fingerprint,
  page.response_code,
  page.provider_key,
  greatest(page.created_at, called.last_at, taken.last_at) AS last_attempt_at,
  others.siblings,
  elsewhere.id AS ref_owner,
  coalesce(starts_with(page.locked_by, 'operator:'), false) AS holder_is_operator
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
LEFT JOIN LATERAL (
  SELECT n.owner
  FROM unstuck.note n
  WHERE n.scope = page.scope AND n.key = page.key AND n.kind IN ('hand over', 'claim')
  ORDER BY n.id DESC
  LIMIT 1
) hand ON true
LEFT JOIN LATERAL (
  SELECT coalesce(jsonb_agg(jsonb_build_object('payment_id', o.id, 'status', o.status, 'amount', o.amount, 'currency', o.currency,
    'provider_ref', o.provider_ref, 'scope', o.scope, 'key', o.key) ORDER BY o.created_at, o.id), '[]'::jsonb) AS siblings
  FROM (
    SELECT p.id, p.status, p.amount, p.currency, p.provider_ref, p.scope, p.key, p.created_at
    FROM payments p
    WHERE p.order_id = coalesce(page.order_id, pay.order_id) AND (pay.id IS NULL OR p.id <> pay.id)
    ORDER BY p.created_at, p.id
    LIMIT 20
  ) o
) others ON true
LEFT JOIN LATERAL (
  SELECT p.id
  FROM payments p
  WHERE p.provider_ref = coalesce(page.provider_ref, pay.provider_ref)
    AND p.provider = coalesce(page.provider, pay.provider)
    AND (pay.id IS NULL OR p.id <> pay.id)
  ORDER BY p.created_at, p.id
  LIMIT 1
) elsewhere ON true
ORDER BY page.scope, page.key
LIMIT 1
