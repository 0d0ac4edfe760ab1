-- Loads a settlement report: begins a load, takes its rows, finishes it and compares it with the books.
-- $1 jsonb: the order. Since: 4. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_settle($1::jsonb) AS d
