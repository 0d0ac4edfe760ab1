-- Which environment this database says it is.
-- No parameters. Since: 1. No row: `unstuck install` has not named it, and nothing can be acted on.
SELECT e.name, e.kind
FROM unstuck.environment e
ORDER BY e.name
LIMIT 1
