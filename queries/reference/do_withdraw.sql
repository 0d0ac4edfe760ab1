-- Takes back a request for approval nobody answered, or a hand back nobody took up.
-- $1 jsonb: the order. Since: 2. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_withdraw($1::jsonb) AS d
