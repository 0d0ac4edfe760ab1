-- Payments that are not final (unknown, pending, created), oldest first, with their record.
-- $1 bigint: how many at most. Since: 1.
-- One row per payment. A payment whose record is gone has status `lost` and no lease: somebody removed a key.
-- version covers the record and every payment that carries its key, in order of id: what an action is checked against.
-- For a database without schema `unstuck`: the owner of a hand-over is not known there.
WITH open_payments AS (
  SELECT p.id, p.order_id, p.scope, p.key, p.status, p.provider, p.provider_ref, p.amount, p.currency, p.created_at, p.updated_at
  FROM payments p
  WHERE p.status IN ('created', 'pending', 'unknown')
  ORDER BY p.created_at, p.scope, p.key, p.id
  LIMIT $1::bigint
)
SELECT
  pay.scope,
  pay.key,
  coalesce(k.order_id, pay.order_id) AS order_id,
  pay.id AS payment_id,
  coalesce(k.status, 'lost') AS status,
  pay.status AS payment_status,
  k.recovery_point,
  k.locked_until AS lease_until,
  k.locked_by AS lease_holder,
  k.attempt::bigint AS attempt,
  coalesce(k.provider, pay.provider) AS provider,
  coalesce(k.provider_ref, pay.provider_ref) AS provider_ref,
  pay.amount,
  pay.currency,
  least(k.created_at, same.first_at, asked.first_at, called.first_at, taken.first_at) AS first_key_use,
  pay.created_at,
  greatest(k.updated_at, same.changed_at) AS changed_at,
  NULL::text AS owner,
  encode(sha256(convert_to(coalesce(k::text, '') || '|' || coalesce(same.row_text, ''), 'UTF8')), 'hex') AS version
FROM open_payments pay
LEFT JOIN idempotency_keys k ON k.scope = pay.scope AND k.key = pay.key
LEFT JOIN LATERAL (
  SELECT string_agg(p::text, '|' ORDER BY p.id) AS row_text, min(p.created_at) AS first_at, max(p.updated_at) AS changed_at
  FROM payments p
  WHERE p.scope = pay.scope AND p.key = pay.key
) same ON true
LEFT JOIN LATERAL (
  SELECT min(r.at) AS first_at FROM api_requests r WHERE r.scope = pay.scope AND r.key = pay.key
) asked ON true
LEFT JOIN LATERAL (
  SELECT min(c.at) AS first_at, max(c.at) FILTER (WHERE c.purpose = 'charge') AS last_at
  FROM provider_calls c
  WHERE c.scope = pay.scope AND c.key = pay.key
) called ON true
LEFT JOIN LATERAL (
  SELECT min(a.started_at) AS first_at, max(a.started_at) FILTER (WHERE NOT starts_with(a.worker, 'operator:')) AS last_at
  FROM payment_attempts a
  WHERE a.scope = pay.scope AND a.key = pay.key
) taken ON true
ORDER BY pay.created_at, pay.scope, pay.key, pay.id
LIMIT $1::bigint
