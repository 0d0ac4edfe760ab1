-- What was changed around the start: deploys, configuration, sweeper and recoverer runs, operators' actions; newest first.
-- $1 timestamptz: changes since then; $2 bigint: how many at most. Since: 1.
-- For a database without schema `unstuck`: operators' actions are not known there.
WITH seen AS (
  (SELECT e.at, e.kind, e.what, e.who, e.id
  FROM service_events e
  WHERE e.at >= $1::timestamptz
  ORDER BY e.at DESC, e.id DESC
  LIMIT $2::bigint)
)
SELECT s.at, s.kind, s.what, s.who
FROM seen s
ORDER BY s.at DESC, s.kind, s.id DESC
LIMIT $2::bigint
