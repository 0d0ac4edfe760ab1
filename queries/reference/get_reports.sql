-- Settlement reports that were loaded whole, newest first.
-- $1 bigint: how many at most. Since: 4. Amounts are minor units by currency.
SELECT r.hash, r.name, r.provider, r.lines, r.matched, r.at AS loaded_at, r.from_at, r.to_at, r.ours, r.theirs, r.stated
FROM unstuck.settlement_report r
ORDER BY r.at DESC, r.load_id DESC
LIMIT $1::bigint
