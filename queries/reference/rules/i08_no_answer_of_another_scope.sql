-- id: I8
-- sentence: No request was answered with a record or payment of another scope.
-- severity: critical
-- cadence: 10s
-- next: One tenant saw another's answer: treat it as a data leak. The key is looked up without its scope; hand over to the service's team.
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
SELECT
  r.scope,
  r.key,
  r.order_id,
  r.answered_payment AS payment_id,
  p.provider_ref AS ref,
  coalesce(p.amount, r.amount) AS amount,
  coalesce(p.currency, r.currency) AS currency,
  r.at,
  concat_ws(' ', r.method, r.route, 'answered', r.status::text, 'from scope', coalesce(nullif(r.answered_scope, r.scope), p.scope)) AS detail
FROM api_requests r
LEFT JOIN payments p ON p.id = r.answered_payment
WHERE r.at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND r.at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  AND (r.answered_scope <> r.scope OR p.scope <> r.scope)
ORDER BY r.at DESC, r.id DESC
LIMIT 200
