-- The id to start the tail of requests from, so that the first read is bounded.
-- $1 bigint: how many minutes back. Since: 1. Always one row; with no request in that time, the newest id (or 0).
-- Sorted by time, not by id: the index on `at` answers it; by id it would walk the whole history.
SELECT coalesce(
  (SELECT r.id - 1 FROM api_requests r WHERE r.at >= now() - interval '1 minute' * $1::bigint ORDER BY r.at, r.id LIMIT 1),
  (SELECT n.id FROM api_requests n ORDER BY n.id DESC LIMIT 1),
  0
)::bigint AS start_id
ORDER BY start_id
LIMIT 1
