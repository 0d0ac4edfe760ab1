-- The payments of an amount within a time: for a customer who knows no more than what was taken, and when.
-- $1 jsonb: the amounts that may be meant, [{"minor": 12840, "currency": "EUR"}], any currency when none is named;
-- $2 timestamptz: from; $3 timestamptz: to, not included; $4 bigint: how many at most, the latest. Since: 4.
-- It names purchases of anybody: a person chooses.
SELECT p.scope, p.key, p.order_id, p.id AS payment_id, 'amount and day' AS why, p.amount, p.currency, p.created_at AS at
FROM payments p
WHERE p.created_at >= $2::timestamptz AND p.created_at < $3::timestamptz
  AND p.amount IN (SELECT (m.asked ->> 'minor')::bigint FROM jsonb_array_elements($1::jsonb) AS m (asked))
  AND EXISTS (
    SELECT 1
    FROM jsonb_array_elements($1::jsonb) AS a (asked)
    WHERE (a.asked ->> 'minor')::bigint = p.amount AND upper(p.currency) = coalesce(a.asked ->> 'currency', upper(p.currency))
  )
ORDER BY p.created_at DESC, p.id
LIMIT $4::bigint
