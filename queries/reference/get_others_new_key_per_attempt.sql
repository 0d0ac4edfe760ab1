-- Whose client made a new key for the same purchase: two payments of one order and amount under different keys.
-- $1 timestamptz: since; $2 bigint: how many at most. Since: 4.
-- One that was marked failed before the next is another cause; a tenant's order of the same name is another customer.
-- What our books show: who may have paid twice. Whether a charge stands, only the provider knows.
SELECT b.scope, b.key, b.order_id, b.provider_ref AS ref, b.created_at AS at, b.amount, b.currency,
  'paid as ' || earlier.id || ' with key ' || earlier.key || ', and ' || round(extract(epoch FROM b.created_at - earlier.created_at))::text ||
    ' s later as ' || b.id || ' with a new key' AS what
FROM payments b
JOIN LATERAL (
  SELECT a.id, a.key, a.created_at
  FROM payments a
  WHERE a.scope = b.scope AND a.order_id = b.order_id AND a.key <> b.key AND a.amount = b.amount AND a.currency = b.currency
    AND a.status NOT IN ('failed', 'created') AND (a.created_at, a.id) < (b.created_at, b.id)
  ORDER BY a.created_at DESC, a.id DESC
  LIMIT 1
) earlier ON true
WHERE b.created_at >= $1::timestamptz AND b.status NOT IN ('failed', 'created')
ORDER BY b.created_at DESC, b.id
LIMIT $2::bigint
