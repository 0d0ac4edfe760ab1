-- id: I10
-- sentence: Every succeeded payment has its outbox event, and none is unpublished past the limit.
-- severity: caution
-- cadence: 10s
-- next: Without an event nobody ships the order: check the relay; hand over if it runs and the event is still there.
-- needs: outbox_limit_s
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- Published events may have been pruned: successes older than the oldest event still there are not judged.
-- Every unpublished event counts, whenever it was written: waiting leaves no mark on it.
WITH silent AS (
  SELECT p.scope, p.key, p.order_id, p.id, p.provider_ref, p.amount, p.currency, p.updated_at AS at
  FROM payments p
  WHERE p.status = 'succeeded' AND p.updated_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND p.updated_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
    AND p.updated_at >= coalesce((SELECT b.created_at FROM outbox b ORDER BY b.id LIMIT 1), '-infinity'::timestamptz)
    AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.payment_id = p.id AND strpos(b.type, 'succeeded') > 0)
),
late AS (
  SELECT b.id, b.payment_id, b.type, b.created_at
  FROM outbox b
  WHERE b.published_at IS NULL AND b.created_at < now() - interval '1 second' * ($2::jsonb ->> 'outbox_limit_s')::bigint
)
SELECT
  f.scope, f.key, f.order_id, f.payment_id, f.ref, f.amount, f.currency, f.at, f.detail
FROM (
  SELECT s.scope, s.key, s.order_id, s.id AS payment_id, s.provider_ref AS ref, s.amount, s.currency, s.at, 'no outbox event for the success' AS detail
  FROM silent s
  UNION ALL
  SELECT p.scope, p.key, p.order_id, l.payment_id, p.provider_ref, p.amount, p.currency, l.created_at,
    'event ' || l.id::text || ' (' || l.type || ') was not published in ' || round(extract(epoch FROM now() - l.created_at))::text || ' s'
  FROM late l
  LEFT JOIN payments p ON p.id = l.payment_id
) f
ORDER BY f.at, f.payment_id, f.detail
LIMIT 200
