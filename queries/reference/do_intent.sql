-- Says in the log what is about to be tried, in a transaction of its own. Outcome done: log_id is the intent to name.
-- $1 jsonb: the order. Since: 1. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_intent($1::jsonb) AS d
