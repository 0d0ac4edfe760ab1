-- On whose charge two workers were at once: a second charge call began while the first one still waited.
-- $1 timestamptz: since; $2 bigint: how many at most. Since: 4.
-- A call that was declined took nothing.
-- What our books show: who may have paid twice. Whether a charge stands, only the provider knows.
WITH pairs AS (
  SELECT DISTINCT ON (n.scope, n.key) n.scope, n.key, n.at, concat_ws(' ', 'two charge calls at once, by', coalesce(f.pod, 'an unknown pod'), 'and', coalesce(n.pod, 'an unknown pod')) AS what
  FROM provider_calls n
  JOIN provider_calls f ON f.scope = n.scope AND f.key = n.key AND f.purpose = 'charge' AND (f.at, f.id) < (n.at, n.id)
  WHERE n.purpose = 'charge' AND n.at >= $1::timestamptz AND n.outcome IS DISTINCT FROM 'declined' AND f.outcome IS DISTINCT FROM 'declined'
    AND n.at < coalesce(f.finished_at, f.at + interval '1 millisecond' * f.timeout_ms)
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
