-- id: I3
-- sentence: Within the key's retention, a successful done record has exactly one succeeded payment, and a succeeded payment has a done record.
-- severity: critical
-- cadence: 10s
-- next: Open the record: what the client was told and what the books say differ. Look the payment up at the provider before anything else.
-- needs: retention_s
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- A record becomes done by a worker that made it or took its lease: both leave a trace in time order (creation, attempt), so the
-- last seconds need no index on the record's own updated_at. A payment whose record is gone is I5's.
WITH touched AS (
  SELECT a.scope, a.key
  FROM payment_attempts a
  WHERE $1::timestamptz IS NOT NULL AND a.started_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0) - interval '2 minutes', '-infinity'::timestamptz)
    AND a.started_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  UNION
  SELECT k.scope, k.key
  FROM idempotency_keys k
  WHERE k.created_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0) - interval '2 minutes', '-infinity'::timestamptz)
    AND k.created_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
    AND k.created_at > now() - interval '1 second' * ($2::jsonb ->> 'retention_s')::bigint
),
told AS (
  SELECT k.scope, k.key, k.order_id, k.provider_ref, k.response_code, k.updated_at, paid.n, paid.id, paid.amount, paid.currency
  FROM touched t
  JOIN idempotency_keys k ON k.scope = t.scope AND k.key = t.key
  LEFT JOIN LATERAL (
    SELECT count(*) AS n, min(p.id) AS id, min(p.amount) AS amount, min(p.currency) AS currency
    FROM payments p
    WHERE p.scope = k.scope AND p.key = k.key AND p.status = 'succeeded'
  ) paid ON true
  WHERE k.status = 'done' AND k.response_code BETWEEN 200 AND 299 AND k.updated_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
    AND k.created_at > now() - interval '1 second' * ($2::jsonb ->> 'retention_s')::bigint AND paid.n <> 1
),
paid AS (
  SELECT p.scope, p.key, p.order_id, p.id, p.provider_ref, p.amount, p.currency, p.updated_at, k.recovery_point
  FROM payments p
  JOIN idempotency_keys k ON k.scope = p.scope AND k.key = p.key
  WHERE p.status = 'succeeded' AND k.status <> 'done' AND p.created_at > now() - interval '1 second' * ($2::jsonb ->> 'retention_s')::bigint
    AND p.updated_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND p.updated_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
)
SELECT
  b.scope, b.key, b.order_id, b.payment_id, b.ref, b.amount, b.currency, b.at, b.detail
FROM (
  SELECT t.scope, t.key, t.order_id, t.id AS payment_id, t.provider_ref AS ref, t.amount, t.currency, t.updated_at AS at,
    'the client was told ' || t.response_code::text || ', the books have ' || t.n::text || ' succeeded payments' AS detail
  FROM told t
  UNION ALL
  SELECT p.scope, p.key, p.order_id, p.id, p.provider_ref, p.amount, p.currency, p.updated_at,
    'the payment succeeded, the record is still processing at ' || p.recovery_point
  FROM paid p
) b
ORDER BY b.at DESC, b.scope, b.key, b.payment_id
LIMIT 200
