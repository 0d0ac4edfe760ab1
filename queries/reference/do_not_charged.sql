-- Finishes a record as failed, when nothing was charged and the provider has forgotten the key. Needs approval.
-- $1 jsonb: the order. Since: 2. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_not_charged($1::jsonb) AS d
