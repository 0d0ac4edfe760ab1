-- A second person's answer to a request for approval: approved, with a look-up of their own, or refused.
-- $1 jsonb: the order. Since: 2. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_decide($1::jsonb) AS d
