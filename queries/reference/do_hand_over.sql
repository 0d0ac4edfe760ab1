-- Puts a record on the list of what was handed over and not claimed.
-- $1 jsonb: the order. Since: 1. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_hand_over($1::jsonb) AS d
