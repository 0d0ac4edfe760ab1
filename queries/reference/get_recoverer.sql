-- What the service's recoverer did last and when it runs next.
-- No parameters. Since: 1. Always one row; NULL = it has left no trace, which is not the same as "it does not run".
SELECT last.at AS last_at, last.what AS last_what, last.next_at
FROM (VALUES (1)) AS one(n)
LEFT JOIN LATERAL (
  SELECT e.at, e.what, e.next_at
  FROM service_events e
  WHERE e.kind = 'recoverer'
  ORDER BY e.at DESC, e.id DESC
  LIMIT 1
) last ON one.n = 1
ORDER BY one.n
LIMIT 1
