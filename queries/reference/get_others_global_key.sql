-- Who was answered with another tenant's record or payment: a key was looked up without its scope.
-- $1 timestamptz: since; $2 bigint: how many at most. Since: 4.
-- Without an amount: nobody was charged by it, and somebody saw what was not theirs. One line for all requests of a key.
WITH told AS (
  SELECT DISTINCT ON (r.scope, r.key, r.answered_scope, r.answered_payment) r.scope, r.key, r.order_id, r.at, r.id, r.answered_scope, r.answered_payment
  FROM api_requests r
  WHERE r.at >= $1::timestamptz AND r.answered_scope <> r.scope
  ORDER BY r.scope, r.key, r.answered_scope, r.answered_payment, r.at DESC, r.id DESC
)
SELECT t.scope, t.key, t.order_id, NULL::text AS ref, t.at, NULL::bigint AS amount, NULL::text AS currency,
  concat_ws(' ', 'answered with', coalesce('payment ' || t.answered_payment, 'a record'), 'of scope', t.answered_scope) AS what
FROM told t
ORDER BY t.at DESC, t.id DESC
LIMIT $2::bigint
