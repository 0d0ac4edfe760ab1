-- Requests for approval that wait, and those of the last day, newest first, each with the asker's plan whole.
-- $1 bigint: how many at most. Since: 2.
-- state: waiting, approved (may be acted on until act_until), refused, withdrawn, expired (nobody answered), lapsed (approved, not acted on), used.
SELECT r.id, r.at, r.action, r.scope, r.key, r.order_id, r.amount, r.currency, r.operator, r.session_role AS "session_user", r.reason, r.ticket,
  r.plan_hash, r.version, r.attempt, r.evidence_id, r.expires_at,
  CASE
    WHEN u.request IS NOT NULL THEN 'used'
    WHEN d.verdict IN ('refused', 'withdrawn') THEN d.verdict
    WHEN d.verdict = 'approved' AND d.at + interval '1 second' * l.act_window_s >= now() THEN 'approved'
    WHEN d.verdict = 'approved' THEN 'lapsed'
    WHEN r.expires_at < now() THEN 'expired'
    ELSE 'waiting'
  END AS state,
  d.operator AS decided_by,
  d.session_role AS decided_session,
  d.at AS decided_at,
  d.reason AS decided_reason,
  CASE WHEN d.verdict = 'approved' THEN d.at + interval '1 second' * l.act_window_s END AS act_until,
  CASE WHEN r.action = 'adopt' THEN r.at + interval '1 second' * l.break_glass_after_s END AS break_glass_from,
  r.plan
FROM unstuck.approval_request r
JOIN unstuck.limits l ON l.one
LEFT JOIN unstuck.approval_decision d ON d.request = r.id
LEFT JOIN unstuck.approval_use u ON u.request = r.id
WHERE r.at > now() - interval '1 day'
ORDER BY r.id DESC
LIMIT $1::bigint
