-- What is known about one record in time order: when it was made, last taken, and when its lease ended.
-- $1 text: scope, the user's uuid; $2 text: key; $3 bigint: how many at most. Since: 1.
-- When it was resolved is not kept, so that is said beside the last take.
WITH me AS (
  SELECT k.key::text AS key, k.status, k.response_code, k.created_at, k.locked_at
  FROM idempotency_records k
  WHERE k.user_id = CASE WHEN $1::text ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' THEN $1::uuid END AND k.key = $2::text
),
seen AS (
  SELECT m.created_at AS at, 'record created' AS what, NULL::text AS detail, m.key, 1 AS nth
  FROM me m
  UNION ALL
  SELECT m.locked_at, 'record last taken',
    CASE m.status
      WHEN 'RESOLVED' THEN concat_ws(' ', 'resolved since, answer', coalesce(m.response_code::text, 'without a code'))
      WHEN 'FAILED' THEN 'given up since, outcome not known'
      ELSE 'for 60 s'
    END, m.key, 2
  FROM me m
  UNION ALL
  SELECT m.locked_at + interval '60 seconds', 'lease ended, still processing', NULL, m.key, 3
  FROM me m
  WHERE m.status = 'STARTED' AND m.locked_at + interval '60 seconds' < now()
)
SELECT s.at, 'record' AS lane, s.what, s.detail, s.key AS ref, NULL::bigint AS amount, NULL::text AS currency
FROM seen s
ORDER BY s.at, s.nth
LIMIT $3::bigint
