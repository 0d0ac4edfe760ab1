-- Whose key became two keys at the provider, which then cannot tell that it is one charge.
-- $1 timestamptz: since; $2 bigint: how many at most. Since: 4.
-- A call that was declined took nothing.
-- What our books show: who may have paid twice. Whether a charge stands, only the provider knows.
WITH pairs AS (
  SELECT DISTINCT ON (n.scope, n.key) n.scope, n.key, n.at, 'sent as ' || f.provider_key || ' and as ' || n.provider_key AS what
  FROM provider_calls n
  JOIN provider_calls f ON f.scope = n.scope AND f.key = n.key AND f.purpose = 'charge' AND (f.at, f.id) < (n.at, n.id)
  WHERE n.purpose = 'charge' AND n.at >= $1::timestamptz AND n.outcome IS DISTINCT FROM 'declined' AND f.outcome IS DISTINCT FROM 'declined'
    AND f.provider_key <> n.provider_key
  ORDER BY n.scope, n.key, n.at DESC, n.id DESC, f.at DESC, f.id DESC
)
SELECT c.scope, c.key, pay.order_id, pay.provider_ref AS ref, c.at, pay.amount, pay.currency, c.what
FROM pairs c
LEFT JOIN LATERAL (
  SELECT p.order_id, p.provider_ref, p.amount, p.currency
  FROM payments p
  WHERE p.scope = c.scope AND p.key = c.key
  ORDER BY p.created_at DESC, p.id
  LIMIT 1
) pay ON true
ORDER BY c.at DESC, c.scope, c.key
LIMIT $2::bigint
