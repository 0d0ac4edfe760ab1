-- The action log, newest first.
-- $1 bigint: how many at most. Since: 1.
SELECT
  l.id,
  l.at,
  l.entry,
  l.action,
  l.scope,
  l.key,
  l.operator,
  l.session_role AS "session_user",
  l.environment,
  l.plan_hash,
  l.reason,
  l.ticket,
  l.result,
  l.detail,
  l.intent_id
FROM unstuck.action_log l
ORDER BY l.id DESC
LIMIT $1::bigint
