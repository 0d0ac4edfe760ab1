-- A million payments of a week in the reference tables: 100 stuck and unknown, the rest done and published.
INSERT INTO idempotency_keys (scope, key, fingerprint, status, recovery_point, locked_until, locked_by, order_id, provider,
                              provider_key, provider_ref, response_code, response_body, created_at, updated_at)
SELECT 'shop-' || n % 7, 'K-' || n, md5(n::text), CASE WHEN stuck THEN 'processing' ELSE 'done' END,
       CASE WHEN stuck THEN 'provider_called' ELSE 'done' END, at + interval '10 s', 'pod-a', 'ord_' || n, 'labpay',
       'pay:shop-' || n % 7 || ':K-' || n, CASE WHEN NOT stuck THEN 'ch_' || n END,
       CASE WHEN NOT stuck THEN 201 END, CASE WHEN NOT stuck THEN '{"status": "succeeded"}'::jsonb END, at, at
FROM generate_series(1, 1000000) n,
     LATERAL (SELECT n % 10000 = 0 AS stuck, now() - (1000060 - n) * interval '0.6 s' AS at) x;

INSERT INTO payments (id, order_id, scope, key, customer_id, provider, status, amount, currency, provider_ref, created_at, updated_at)
SELECT 'pay_' || n, 'ord_' || n, 'shop-' || n % 7, 'K-' || n, 'cus_' || n % 9999, 'labpay',
       CASE WHEN n % 10000 = 0 THEN 'unknown' ELSE 'succeeded' END, 1000 + n % 90000,
       CASE WHEN n % 3 = 0 THEN 'JPY' ELSE 'EUR' END, CASE WHEN n % 10000 > 0 THEN 'ch_' || n END, at, at
FROM generate_series(1, 1000000) n, LATERAL (SELECT now() - (1000060 - n) * interval '0.6 s' AS at) x;

INSERT INTO api_requests (at, scope, key, method, route, order_id, amount, currency, fingerprint, status, replayed,
                          answered_scope, answered_payment, pod, duration_ms)
SELECT at, 'shop-' || n % 7, 'K-' || n, 'POST', '/payments', 'ord_' || n, 1000 + n % 90000, 'EUR', md5(n::text),
       CASE WHEN n % 10000 = 0 THEN 503 WHEN n % 199 = 0 THEN 409 ELSE 201 END, n % 50 = 0,
       'shop-' || n % 7, 'pay_' || n, 'pod-a', 40
FROM generate_series(1, 1000000) n, LATERAL (SELECT now() - (1000060 - n) * interval '0.6 s' AS at) x;

INSERT INTO provider_calls (at, scope, key, payment_id, provider, purpose, provider_key, timeout_ms, finished_at, outcome,
                            http_status, provider_ref, pod)
SELECT at, 'shop-' || n % 7, 'K-' || n, 'pay_' || n, 'labpay', 'charge', 'pay:shop-' || n % 7 || ':K-' || n, 2000,
       at + interval '40 ms', CASE WHEN n % 10000 = 0 THEN 'timeout' ELSE 'ok' END,
       CASE WHEN n % 10000 > 0 THEN 201 END, CASE WHEN n % 10000 > 0 THEN 'ch_' || n END, 'pod-a'
FROM generate_series(1, 1000000) n, LATERAL (SELECT now() - (1000060 - n) * interval '0.6 s' AS at) x;

INSERT INTO payment_transitions (payment_id, from_status, to_status, at, actor)
SELECT 'pay_' || n, step.old, step.new, at, 'pod-a'
FROM generate_series(1, 1000000) n, LATERAL (SELECT now() - (1000060 - n) * interval '0.6 s' AS at) x,
     (VALUES ('created', 'pending'), ('pending', 'succeeded')) step(old, new)
WHERE n % 10000 > 0;

INSERT INTO outbox (payment_id, type, payload, created_at, published_at)
SELECT 'pay_' || n, 'payment.succeeded', '{}', at, at
FROM generate_series(1, 1000000) n, LATERAL (SELECT now() - (1000060 - n) * interval '0.6 s' AS at) x
WHERE n % 10000 > 0;
