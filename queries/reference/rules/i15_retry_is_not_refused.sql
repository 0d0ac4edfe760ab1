-- id: I15
-- sentence: No retry with the order, amount and currency of its key's first use is refused as another request.
-- severity: caution
-- cadence: 10s
-- next: Compare what the fingerprint covers: time, header or order of fields. Until then clients make new keys and may pay twice.
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
SELECT
  r.scope,
  r.key,
  p.order_id,
  p.id AS payment_id,
  p.provider_ref AS ref,
  p.amount,
  p.currency,
  max(r.at) AS at,
  count(*)::text || ' refused with 422, last by ' || coalesce(max(r.pod), 'an unknown pod') AS detail
FROM api_requests r
JOIN payments p ON p.scope = r.scope AND p.key = r.key AND p.order_id = r.order_id AND p.amount = r.amount AND upper(p.currency) = upper(r.currency)
WHERE r.status = 422 AND NOT r.replayed
    AND r.at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND r.at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
GROUP BY r.scope, r.key, p.order_id, p.id, p.provider_ref, p.amount, p.currency
ORDER BY max(r.at) DESC, r.scope, r.key, p.id
LIMIT 200
