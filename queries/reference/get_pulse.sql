-- How bad it is and since when: one row per signal and currency, and the database's clock.
-- $1 bigint: seconds past the lease (or the creation of a payment, or the receipt of a webhook) before it counts; $2 bigint: outbox limit in seconds. Since: 1.
-- A signal with nothing has one row with count 0 and no currency; a missing row means not known, never nothing.
-- A sum that would not fit stays at its limit, absurd to the eye: one odd row must not hide all the others.
-- webhooks counts events, not deliveries: a second delivery of one event is not a second thing to do, and a forged one hides none.
-- xmin: the oldest other transaction of this database. Its row is missing when sessions of other roles are hidden from us
-- (grant pg_read_all_stats to see them) and none of those we see is in a transaction.
WITH stuck AS (
  SELECT k.scope, k.key, k.created_at AS at
  FROM idempotency_keys k
  WHERE k.status = 'processing' AND k.locked_until < now() - interval '1 second' * $1::bigint
),
handed AS (
  SELECT n.scope, n.key, n.at
  FROM (
    SELECT m.scope, m.key, m.at, m.kind, row_number() OVER (PARTITION BY m.scope, m.key ORDER BY m.id DESC) AS nth
    FROM unstuck.note m
    WHERE m.kind IN ('hand over', 'claim')
  ) n
  JOIN idempotency_keys k ON k.scope = n.scope AND k.key = n.key AND k.status = 'processing'
  WHERE n.nth = 1 AND n.kind = 'hand over'
),
seen AS (
  SELECT 'stuck' AS signal, pay.currency, pay.amount, s.at
  FROM stuck s
  LEFT JOIN LATERAL (
    SELECT p.currency, p.amount
    FROM payments p
    WHERE p.scope = s.scope AND p.key = s.key
    ORDER BY CASE p.status WHEN 'unknown' THEN 0 WHEN 'pending' THEN 1 WHEN 'created' THEN 2 WHEN 'succeeded' THEN 3 ELSE 4 END,
      p.created_at DESC, p.id
    LIMIT 1
  ) pay ON true
  UNION ALL
  SELECT 'unknown', p.currency, p.amount, p.created_at
  FROM payments p
  WHERE p.status = 'unknown'
  UNION ALL
  SELECT 'pending', p.currency, p.amount, p.created_at
  FROM payments p
  WHERE p.status IN ('created', 'pending') AND p.created_at < now() - interval '1 second' * $1::bigint
  UNION ALL
  SELECT 'outbox', p.currency, p.amount, b.created_at
  FROM outbox b
  LEFT JOIN payments p ON p.id = b.payment_id
  WHERE b.published_at IS NULL AND b.created_at < now() - interval '1 second' * $2::bigint
  UNION ALL
  SELECT 'webhooks', NULL, NULL, w.received_at
  FROM webhook_events w
  WHERE w.applied_at IS NULL AND w.signature_ok AND w.received_at < now() - interval '1 second' * $1::bigint
    AND NOT EXISTS (
      SELECT 1 FROM webhook_events d WHERE d.event_id = w.event_id AND d.provider = w.provider AND d.id <> w.id AND d.signature_ok
        AND (d.applied_at IS NOT NULL OR d.id < w.id)
    )
  UNION ALL
  SELECT 'handed_over', pay.currency, pay.amount, h.at
  FROM handed h
  LEFT JOIN LATERAL (
    SELECT p.currency, p.amount
    FROM payments p
    WHERE p.scope = h.scope AND p.key = h.key
    ORDER BY CASE p.status WHEN 'unknown' THEN 0 WHEN 'pending' THEN 1 WHEN 'created' THEN 2 WHEN 'succeeded' THEN 3 ELSE 4 END,
      p.created_at DESC, p.id
    LIMIT 1
  ) pay ON true
),
running AS (
  SELECT
    min(t.started) AS started,
    count(*) FILTER (WHERE t.hidden) AS hidden
  FROM (
    SELECT a.xact_start AS started, (a.state IS NULL AND a.backend_type = 'client backend') AS hidden
    FROM pg_catalog.pg_stat_activity a
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
      AND coalesce(a.backend_type, 'client backend') IN ('client backend', 'autovacuum worker', 'parallel worker')
    UNION ALL
    SELECT x.prepared, false
    FROM pg_catalog.pg_prepared_xacts x
    WHERE x.database = current_database()
  ) t
)
SELECT names.signal, g.currency, coalesce(g.n, 0) AS count, g.amount, g.oldest, now() AS db_now
FROM (VALUES ('stuck'), ('unknown'), ('pending'), ('outbox'), ('webhooks'), ('handed_over')) AS names(signal)
LEFT JOIN (
  SELECT s.signal, s.currency, count(*) AS n, 
    greatest(least(sum(s.amount), 9223372036854775807), -9223372036854775807)::bigint AS amount, min(s.at) AS oldest
  FROM seen s
  GROUP BY s.signal, s.currency
) g ON g.signal = names.signal
UNION ALL
SELECT 'xmin', NULL, CASE WHEN r.started IS NULL THEN 0 ELSE 1 END::bigint, NULL, r.started, now()
FROM running r
WHERE r.started IS NOT NULL OR r.hidden = 0
ORDER BY signal, currency NULLS FIRST
LIMIT 200
