-- Writes a note beside a record; with an owner it is a claim.
-- $1 jsonb: the order. Since: 1. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_note($1::jsonb) AS d
