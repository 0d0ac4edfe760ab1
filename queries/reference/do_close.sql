-- Closes an intent that has not ended, so that a late change for it does nothing.
-- $1 jsonb: the order. Since: 1. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_close($1::jsonb) AS d
