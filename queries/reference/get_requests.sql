-- Records handed back to the service's recoverer, of the last day, newest first, and what became of each.
-- $1 bigint: how many at most. Since: 2.
-- state: waiting, unanswered (nobody took it in time), taken, finished, refused, withdrawn, expired (past not_after without an end).
SELECT q.id, q.at, q.scope, q.key, q.order_id, q.amount, q.currency, q.attempt, q.version, q.plan_hash, q.approval, q.operator, q.reason, q.ticket,
  q.not_after,
  CASE
    WHEN ended.event IS NOT NULL THEN ended.event
    WHEN q.not_after < now() THEN 'expired'
    WHEN taken.event IS NOT NULL THEN 'taken'
    WHEN q.at + interval '1 second' * l.resume_answer_s < now() THEN 'unanswered'
    ELSE 'waiting'
  END AS state,
  coalesce(ended.at, CASE WHEN q.not_after < now() THEN q.not_after END, taken.at, q.at) AS state_at,
  coalesce(ended.worker, taken.worker) AS worker,
  ended.detail
FROM unstuck.resume_request q
JOIN unstuck.limits l ON l.one
LEFT JOIN unstuck.resume_event taken ON taken.request = q.id AND taken.event = 'taken'
LEFT JOIN unstuck.resume_event ended ON ended.request = q.id AND ended.event <> 'taken'
WHERE q.at > now() - interval '1 day'
ORDER BY q.id DESC
LIMIT $1::bigint
