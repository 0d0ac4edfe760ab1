-- Who causes 409 and 422: by scope, route and key, most first.
-- $1 timestamptz: answers since then; $2 bigint: how many at most. Since: 1.
SELECT
  r.scope,
  r.route,
  r.key,
  count(*) FILTER (WHERE r.status = 409) AS conflicts,
  count(*) FILTER (WHERE r.status = 422) AS mismatches,
  max(r.at) AS last_at
FROM api_requests r
WHERE r.at >= $1::timestamptz AND r.status IN (409, 422) AND NOT r.replayed
GROUP BY r.scope, r.route, r.key
ORDER BY count(*) DESC, r.scope, r.route, r.key
LIMIT $2::bigint
