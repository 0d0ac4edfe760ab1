-- What our books know of the order of one record: the rows of a support case, source by source.
-- $1 text: scope; $2 text: key; $3 bigint: how many rows of a source at most. Since: 3.
-- source: request, record, payment, transition, webhook, settlement. data: one row in the fields of a case (`src/domain/case.rs`);
-- retention: how long keys are really kept, as the latest config event says it ("keys are kept for 5 seconds"); the promise may be longer.
-- A line of a report that was loaded here counts where the service has not imported the same one.
-- NULL says that the source is there, whether or not it has rows. Only of this scope; a request of another scope comes along when
-- it was answered with what belongs to this one.
WITH me AS (
  SELECT coalesce(
    (SELECT k.order_id FROM idempotency_keys k WHERE k.scope = $1::text AND k.key = $2::text),
    (SELECT min(p.order_id) FROM payments p WHERE p.scope = $1::text AND p.key = $2::text)
  ) AS order_id
),
pays AS (
  SELECT p.id, p.order_id, p.scope, p.key, p.customer_id, p.status, p.amount, p.currency, p.provider, p.provider_ref, p.created_at, p.updated_at
  FROM payments p
  WHERE p.scope = $1::text AND p.key = $2::text
  UNION
  SELECT p.id, p.order_id, p.scope, p.key, p.customer_id, p.status, p.amount, p.currency, p.provider, p.provider_ref, p.created_at, p.updated_at
  FROM payments p, me
  WHERE p.scope = $1::text AND p.order_id = me.order_id
),
keys AS (
  SELECT $2::text AS key
  UNION
  SELECT p.key FROM pays p
  UNION
  SELECT k.key FROM idempotency_keys k, me WHERE k.scope = $1::text AND k.order_id = me.order_id
),
refs AS (
  SELECT p.provider, p.provider_ref AS ref FROM pays p WHERE p.provider_ref IS NOT NULL
  UNION
  SELECT k.provider, k.provider_ref FROM idempotency_keys k JOIN keys ON keys.key = k.key
  WHERE k.scope = $1::text AND k.provider_ref IS NOT NULL
  UNION
  SELECT c.provider, c.provider_ref FROM provider_calls c JOIN keys ON keys.key = c.key
  WHERE c.scope = $1::text AND c.provider_ref IS NOT NULL
),
-- Two equal refunds of one report are two; the same one in two reports is one.
moved AS (
  SELECT DISTINCT ON (x.provider, x.ref, x.kind, abs(x.amount), x.currency, x.nth)
    x.provider, x.ref, x.kind, x.amount, x.currency, x.at, x.load_id, x.line, x.nth
  FROM (
    SELECT f.provider, r.ref, r.kind, r.amount, r.currency, r.at, r.load_id, r.line,
      row_number() OVER (PARTITION BY r.load_id, r.ref, r.kind, abs(r.amount), r.currency ORDER BY r.at, r.line) AS nth
    FROM unstuck.settlement_row r
    JOIN unstuck.settlement_report f ON f.load_id = r.load_id
    JOIN refs ON refs.provider = f.provider AND refs.ref = r.ref
    WHERE r.kind IN ('charge', 'refund', 'chargeback')
  ) x
  ORDER BY x.provider, x.ref, x.kind, abs(x.amount), x.currency, x.nth, x.at, x.load_id, x.line
),
there AS (
  SELECT s.source, 0 AS nth, NULL::timestamptz AS at, NULL::text AS id, NULL::jsonb AS data
  FROM (VALUES ('request'), ('record'), ('payment'), ('transition'), ('webhook'), ('settlement')) AS s (source)
),
seen AS (
  SELECT t.source, t.nth, t.at, t.id, t.data FROM there t
  UNION ALL
  (SELECT 'request', 1, r.at, r.id::text, jsonb_build_object('at', r.at, 'scope', r.scope, 'key', r.key, 'method', r.method, 'path', r.route,
      'order', r.order_id, 'amount', r.amount, 'currency', r.currency, 'fingerprint', r.fingerprint, 'status', r.status, 'replayed', r.replayed,
      'answered_scope', r.answered_scope, 'answered_payment', r.answered_payment)
   FROM api_requests r JOIN keys ON keys.key = r.key WHERE r.scope = $1::text
   ORDER BY r.at DESC, r.id DESC LIMIT $3::bigint)
  UNION ALL
  (SELECT 'request', 1, r.at, r.id::text, jsonb_build_object('at', r.at, 'scope', r.scope, 'key', r.key, 'method', r.method, 'path', r.route,
      'order', r.order_id, 'amount', r.amount, 'currency', r.currency, 'fingerprint', r.fingerprint, 'status', r.status, 'replayed', r.replayed,
      'answered_scope', r.answered_scope, 'answered_payment', r.answered_payment)
   FROM api_requests r JOIN keys ON keys.key = r.key WHERE r.scope <> $1::text AND r.answered_scope = $1::text
   ORDER BY r.at DESC, r.id DESC LIMIT $3::bigint)
  UNION ALL
  (SELECT 'record', 1, k.created_at, k.key, jsonb_build_object('scope', k.scope, 'key', k.key, 'fingerprint', k.fingerprint, 'status', k.status,
      'recovery_point', k.recovery_point, 'locked_until', k.locked_until, 'attempt', k.attempt, 'response_code', k.response_code,
      'provider_ref', k.provider_ref, 'created_at', k.created_at)
   FROM idempotency_keys k JOIN keys ON keys.key = k.key WHERE k.scope = $1::text
   ORDER BY k.created_at DESC, k.key LIMIT $3::bigint)
  UNION ALL
  (SELECT 'payment', 1, p.created_at, p.id, jsonb_build_object('id', p.id, 'order', p.order_id, 'scope', p.scope, 'key', p.key,
      'customer', p.customer_id, 'status', p.status, 'amount', p.amount, 'currency', p.currency, 'provider', p.provider, 'provider_ref', p.provider_ref,
      'created_at', p.created_at, 'updated_at', p.updated_at)
   FROM pays p ORDER BY p.created_at DESC, p.id LIMIT $3::bigint)
  UNION ALL
  (SELECT 'transition', 1, t.at, t.id::text, jsonb_build_object('payment', t.payment_id, 'from', t.from_status, 'to', t.to_status, 'at', t.at,
      'by', t.actor || coalesce(': ' || t.reason, ''))
   FROM payment_transitions t JOIN pays p ON p.id = t.payment_id
   ORDER BY t.at DESC, t.id DESC LIMIT $3::bigint)
  UNION ALL
  (SELECT 'webhook', 1, min(w.received_at), w.event_id, jsonb_build_object('event', w.event_id, 'type', min(w.type), 'ref', w.provider_ref,
      'at', min(w.received_at), 'applied_at', min(w.applied_at), 'times_applied', count(w.applied_at))
   FROM webhook_events w JOIN refs ON refs.provider = w.provider AND refs.ref = w.provider_ref WHERE w.signature_ok
   GROUP BY w.event_id, w.provider, w.provider_ref ORDER BY min(w.received_at) DESC, w.event_id LIMIT $3::bigint)
  UNION ALL
  (SELECT 'settlement', 1, s.at, s.id::text, jsonb_build_object('ref', s.provider_ref, 'type', s.type, 'amount', s.amount,
      'currency', s.currency, 'at', s.at)
   FROM settlement_lines s JOIN refs ON refs.provider = s.provider AND refs.ref = s.provider_ref
   ORDER BY s.at DESC, s.id DESC LIMIT $3::bigint)
  UNION ALL
  (SELECT 'settlement', 2, m.at, m.load_id::text || ':' || m.line::text, jsonb_build_object('ref', m.ref, 'type', m.kind, 'amount', m.amount,
      'currency', m.currency, 'at', m.at)
   FROM moved m
   WHERE m.nth > (SELECT count(*) FROM settlement_lines s
     WHERE s.provider_ref = m.ref AND s.provider = m.provider AND s.type = m.kind AND abs(s.amount) = abs(m.amount) AND s.currency = m.currency)
   ORDER BY m.at DESC, m.load_id, m.line LIMIT $3::bigint)
  UNION ALL
  (SELECT 'retention', 1, e.at, e.id::text, jsonb_build_object('s', substring(e.what, '^keys are kept for ([0-9]{1,9}) seconds')::bigint)
   FROM service_events e WHERE e.kind = 'config' AND e.what LIKE 'keys are kept for %'
   ORDER BY e.at DESC, e.id DESC LIMIT 1)
)
SELECT s.source, s.data
FROM seen s
ORDER BY s.source, s.nth, s.at, s.id
LIMIT 10 * $3::bigint
