-- id: I7
-- sentence: No lease is shorter than the provider time-out in force: two workers would be on one charge.
-- severity: critical
-- cadence: 10s
-- next: Raise the lease above the provider's time-out, then look up every payment named: its charge may have been sent twice.
-- needs: provider_timeout_s
-- $1 timestamptz: only what was touched since (less the grace); NULL: everything. $2 jsonb: policy. Since: 1.
-- In force is the time-out of the calls made under that lease; when none was made, the policy's.
-- An operator's lease is left out: an operator calls nobody who charges.
SELECT
  a.scope,
  a.key,
  k.order_id,
  pay.id AS payment_id,
  k.provider_ref AS ref,
  pay.amount,
  pay.currency,
  a.started_at AS at,
  concat_ws(' ', 'attempt', a.attempt::text, 'by', a.worker || ':', 'lease of',
    round(extract(epoch FROM a.lease_until - a.started_at) * 1000)::bigint::text, 'ms, provider time-out of',
    coalesce(used.timeout_ms, ($2::jsonb ->> 'provider_timeout_s')::bigint * 1000)::text, 'ms') AS detail
FROM payment_attempts a
LEFT JOIN LATERAL (
  SELECT max(c.timeout_ms)::bigint AS timeout_ms
  FROM provider_calls c
  WHERE c.scope = a.scope AND c.key = a.key AND c.at >= a.started_at
    AND c.at < coalesce((SELECT min(n.started_at) FROM payment_attempts n WHERE n.scope = a.scope AND n.key = a.key AND n.attempt = a.attempt + 1),
      'infinity'::timestamptz)
) used ON true
LEFT JOIN idempotency_keys k ON k.scope = a.scope AND k.key = a.key
LEFT JOIN LATERAL (
  SELECT p.id, p.amount, p.currency
  FROM payments p
  WHERE p.scope = a.scope AND p.key = a.key
  ORDER BY p.created_at DESC, p.id
  LIMIT 1
) pay ON true
WHERE a.started_at > coalesce($1::timestamptz - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0), '-infinity'::timestamptz)
    AND a.started_at <= now() - interval '1 second' * coalesce(($2::jsonb ->> 'grace_s')::bigint, 0)
  AND NOT starts_with(a.worker, 'operator:')
  AND a.lease_until - a.started_at < interval '1 millisecond' * coalesce(used.timeout_ms, ($2::jsonb ->> 'provider_timeout_s')::bigint * 1000)
ORDER BY a.started_at DESC, a.id DESC
LIMIT 200
