-- id: I12
-- sentence: Every provider charge in the settlement has one payment of the same amount and currency.
-- severity: critical
-- cadence: 1m
-- next: Find the order by the ref at the provider: an orphan was charged and nobody's order knows; a mismatch needs a correction. Hand over.
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- A payment whose ref only its record knows yet (charged, not finished) counts as the one.
SELECT
  first_of.scope,
  first_of.key,
  first_of.order_id,
  first_of.id AS payment_id,
  s.provider_ref AS ref,
  s.amount,
  s.currency,
  s.at,
  CASE
    WHEN ours.n = 0 THEN 'orphan: no payment of ours has this charge'
    WHEN ours.n > 1 THEN ours.n::text || ' payments claim this charge'
    WHEN first_of.status = 'failed' THEN 'our payment says failed, the provider was paid'
    ELSE 'our payment says ' || first_of.amount::text || ' ' || first_of.currency || ' (minor units)'
  END || ', report ' || s.report AS detail
FROM settlement_lines s
LEFT JOIN LATERAL (
  SELECT count(DISTINCT m.id) AS n, min(m.id) AS id
  FROM (
    SELECT p.id FROM payments p WHERE p.provider_ref = s.provider_ref AND p.provider = s.provider
    UNION ALL
    SELECT p.id
    FROM idempotency_keys k
    JOIN payments p ON p.scope = k.scope AND p.key = k.key
    WHERE k.provider_ref = s.provider_ref AND k.provider = s.provider AND p.provider_ref IS NULL
  ) m
) ours ON true
LEFT JOIN payments first_of ON first_of.id = ours.id
WHERE s.type = 'charge' AND s.imported_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND s.imported_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  AND (ours.n <> 1 OR first_of.amount <> s.amount OR upper(first_of.currency) <> upper(s.currency) OR first_of.status = 'failed')
ORDER BY s.at DESC, s.id DESC
LIMIT 200
