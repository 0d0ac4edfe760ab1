-- id: I1
-- sentence: At most one succeeded payment per order.
-- severity: critical
-- cadence: 10s
-- next: Open triage for the order: find out which charge is the double, then refund that one at the provider.
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- The payment named is the latest of them: the one most likely not to be wanted.
WITH touched AS (
  SELECT DISTINCT p.order_id
  FROM payments p
  WHERE p.status = 'succeeded' AND p.updated_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND p.updated_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
)
SELECT
  last.scope,
  last.key,
  last.order_id,
  last.id AS payment_id,
  last.provider_ref AS ref,
  last.amount,
  last.currency,
  last.updated_at AS at,
  all_of.n::text || ' succeeded payments: ' || all_of.ids AS detail
FROM touched t
JOIN LATERAL (
  SELECT count(*) AS n, string_agg(p.id, ', ' ORDER BY p.created_at, p.id) AS ids
  FROM payments p
  WHERE p.order_id = t.order_id AND p.status = 'succeeded'
) all_of ON all_of.n > 1
JOIN LATERAL (
  SELECT p.scope, p.key, p.order_id, p.id, p.provider_ref, p.amount, p.currency, p.updated_at
  FROM payments p
  WHERE p.order_id = t.order_id AND p.status = 'succeeded'
  ORDER BY p.created_at DESC, p.id DESC
  LIMIT 1
) last ON true
ORDER BY last.updated_at DESC, last.order_id
LIMIT 200
