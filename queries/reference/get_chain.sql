-- The action log whole, as its hash chain is over it: every column, in the order of the numbers.
-- $1 bigint: the number to go on after. $2 bigint: how many at most. Since: 1.
-- `data` is text in the very writing that unstuck.log_text hashes. The hashes come as they are stored:
-- whether they are right is computed where they are read, not here.
SELECT
  l.id,
  l.at,
  l.entry,
  l.action,
  l.scope,
  l.key,
  l.operator,
  l.session_role AS "session_user",
  l.application,
  l.environment,
  l.plan_hash,
  l.reason,
  l.ticket,
  l.result,
  l.detail,
  l.intent_id,
  l.evidence_id,
  l.data::text AS data,
  encode(l.prev_hash, 'hex') AS prev_hash,
  encode(l.hash, 'hex') AS hash
FROM unstuck.action_log l
WHERE l.id > $1::bigint
ORDER BY l.id
LIMIT $2::bigint
