-- How one intent ended, read back after a lost connection. No row: it has not ended, or not yet.
-- $1 bigint: the intent's id in the log. Since: 1.
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
WHERE l.intent_id = $1::bigint AND l.entry = 'outcome'
ORDER BY l.id
LIMIT 1
