-- Everything known about one record, the requests about its order without a key, the other keys and payments of its order, their events and its checkout, in time order.
-- $1 text: scope; $2 text: key; $3 bigint: how many at most, the latest. Since: 1.
-- amount (minor units) and currency stand where a line is about money.
-- Lanes: client, api, record, provider, webhook, settlement, operator. ref says which key, payment or provider ref a line is about.
WITH me AS (
  SELECT coalesce(
    (SELECT k.order_id FROM idempotency_keys k WHERE k.scope = $1::text AND k.key = $2::text),
    (SELECT min(p.order_id) FROM payments p WHERE p.scope = $1::text AND p.key = $2::text)
  ) AS order_id
),
pays AS (
  SELECT p.id, p.scope, p.key, p.provider, p.provider_ref, p.amount, p.currency, p.created_at
  FROM payments p
  WHERE p.scope = $1::text AND p.key = $2::text
  UNION
  SELECT p.id, p.scope, p.key, p.provider, p.provider_ref, p.amount, p.currency, p.created_at
  FROM payments p, me
  WHERE p.order_id = me.order_id
),
keys AS (
  SELECT $1::text AS scope, $2::text AS key
  UNION
  SELECT p.scope, p.key FROM pays p
),
refs AS (
  SELECT p.provider, p.provider_ref AS ref FROM pays p WHERE p.provider_ref IS NOT NULL
  UNION
  SELECT k.provider, k.provider_ref FROM idempotency_keys k JOIN keys ON keys.scope = k.scope AND keys.key = k.key
  WHERE k.provider_ref IS NOT NULL
  UNION
  SELECT c.provider, c.provider_ref FROM provider_calls c JOIN keys ON keys.scope = c.scope AND keys.key = c.key
  WHERE c.provider_ref IS NOT NULL
),
seen AS (
  SELECT r.at - interval '1 millisecond' * coalesce(r.duration_ms, 0) AS at, 'client' AS lane, concat_ws(' ', 'sent', r.method, r.route) AS what,
    'fingerprint ' || left(r.fingerprint, 12) AS detail, r.key AS ref, r.amount, r.currency, 1 AS nth, r.id
  FROM api_requests r JOIN keys ON keys.scope = r.scope AND keys.key = r.key
  UNION ALL
  SELECT r.at, 'api', concat_ws(' ', 'answered', r.status::text, CASE WHEN r.replayed THEN '(replayed)' END),
    concat_ws(', ', r.pod, r.duration_ms::text || ' ms', 'of another scope: ' || nullif(r.answered_scope, r.scope)),
    coalesce(r.answered_payment, r.key), NULL, NULL, 7, r.id
  FROM api_requests r JOIN keys ON keys.scope = r.scope AND keys.key = r.key
  UNION ALL
  SELECT r.at - interval '1 millisecond' * coalesce(r.duration_ms, 0), 'client', concat_ws(' ', 'sent', r.method, r.route), 'without a key',
    r.order_id, r.amount, r.currency, 1, r.id
  FROM api_requests r, me
  WHERE r.key IS NULL AND r.scope = $1::text AND r.order_id = me.order_id
  UNION ALL
  SELECT r.at, 'api', concat_ws(' ', 'answered', r.status::text), concat_ws(', ', r.pod, r.duration_ms::text || ' ms'), r.order_id, NULL, NULL, 7, r.id
  FROM api_requests r, me
  WHERE r.key IS NULL AND r.scope = $1::text AND r.order_id = me.order_id
  UNION ALL
  SELECT k.created_at, 'record', 'record created', 'recovery point now ' || k.recovery_point, k.key, NULL, NULL, 2, 0
  FROM idempotency_keys k JOIN keys ON keys.scope = k.scope AND keys.key = k.key
  UNION ALL
  SELECT k.locked_until, 'record', 'lease ended, still processing', 'held by ' || k.locked_by, k.key, NULL, NULL, 8, 0
  FROM idempotency_keys k JOIN keys ON keys.scope = k.scope AND keys.key = k.key
  WHERE k.status = 'processing' AND k.locked_until < now()
  UNION ALL
  SELECT k.updated_at, 'record', 'record done', concat_ws(', ', 'stored answer ' || k.response_code::text,
    CASE WHEN (k.response_body -> 'stored_by_reference') IS NOT NULL THEN 'too large to keep: by reference' END), k.key, NULL, NULL, 6, 0
  FROM idempotency_keys k JOIN keys ON keys.scope = k.scope AND keys.key = k.key
  WHERE k.status = 'done'
  UNION ALL
  SELECT a.started_at, 'record', concat_ws(' ', 'lease taken, attempt', a.attempt::text),
    concat_ws(', ', 'by ' || a.worker, 'for ' || round(extract(epoch FROM a.lease_until - a.started_at))::text || ' s', a.outcome), a.key, NULL, NULL, 3, a.id
  FROM payment_attempts a JOIN keys ON keys.scope = a.scope AND keys.key = a.key
  UNION ALL
  SELECT p.created_at, 'record', 'payment created', NULL, p.id, p.amount, p.currency, 3, 0
  FROM pays p
  UNION ALL
  SELECT t.at, 'record', concat_ws(' ', 'payment', t.from_status, 'to', t.to_status), concat_ws(', ', 'by ' || t.actor, t.reason), t.payment_id, NULL, NULL, 5, t.id
  FROM payment_transitions t JOIN pays p ON p.id = t.payment_id
  WHERE t.from_status IS NOT NULL
  UNION ALL
  SELECT c.at, 'provider', c.purpose || ' sent', concat_ws(', ', c.provider, coalesce('key ' || c.provider_key, 'without a key'),
    'time-out ' || c.timeout_ms::text || ' ms', c.pod), c.payment_id, NULL, NULL, 4, c.id
  FROM provider_calls c JOIN keys ON keys.scope = c.scope AND keys.key = c.key
  UNION ALL
  SELECT c.finished_at, 'provider', concat_ws(' ', c.purpose, c.outcome), concat_ws(', ', c.provider, c.http_status::text), c.provider_ref, NULL, NULL, 4, c.id
  FROM provider_calls c JOIN keys ON keys.scope = c.scope AND keys.key = c.key
  WHERE c.finished_at IS NOT NULL
  UNION ALL
  SELECT o.created_at, 'record', 'event ' || o.type || ' written', 'to be published', o.payment_id, NULL, NULL, 6, o.id
  FROM outbox o JOIN pays p ON p.id = o.payment_id AND p.scope = $1::text
  UNION ALL
  SELECT o.published_at, 'record', 'event ' || o.type || ' published', round(extract(epoch FROM o.published_at - o.created_at))::text || ' s after it was written',
    o.payment_id, NULL, NULL, 9, o.id
  FROM outbox o JOIN pays p ON p.id = o.payment_id AND p.scope = $1::text
  WHERE o.published_at IS NOT NULL
  UNION ALL
  SELECT s.updated_at, 'record', concat_ws(' ', 'checkout step', s.position::text, s.step, s.status), concat_ws(', ',
    CASE WHEN s.pivot THEN 'the pivot: from here only forward' END, 'checkout ' || s.saga_id), s.order_id, NULL, NULL, 7, s.position
  FROM saga_steps s, me
  -- A checkout knows no scope: where another tenant has an order of this name, whose it is cannot be told.
  WHERE s.order_id = me.order_id AND NOT EXISTS (SELECT 1 FROM pays o WHERE o.scope <> $1::text)
  UNION ALL
  SELECT w.received_at, 'webhook', w.type || ' received', concat_ws(', ', w.provider, 'event ' || w.event_id,
    CASE WHEN NOT w.signature_ok THEN 'signature not valid' END), w.provider_ref, NULL, NULL, 9, w.id
  FROM webhook_events w JOIN refs ON refs.provider = w.provider AND refs.ref = w.provider_ref
  UNION ALL
  SELECT w.applied_at, 'webhook', w.type || ' applied', concat_ws(', ', w.provider, 'event ' || w.event_id), w.provider_ref, NULL, NULL, 9, w.id
  FROM webhook_events w JOIN refs ON refs.provider = w.provider AND refs.ref = w.provider_ref
  WHERE w.applied_at IS NOT NULL
  UNION ALL
  SELECT s.at, 'settlement', s.type || ' settled', concat_ws(', ', s.provider, 'report ' || s.report), s.provider_ref, s.amount, s.currency, 10, s.id
  FROM settlement_lines s JOIN refs ON refs.provider = s.provider AND refs.ref = s.provider_ref
  UNION ALL
  SELECT l.at, 'operator', concat_ws(' ', l.action, l.entry, l.result), 
    concat_ws(', ', 'by ' || nullif(l.operator, ''), nullif(l.reason, ''), nullif(l.ticket, ''), nullif(l.detail, '')), l.key, NULL, NULL, 11, l.id
  FROM unstuck.action_log l JOIN keys ON keys.scope = l.scope AND keys.key = l.key
),
latest AS (
  SELECT s.at, s.lane, s.what, s.detail, s.ref, s.amount, s.currency, s.nth, s.id
  FROM seen s
  ORDER BY s.at DESC, s.nth DESC, s.id DESC
  LIMIT $3::bigint
)
SELECT l.at, l.lane, l.what, nullif(l.detail, '') AS detail, l.ref, l.amount, l.currency
FROM latest l
ORDER BY l.at, l.nth, l.id, l.lane, l.ref
LIMIT $3::bigint
