-- Records handed over and not claimed, longest waiting first.
-- $1 bigint: how many at most. Since: 1.
-- A claim (a note that names its owner) or the record's end takes it off the list; a plain note does not.
SELECT n.scope, n.key, n.owner, n.operator AS by, n.at, n.note
FROM (
  SELECT m.scope, m.key, m.owner, m.operator, m.at, m.note, m.kind,
    row_number() OVER (PARTITION BY m.scope, m.key ORDER BY m.id DESC) AS nth
  FROM unstuck.note m
  WHERE m.kind IN ('hand over', 'claim')
) n
LEFT JOIN idempotency_keys k ON k.scope = n.scope AND k.key = n.key
WHERE n.nth = 1 AND n.kind = 'hand over' AND k.status IS DISTINCT FROM 'done'
ORDER BY n.at, n.scope, n.key
LIMIT $1::bigint
