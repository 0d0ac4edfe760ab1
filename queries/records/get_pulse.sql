-- How bad it is and since when: the stuck records, the oldest transaction, and the database's clock.
-- $1 bigint: seconds past the lease before it counts; $2 bigint: outbox limit, not used: there is none. Since: 1.
-- No row for unknown, pending, outbox, webhooks and handed over: they are not known, which is not the same as nothing.
-- xmin: see the reference profile. Its row is missing when sessions of other roles are hidden and none we see is in a transaction.
WITH running AS (
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
SELECT 'stuck' AS signal, NULL::text AS currency, count(*) AS count, NULL::bigint AS amount, min(k.created_at) AS oldest, now() AS db_now
FROM idempotency_records k
WHERE k.status IN ('STARTED', 'FAILED')
    AND CASE k.status WHEN 'STARTED' THEN k.locked_at + interval '60 seconds' ELSE k.locked_at END < now() - interval '1 second' * $1::bigint AND $2::bigint IS NOT NULL
UNION ALL
SELECT 'xmin', NULL, CASE WHEN r.started IS NULL THEN 0 ELSE 1 END::bigint, NULL, r.started, now()
FROM running r
WHERE r.started IS NOT NULL OR r.hidden = 0
ORDER BY signal
LIMIT 10
