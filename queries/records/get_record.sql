-- One record whole.
-- $1 text: scope, the user's uuid; $2 text: key. Since: 1.
-- STARTED has a lease of sixty seconds from locked_at; FAILED gave its lease up when it was last taken. What the table does not keep
-- is NULL. first_key_use is one of these: a record that was removed and made again would lie about it.
SELECT
  k.user_id::text AS scope,
  k.key::text AS key,
  NULL::text AS order_id,
  NULL::text AS payment_id,
  CASE k.status WHEN 'RESOLVED' THEN 'done' ELSE 'processing' END AS status,
  NULL::text AS payment_status,
  NULL::text AS recovery_point,
  CASE k.status WHEN 'STARTED' THEN k.locked_at + interval '60 seconds' ELSE k.locked_at END AS lease_until,
  NULL::text AS lease_holder,
  NULL::bigint AS attempt,
  NULL::text AS provider,
  NULL::text AS provider_ref,
  NULL::bigint AS amount,
  NULL::text AS currency,
  NULL::timestamptz AS first_key_use,
  k.created_at,
  greatest(k.created_at, k.locked_at) AS changed_at,
  NULL::text AS owner,
  encode(sha256(convert_to(k::text || '|', 'UTF8')), 'hex') AS version,
  k.request_hash::text AS fingerprint,
  k.response_code,
  NULL::text AS provider_key,
  k.locked_at AS last_attempt_at,
  '[]'::jsonb AS siblings,
  NULL::text AS ref_owner,
  false AS holder_is_operator
FROM idempotency_records k
WHERE k.user_id = CASE WHEN $1::text ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' THEN $1::uuid END AND k.key = $2::text
ORDER BY scope, k.key
LIMIT 1
