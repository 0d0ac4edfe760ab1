-- The payment service's own tables, as the reference profile reads them.
-- What the lab creates; what a team compares its own schema with. The console never runs this file.
-- Amounts are minor units (bigint) with an ISO 4217 code; times are timestamptz.

CREATE TABLE idempotency_keys (
  scope          text        NOT NULL,                     -- tenant, user or client: the key's namespace
  key            text        NOT NULL,
  fingerprint    text        NOT NULL,                     -- sha256(method, path, account, normalised body)
  status         text        NOT NULL CHECK (status IN ('processing', 'done')),
  recovery_point text        NOT NULL DEFAULT 'created'
                 CHECK (recovery_point IN ('created', 'provider_called', 'charged', 'done')),
  locked_until   timestamptz NOT NULL,                     -- the lease
  locked_by      text,                                     -- pod, recoverer, or 'operator:NAME'
  attempt        integer     NOT NULL DEFAULT 1,           -- grows by one per take: the fencing token
  order_id       text,
  provider       text,
  provider_key   text,                                     -- what the provider is sent: pay:{scope}:{key}
  provider_ref   text,
  response_code  integer,
  response_body  jsonb,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope, key)
);

CREATE TABLE payments (
  id             text        PRIMARY KEY,
  order_id       text        NOT NULL,
  scope          text        NOT NULL,
  key            text        NOT NULL,                     -- no foreign key: the record may have been lost, and that must be seen
  customer_id    text,
  provider       text        NOT NULL,
  status         text        NOT NULL
                 CHECK (status IN ('created', 'pending', 'succeeded', 'failed', 'unknown')),
  amount         bigint      NOT NULL,                     -- minor units
  currency       text        NOT NULL,
  provider_ref   text,
  failure_reason text,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE payment_attempts (                            -- one row per take of the lease
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope          text        NOT NULL,
  key            text        NOT NULL,
  attempt        integer     NOT NULL,
  worker         text        NOT NULL,
  lease_until    timestamptz NOT NULL,
  started_at     timestamptz NOT NULL DEFAULT now(),
  finished_at    timestamptz,
  outcome        text
);

CREATE TABLE api_requests (                                -- one row per answered request
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at             timestamptz NOT NULL DEFAULT now(),
  scope          text        NOT NULL,
  key            text,
  method         text        NOT NULL,
  route          text        NOT NULL,
  order_id       text,
  amount         bigint,
  currency       text,
  fingerprint    text,
  status         integer     NOT NULL,
  replayed       boolean     NOT NULL DEFAULT false,
  answered_scope text,                                     -- scope of the record the answer came from
  answered_payment text,                                   -- payment the answer spoke of
  pod            text,
  duration_ms    integer
);

CREATE TABLE provider_calls (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at             timestamptz NOT NULL DEFAULT now(),       -- when the request was sent
  scope          text        NOT NULL,
  key            text        NOT NULL,
  payment_id     text,
  provider       text        NOT NULL,
  purpose        text        NOT NULL CHECK (purpose IN ('charge', 'lookup')),
  provider_key   text,                                     -- null: sent without one
  timeout_ms     integer     NOT NULL,                     -- the time-out in force for this call
  finished_at    timestamptz,
  outcome        text        CHECK (outcome IN ('ok', 'declined', 'timeout', 'error')),
  http_status    integer,
  provider_ref   text,
  pod            text
);

CREATE TABLE payment_transitions (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id     text        NOT NULL,
  from_status    text,
  to_status      text        NOT NULL,
  at             timestamptz NOT NULL DEFAULT now(),
  actor          text        NOT NULL,
  reason         text
);

CREATE TABLE webhook_events (                              -- one row per delivery of an event
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id       text        NOT NULL,
  provider       text        NOT NULL,
  type           text        NOT NULL,
  provider_ref   text,
  signature_ok   boolean     NOT NULL,
  received_at    timestamptz NOT NULL DEFAULT now(),
  applied_at     timestamptz
);

CREATE TABLE outbox (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id     text        NOT NULL,
  type           text        NOT NULL,
  payload        jsonb       NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  published_at   timestamptz
);

CREATE TABLE saga_steps (
  saga_id        text        NOT NULL,
  position       integer     NOT NULL,
  step           text        NOT NULL,
  pivot          boolean     NOT NULL DEFAULT false,
  status         text        NOT NULL
                 CHECK (status IN ('pending', 'running', 'done', 'compensating', 'compensated', 'failed')),
  order_id       text,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (saga_id, position)
);

CREATE TABLE settlement_lines (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider       text        NOT NULL,
  report         text        NOT NULL,                     -- file or day it came from
  provider_ref   text        NOT NULL,
  type           text        NOT NULL CHECK (type IN ('charge', 'refund', 'chargeback', 'fee')),
  amount         bigint      NOT NULL,
  currency       text        NOT NULL,
  at             timestamptz NOT NULL,
  imported_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE service_events (                              -- deploys, sweeper and recoverer runs
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at             timestamptz NOT NULL DEFAULT now(),
  kind           text        NOT NULL CHECK (kind IN ('deploy', 'sweeper', 'recoverer', 'config')),
  what           text        NOT NULL,
  who            text        NOT NULL,
  next_at        timestamptz                               -- when the job runs again, if it says
);
