-- Who was answered with another tenant's record or payment: a key was looked up without its scope.
-- $1 timestamptz: since; $2 bigint: how many at most. Since: 4.
-- Without an amount: nobody was charged by it, and somebody saw what was not theirs.
SELECT r.scope, r.key, r.order_id, r.answered_payment AS ref, r.at, NULL::bigint AS amount, NULL::text AS currency,
  concat_ws(' ', 'answered with', coalesce('payment ' || r.answered_payment, 'a record'), 'of scope', r.answered_scope) AS what
FROM api_requests r
WHERE r.at >= $1::timestamptz AND r.answered_scope <> r.scope
ORDER BY r.at DESC, r.id DESC
LIMIT $2::bigint
