-- Asks a second person for approval: keeps the plan whole. read_back: request_id, expires_at.
-- $1 jsonb: the order. Since: 2. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_ask($1::jsonb) AS d
