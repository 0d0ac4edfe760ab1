-- What providers answered about one record, newest first.
-- $1 text: scope; $2 text: key; $3 bigint: how many at most. Since: 1.
SELECT e.id, e.at, e.operator, e.provider, e.started_at, e.outcome, e.definitive, e.why, e.observed, e.steps
FROM unstuck.evidence e
WHERE e.scope = $1::text AND e.key = $2::text
ORDER BY e.id DESC
LIMIT $3::bigint
