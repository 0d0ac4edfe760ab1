-- Charges that no payment of ours stands for, in the settlement the service imports.
-- One that was given back whole is left out.
-- $1 timestamptz: since; $2 bigint: how many at most. Since: 4.
-- For a database without schema `unstuck`: no report was loaded there. No record is named: our books do not know whose they are.
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
)
SELECT f.scope, f.key, f.order_id, f.ref, f.at, f.amount, f.currency, f.what
FROM orphans f
ORDER BY f.at DESC, f.ref, f.what
LIMIT $2::bigint
