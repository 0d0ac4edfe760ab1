-- Gives a record back to the service's own recoverer, which may charge with the same provider key. read_back: resume_id, not_after.
-- $1 jsonb: the order. Since: 2. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_hand_back($1::jsonb) AS d
