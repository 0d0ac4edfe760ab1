-- id: I6
-- sentence: No transition leaves a final state or skips an edge.
-- severity: critical
-- cadence: 10s
-- next: Open the payment's timeline: the actor named wrote a state it may not. A payment that left a final state must be checked at the provider.
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- Edges: (new) to created, created to pending, pending to succeeded, failed or unknown, unknown to succeeded or failed.
SELECT
  p.scope,
  p.key,
  p.order_id,
  t.payment_id,
  p.provider_ref AS ref,
  p.amount,
  p.currency,
  t.at,
  concat_ws(' ', coalesce(t.from_status, '(new)'), 'to', t.to_status, 'by', t.actor,
    CASE WHEN before.to_status IS DISTINCT FROM t.from_status AND before.to_status IS NOT NULL THEN 'though it was ' || before.to_status END) AS detail
FROM payment_transitions t
LEFT JOIN LATERAL (
  SELECT b.to_status
  FROM payment_transitions b
  WHERE b.payment_id = t.payment_id AND b.id < t.id
  ORDER BY b.id DESC
  LIMIT 1
) before ON true
LEFT JOIN payments p ON p.id = t.payment_id
WHERE t.at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND t.at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  AND (
    NOT EXISTS (
      SELECT 1
      FROM (VALUES ('', 'created'), ('created', 'pending'), ('pending', 'succeeded'), ('pending', 'failed'), ('pending', 'unknown'), ('unknown', 'succeeded'), ('unknown', 'failed')) AS edge(from_status, to_status)
      WHERE edge.from_status = coalesce(t.from_status, '') AND edge.to_status = t.to_status
    )
    OR (before.to_status IS NOT NULL AND before.to_status IS DISTINCT FROM t.from_status)
  )
ORDER BY t.at DESC, t.id DESC
LIMIT 200
