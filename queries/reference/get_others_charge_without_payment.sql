-- Charges that no payment of ours stands for, in the settlement the service imports and in the reports that were loaded here.
-- One that was given back whole is left out.
-- $1 timestamptz: since; $2 bigint: how many at most. Since: 4.
-- No record is named: our books do not know whose they are.
WITH orphans AS (
  SELECT NULL::text AS scope, NULL::text AS key, NULL::text AS order_id, o.ref, o.at, o.amount, o.currency, o.what
  FROM (
  SELECT s.provider_ref AS ref, s.at, s.amount, s.currency, 'charge of ' || s.provider || ' in report ' || s.report || ', and no payment of ours' AS what
    FROM settlement_lines s
    WHERE s.type = 'charge' AND s.imported_at >= $1::timestamptz
      AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.provider_ref = s.provider_ref AND p.provider = s.provider)
      AND NOT EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.provider_ref = s.provider_ref AND k.provider = s.provider)
      AND NOT EXISTS (
        SELECT 1 FROM settlement_lines z
        WHERE z.provider_ref = s.provider_ref AND z.provider = s.provider AND z.type IN ('refund', 'chargeback') AND abs(z.amount) >= abs(s.amount)
      )
  ) o
  UNION ALL
  SELECT NULL, NULL, b.order_id, b.ref, coalesce(b.at, r.at), b.theirs_amount, b.theirs_currency, 'charge of ' || r.provider || ' in report ' || r.name || ', and no payment of ours'
  FROM unstuck.settlement_break b
  JOIN unstuck.settlement_report r ON r.load_id = b.load_id
  WHERE b.kind = 'orphan' AND r.at >= $1::timestamptz
    AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.provider_ref = b.ref AND p.provider = r.provider)
    AND NOT EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.provider_ref = b.ref AND k.provider = r.provider)
    AND NOT EXISTS (
      SELECT 1 FROM unstuck.settlement_row z JOIN unstuck.settlement_report y ON y.load_id = z.load_id
      WHERE z.ref = b.ref AND y.provider = r.provider AND z.kind IN ('refund', 'chargeback') AND abs(z.amount) >= abs(b.theirs_amount)
    )
    AND NOT EXISTS (
      SELECT 1 FROM settlement_lines z
      WHERE z.provider_ref = b.ref AND z.provider = r.provider AND z.type IN ('refund', 'chargeback') AND abs(z.amount) >= abs(b.theirs_amount)
    )
    AND NOT EXISTS (SELECT 1 FROM settlement_lines s WHERE s.provider_ref = b.ref AND s.provider = r.provider AND s.type = 'charge' AND s.imported_at >= $1::timestamptz)
)
SELECT f.scope, f.key, f.order_id, f.ref, f.at, f.amount, f.currency, f.what
FROM orphans f
ORDER BY f.at DESC, f.ref, f.what
LIMIT $2::bigint
