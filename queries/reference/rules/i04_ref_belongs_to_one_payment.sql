-- id: I4
-- sentence: A provider ref belongs to one payment.
-- severity: critical
-- cadence: 10s
-- next: Open both payments: one charge was counted twice. Do not adopt it again; hand over.
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
WITH touched AS (
  SELECT DISTINCT p.provider, p.provider_ref
  FROM payments p
  WHERE p.provider_ref IS NOT NULL AND p.updated_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND p.updated_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
),
shared AS (
  SELECT p.provider, p.provider_ref, count(*) AS n, string_agg(p.id, ', ' ORDER BY p.created_at, p.id) AS ids, max(p.id) AS any_id
  FROM touched t
  JOIN payments p ON p.provider_ref = t.provider_ref AND p.provider = t.provider
  GROUP BY p.provider, p.provider_ref
  HAVING count(*) > 1
)
SELECT
  p.scope,
  p.key,
  p.order_id,
  p.id AS payment_id,
  s.provider_ref AS ref,
  p.amount,
  p.currency,
  p.updated_at AS at,
  s.n::text || ' payments carry it: ' || s.ids AS detail
FROM shared s
JOIN payments p ON p.id = s.any_id
ORDER BY p.updated_at DESC, s.provider, s.provider_ref
LIMIT 200
