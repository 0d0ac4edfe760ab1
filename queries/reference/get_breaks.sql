-- Where settlement reports and our books still disagree, the oldest first.
-- $1 bigint: how many at most. Since: 4.
-- A break that has mended itself since is left out: our payment came, or a later report has it.
SELECT b.id, b.kind, r.provider, b.ref, b.scope, b.key, b.order_id, b.payment_id, b.ours_amount, b.ours_currency, b.theirs_amount, b.theirs_currency,
  b.at, r.at AS first_seen, n.owner, r.hash AS report, b.line
FROM unstuck.settlement_break b
JOIN unstuck.settlement_report r ON r.load_id = b.load_id
LEFT JOIN LATERAL (
  SELECT w.owner FROM unstuck.note w WHERE w.scope = b.scope AND w.key = b.key AND w.owner IS NOT NULL ORDER BY w.id DESC LIMIT 1
) n ON true
WHERE CASE b.kind
  WHEN 'missing' THEN NOT EXISTS (
    SELECT 1 FROM unstuck.settlement_row x JOIN unstuck.settlement_report y ON y.load_id = x.load_id
    WHERE x.ref = b.ref AND x.kind = 'charge' AND y.provider = r.provider)
  WHEN 'duplicate' THEN true
  ELSE NOT EXISTS (
    SELECT 1 FROM payments p
    WHERE p.provider_ref = b.ref AND p.provider = r.provider AND p.status = 'succeeded' AND p.amount = b.theirs_amount AND p.currency = b.theirs_currency)
END
ORDER BY r.at, b.id
LIMIT $1::bigint
