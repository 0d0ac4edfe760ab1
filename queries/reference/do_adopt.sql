-- Finishes a record as succeeded with the charge a stored look-up found. Charges nothing.
-- $1 jsonb: the order. Since: 1. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_adopt($1::jsonb) AS d
