-- Stores what a provider answered about a record. read_back: evidence_id.
-- $1 jsonb: the order. Since: 1. One row; a refusal is an answer: outcome refused or conflict, and why.
SELECT d.outcome, d.why, d.log_id, d.version, d.read_back
FROM unstuck.do_evidence($1::jsonb) AS d
