-- id: I2
-- sentence: A done record has a response code and a body.
-- severity: critical
-- cadence: 10s
-- next: Do not replay it: a client would get an empty answer. Find out what the operation did and hand over to the service's team.
-- $1 timestamptz: only what was taken since (less an hour: when it was resolved is not kept); NULL: everything. $2 jsonb: policy. Since: 1.
-- Its partial index holds only the breaches, so the full audit costs as little as the last seconds.
SELECT
  k.user_id::text AS scope,
  k.key::text AS key,
  NULL::text AS order_id,
  NULL::text AS payment_id,
  NULL::text AS ref,
  NULL::bigint AS amount,
  NULL::text AS currency,
  k.locked_at AS at,
  CASE
    WHEN k.response_code IS NULL AND k.response_body IS NULL THEN 'no response code and no body'
    WHEN k.response_code IS NULL THEN 'no response code'
    ELSE 'response code ' || k.response_code::text || ' without a body'
  END AS detail
FROM idempotency_records k
WHERE k.status = 'RESOLVED' AND (k.response_code IS NULL OR k.response_body IS NULL OR k.response_body = 'null'::jsonb)
  AND k.locked_at > coalesce($1::timestamptz - interval '1 hour', '-infinity'::timestamptz)
  AND k.locked_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
ORDER BY k.locked_at DESC, scope, k.key
LIMIT 200
