-- id: I5
-- sentence: No payment within the key's retention has lost its record: somebody removed a key.
-- severity: critical
-- cadence: 10s
-- next: Stop whatever removes keys. Until then every retry of these clients may charge again; look each payment up at the provider.
-- needs: retention_s
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- A removed record leaves no mark on its payment, so payments that are not final are asked about every time, old or new; that a
-- final payment lost its record later is found by the full audit. A record that was made again, with a payment of its own, is not
-- the one that was lost.
WITH touched AS (
  SELECT p.id
  FROM payments p
  WHERE p.updated_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND p.updated_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  UNION
  SELECT p.id
  FROM payments p
  WHERE p.status IN ('created', 'pending', 'unknown')
)
SELECT
  p.scope,
  p.key,
  p.order_id,
  p.id AS payment_id,
  p.provider_ref AS ref,
  p.amount,
  p.currency,
  p.updated_at AS at,
  'payment is ' || p.status || CASE WHEN again.at IS NULL THEN ', its record is gone'
    ELSE ', its record was removed; a retry made another payment ' || round(extract(epoch FROM again.at - p.created_at))::text || ' s later' END AS detail
FROM touched t
JOIN payments p ON p.id = t.id
LEFT JOIN idempotency_keys k ON k.scope = p.scope AND k.key = p.key
LEFT JOIN LATERAL (
  SELECT min(n.created_at) AS at
  FROM payments n
  WHERE n.scope = k.scope AND n.key = k.key AND n.id <> p.id AND n.created_at >= k.created_at AND k.created_at > p.created_at
) again ON true
WHERE p.created_at > now() - interval '1 second' * ($2::jsonb ->> 'retention_s')::bigint AND p.created_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  AND (k.key IS NULL OR again.at IS NOT NULL)
ORDER BY p.updated_at DESC, p.id
LIMIT 200
