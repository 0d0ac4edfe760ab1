-- Answers per minute since a watermark, and the watermark to pass next time.
-- $1 bigint: last id already counted; $2 bigint: how many ids at most. Since: 1. No row when there is nothing new.
-- Ids are handed out before they are committed, so a lower id may still appear. Rows are therefore taken in order of id only up to
-- the first one younger than the horizon: two seconds ago, or the start of the oldest transaction that is writing, but never more
-- than thirty seconds ago (one long batch must not freeze the panel). The rest is read by a later poll; nothing is counted twice.
-- A row dated in the future (a pod's clock) does not hold the others up.
WITH horizon AS (
  SELECT greatest(now() - interval '30 seconds', least(now() - interval '2 seconds', min(a.xact_start))) AS at
  FROM pg_catalog.pg_stat_activity a
  WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_xid IS NOT NULL
),
batch AS (
  SELECT r.id, r.at, r.status, r.replayed
  FROM api_requests r
  WHERE r.id > $1::bigint
  ORDER BY r.id
  LIMIT $2::bigint
),
edge AS (
  SELECT min(b.id) AS id
  FROM batch b, horizon h
  WHERE b.at > h.at AND b.at <= now()
),
settled AS (
  SELECT b.id, b.at, b.status, b.replayed
  FROM batch b, edge e
  WHERE e.id IS NULL OR b.id < e.id
)
SELECT
  date_trunc('minute', s.at) AS minute,
  count(*) AS requests,
  count(*) FILTER (WHERE NOT s.replayed AND s.status BETWEEN 200 AND 299) AS ok,
  count(*) FILTER (WHERE NOT s.replayed AND s.status = 409) AS conflict,
  count(*) FILTER (WHERE NOT s.replayed AND s.status = 422) AS mismatch,
  count(*) FILTER (WHERE s.replayed) AS replayed,
  count(*) FILTER (WHERE NOT s.replayed AND s.status = 503) AS unavailable,
  count(*) FILTER (WHERE NOT s.replayed AND s.status >= 500 AND s.status <> 503) AS failed,
  (SELECT max(m.id) FROM settled m) AS next_id
FROM settled s
GROUP BY date_trunc('minute', s.at)
ORDER BY minute
LIMIT 1000
