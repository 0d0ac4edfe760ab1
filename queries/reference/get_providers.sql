-- Calls to each provider: how many, how many without an answer, how slow, and how many payments it left unknown.
-- $1 timestamptz: calls sent since then. Since: 1.
-- errors are answers of 5xx and broken connections; p95_ms counts finished calls only; unknown counts payments in that state now,
-- whenever they were called.
WITH calls AS (
  SELECT
    c.provider,
    count(*) AS calls,
    count(*) FILTER (WHERE c.outcome = 'timeout') AS timeouts,
    count(*) FILTER (WHERE c.outcome = 'error') AS errors,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM c.finished_at - c.at)::double precision * 1000) AS p95_ms
  FROM provider_calls c
  WHERE c.at >= $1::timestamptz
  GROUP BY c.provider
),
open_payments AS (
  SELECT p.provider, count(*) AS unknown
  FROM payments p
  WHERE p.status = 'unknown'
  GROUP BY p.provider
)
SELECT
  coalesce(c.provider, o.provider) AS provider,
  coalesce(c.calls, 0) AS calls,
  coalesce(c.timeouts, 0) AS timeouts,
  coalesce(c.errors, 0) AS errors,
  c.p95_ms,
  coalesce(o.unknown, 0) AS unknown
FROM calls c
FULL JOIN open_payments o ON o.provider = c.provider
ORDER BY provider
LIMIT 100
