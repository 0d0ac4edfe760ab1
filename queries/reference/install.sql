-- Schema `unstuck`: the action log, the evidence, and the only functions through which the console may change anything.
-- Printed or applied by `unstuck install`; never run by the console itself. Applying it again changes nothing.
-- Run it as a superuser, in one transaction; then name the environment: SELECT unstuck.set_environment('payments-eu', 'production').
--
-- What it holds to:
--   * nothing here removes anything, and nothing here can charge anybody;
--   * the functions run as `unstuck_definer`, which cannot log in, owns no table and may write only the columns listed in section 2;
--   * an operator may SELECT and EXECUTE, nothing else; who acted is `session_user`, which a client cannot choose;
--   * a refusal is an answer (outcome, why), not an error;
--   * the log, the evidence and the notes only grow; the log is a chain of SHA-256 hashes.
--
-- The service's tables are spoken of in two places only: the grants of section 2 and the functions of section 5, whose names
-- begin with `service_`. A service whose tables live elsewhere than in schema `public` changes those two sections.

-- 1. Roles. They belong to the whole cluster, so they may be there already, or be made by somebody else this very moment.

DO $roles$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['unstuck_definer', 'unstuck_reader', 'unstuck_operator', 'unstuck_approver', 'unstuck_recoverer'] LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
      BEGIN
        EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION', wanted);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;
      END;
    END IF;
  END LOOP;
  -- An operator and an approver read what a reader reads; the service's recoverer reads nothing here. The statistics show how old the oldest transaction is, whoever runs it.
  FOR attempt IN 1..5 LOOP
    BEGIN
      IF NOT pg_catalog.pg_has_role('unstuck_operator', 'unstuck_reader', 'MEMBER') THEN
        GRANT unstuck_reader TO unstuck_operator;
      END IF;
      IF NOT pg_catalog.pg_has_role('unstuck_approver', 'unstuck_reader', 'MEMBER') THEN
        GRANT unstuck_reader TO unstuck_approver;
      END IF;
      IF NOT pg_catalog.pg_has_role('unstuck_reader', 'pg_read_all_stats', 'MEMBER') THEN
        GRANT pg_read_all_stats TO unstuck_reader;
      END IF;
      EXIT;
    EXCEPTION
      WHEN insufficient_privilege THEN
        RAISE NOTICE 'pg_read_all_stats was not granted to unstuck_reader: the age of the oldest transaction will not be known';
        EXIT;
      WHEN unique_violation OR internal_error THEN
        PERFORM pg_catalog.pg_sleep(0.05);
    END;
  END LOOP;
END
$roles$;

CREATE SCHEMA IF NOT EXISTS unstuck;
REVOKE ALL ON SCHEMA unstuck FROM PUBLIC;
GRANT USAGE ON SCHEMA unstuck TO unstuck_definer, unstuck_reader, unstuck_operator, unstuck_approver, unstuck_recoverer;

-- 2. The service's tables: who may do what. Readers read; the definer may write these columns and no others.

GRANT USAGE ON SCHEMA public TO unstuck_definer, unstuck_reader;
GRANT SELECT ON public.idempotency_keys, public.payments, public.payment_attempts, public.api_requests, public.provider_calls,
  public.payment_transitions, public.webhook_events, public.outbox, public.saga_steps, public.settlement_lines, public.service_events
  TO unstuck_reader;
GRANT SELECT ON public.idempotency_keys, public.payments, public.payment_attempts, public.settlement_lines TO unstuck_definer;
GRANT SELECT (scope, key, at) ON public.api_requests TO unstuck_definer;
GRANT SELECT (scope, key, at, purpose) ON public.provider_calls TO unstuck_definer;
GRANT UPDATE (status, recovery_point, locked_until, locked_by, attempt, provider_ref, response_code, response_body, updated_at)
  ON public.idempotency_keys TO unstuck_definer;
GRANT UPDATE (status, provider_ref, failure_reason, updated_at) ON public.payments TO unstuck_definer;
GRANT INSERT (scope, key, attempt, worker, lease_until, started_at, finished_at, outcome), UPDATE (finished_at, outcome)
  ON public.payment_attempts TO unstuck_definer;
GRANT INSERT (payment_id, from_status, to_status, at, actor, reason) ON public.payment_transitions TO unstuck_definer;
GRANT INSERT (payment_id, type, payload, created_at) ON public.outbox TO unstuck_definer;

-- 3. Tables of ours.

CREATE TABLE IF NOT EXISTS unstuck.environment (
  one                boolean     PRIMARY KEY DEFAULT true CHECK (one),
  name               text        NOT NULL CHECK (name ~ '^[[:graph:]]{1,40}$'),
  kind               text        NOT NULL CHECK (kind ~ '^[a-z][a-z_-]{0,39}$'),
  max_evidence_age_s bigint      NOT NULL DEFAULT 300 CHECK (max_evidence_age_s BETWEEN 1 AND 3600),
  max_hold_s         bigint      NOT NULL DEFAULT 900 CHECK (max_hold_s BETWEEN 1 AND 900),
  set_at             timestamptz NOT NULL,
  set_by             text        NOT NULL
);
COMMENT ON TABLE unstuck.environment IS 'What this database is, and the limits no client can loosen. One row, named by unstuck install.';

CREATE TABLE IF NOT EXISTS unstuck.action_log (
  id           bigint      PRIMARY KEY,                -- gapless: a missing number is a missing row
  at           timestamptz NOT NULL,
  entry        text        NOT NULL CHECK (entry IN ('intent', 'outcome', 'event')),
  action       text        NOT NULL,
  scope        text,
  key          text,
  operator     text        NOT NULL,                   -- the name the person gave
  session_role text        NOT NULL,                   -- session_user: the login that acted
  application  text,
  environment  text        NOT NULL,
  plan_hash    text,
  reason       text,
  ticket       text,
  result       text,
  detail       text,
  intent_id    bigint      REFERENCES unstuck.action_log (id),
  evidence_id  bigint,
  data         jsonb,
  prev_hash    bytea       NOT NULL,
  hash         bytea       NOT NULL,
  CHECK ((entry = 'intent') = (result IS NULL)),
  CHECK ((entry = 'outcome') = (intent_id IS NOT NULL))
);
COMMENT ON TABLE unstuck.action_log IS 'What was intended and how it ended. Only grows; hash = sha256(prev_hash || unstuck.log_text(row)).';
CREATE UNIQUE INDEX IF NOT EXISTS uq_action_log_outcome ON unstuck.action_log (intent_id) WHERE entry = 'outcome';
CREATE INDEX IF NOT EXISTS ix_action_log_record ON unstuck.action_log (scope, key, id);
CREATE INDEX IF NOT EXISTS ix_action_log_at ON unstuck.action_log (at);

CREATE TABLE IF NOT EXISTS unstuck.evidence (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at           timestamptz NOT NULL,
  scope        text        NOT NULL,
  key          text        NOT NULL,
  operator     text        NOT NULL,
  session_role text        NOT NULL,
  provider     text        NOT NULL,
  started_at   timestamptz NOT NULL,                   -- the client's clock; never trusted to be later than `at`
  outcome      text        NOT NULL CHECK (outcome IN ('found', 'not_found', 'unreachable')),
  definitive   boolean     NOT NULL,
  why          text,
  observed     jsonb       NOT NULL,
  steps        jsonb       NOT NULL,
  intent_id    bigint
);
COMMENT ON TABLE unstuck.evidence IS 'What a provider answered, as the operator''s console saw it. Only grows.';
CREATE INDEX IF NOT EXISTS ix_evidence_record ON unstuck.evidence (scope, key, id);

CREATE TABLE IF NOT EXISTS unstuck.note (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at           timestamptz NOT NULL,
  scope        text        NOT NULL,
  key          text        NOT NULL,
  kind         text        NOT NULL CHECK (kind IN ('note', 'claim', 'hand over')),
  owner        text,                                   -- hand over: to whom, if anybody in particular; claim: who has it
  operator     text        NOT NULL,
  session_role text        NOT NULL,
  note         text        NOT NULL,
  intent_id    bigint
);
COMMENT ON TABLE unstuck.note IS 'Notes, hand-overs and claims. Only grows: the latest hand-over or claim of a record says who has it.';
CREATE INDEX IF NOT EXISTS ix_note_record ON unstuck.note (scope, key, id);
CREATE INDEX IF NOT EXISTS ix_note_hand_over ON unstuck.note (scope, key, id DESC) WHERE kind IN ('hand over', 'claim');

-- The numbers of approval and hand back. A table of its own, so that an older installation gains it by being installed again.
CREATE TABLE IF NOT EXISTS unstuck.limits (
  one                 boolean PRIMARY KEY DEFAULT true CHECK (one),
  approval_wait_s     bigint  NOT NULL DEFAULT 1800  CHECK (approval_wait_s BETWEEN 1 AND 86400),       -- how long a question waits for its answer
  act_window_s        bigint  NOT NULL DEFAULT 120   CHECK (act_window_s BETWEEN 1 AND 3600),           -- how long an approval may be acted on
  break_glass_after_s bigint  NOT NULL DEFAULT 600   CHECK (break_glass_after_s BETWEEN 1 AND 86400),   -- adopt only
  resume_life_s       bigint  NOT NULL DEFAULT 900   CHECK (resume_life_s BETWEEN 1 AND 900),           -- how long a hand back may be taken up
  resume_answer_s     bigint  NOT NULL DEFAULT 60    CHECK (resume_answer_s BETWEEN 1 AND 900),         -- after this, nobody answers
  key_margin_s        bigint  NOT NULL DEFAULT 3600  CHECK (key_margin_s BETWEEN 0 AND 86400),
  max_key_retention_s bigint  NOT NULL DEFAULT 86400 CHECK (max_key_retention_s BETWEEN 1 AND 7776000),
  absence_gap_s       bigint  NOT NULL DEFAULT 290   CHECK (absence_gap_s BETWEEN 1 AND 86400),         -- a little under five minutes: look-ups take unequal times
  absence_gap_max_s   bigint  NOT NULL DEFAULT 1860  CHECK (absence_gap_max_s BETWEEN 1 AND 86400),
  settle_s            bigint  NOT NULL DEFAULT 120   CHECK (settle_s BETWEEN 0 AND 86400)               -- after the last attempt, and after the key's end
);
COMMENT ON TABLE unstuck.limits IS 'What no client can loosen: an order can only be stricter. One row; changed by unstuck.set_limit.';
INSERT INTO unstuck.limits (one) VALUES (true) ON CONFLICT (one) DO NOTHING;

CREATE TABLE IF NOT EXISTS unstuck.approval_limit (
  currency text        PRIMARY KEY CHECK (currency ~ '^[A-Z]{3}$'),
  amount   bigint      NOT NULL CHECK (amount >= 0),   -- minor units: from this amount on a second person approves
  set_at   timestamptz NOT NULL,
  set_by   text        NOT NULL
);
COMMENT ON TABLE unstuck.approval_limit IS 'In production, adopt and fail need approval from this amount on; in a currency without a row, always.';

CREATE TABLE IF NOT EXISTS unstuck.approval_request (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at           timestamptz NOT NULL,
  action       text        NOT NULL CHECK (action IN ('adopt', 'fail', 'hand_back', 'reverse', 'not_charged')),
  scope        text        NOT NULL,
  key          text        NOT NULL,
  payment_id   text        NOT NULL,
  order_id     text,
  amount       bigint      NOT NULL,
  currency     text        NOT NULL,
  version      text        NOT NULL,
  attempt      bigint      NOT NULL,
  plan_hash    text        NOT NULL,
  plan         jsonb       NOT NULL,                   -- the asker's plan, whole
  evidence_id  bigint      NOT NULL,
  operator     text        NOT NULL,
  session_role text        NOT NULL,
  reason       text        NOT NULL,
  ticket       text,
  expires_at   timestamptz NOT NULL,
  intent_id    bigint      NOT NULL
);
COMMENT ON TABLE unstuck.approval_request IS 'Plans that wait, or waited, for a second person. Only grows.';
CREATE INDEX IF NOT EXISTS ix_approval_request_record ON unstuck.approval_request (scope, key, id);

CREATE TABLE IF NOT EXISTS unstuck.approval_decision (
  request      bigint      PRIMARY KEY REFERENCES unstuck.approval_request (id),
  at           timestamptz NOT NULL,
  verdict      text        NOT NULL CHECK (verdict IN ('approved', 'refused', 'withdrawn')),
  operator     text        NOT NULL,
  session_role text        NOT NULL,
  evidence_id  bigint     ,   -- the approver's own look-up
  reason       text,
  intent_id    bigint      NOT NULL,
  CHECK (verdict <> 'approved' OR evidence_id IS NOT NULL)
);
COMMENT ON TABLE unstuck.approval_decision IS 'One answer per request, for ever. Only grows.';

CREATE TABLE IF NOT EXISTS unstuck.approval_use (
  request     bigint      PRIMARY KEY REFERENCES unstuck.approval_request (id),
  at          timestamptz NOT NULL,
  break_glass boolean     NOT NULL,
  intent_id   bigint      NOT NULL
);
COMMENT ON TABLE unstuck.approval_use IS 'An approval is acted on once. Only grows.';

CREATE TABLE IF NOT EXISTS unstuck.resume_request (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at           timestamptz NOT NULL,
  scope        text        NOT NULL,
  key          text        NOT NULL,
  payment_id   text        NOT NULL,
  order_id     text,
  amount       bigint      NOT NULL,
  currency     text        NOT NULL,
  version      text        NOT NULL,
  attempt      bigint      NOT NULL,
  approval     bigint      NOT NULL UNIQUE REFERENCES unstuck.approval_request (id),
  plan_hash    text        NOT NULL,
  evidence_id  bigint      NOT NULL,
  proof_id     bigint      NOT NULL,
  operator     text        NOT NULL,
  session_role text        NOT NULL,
  reason       text        NOT NULL,
  ticket       text,
  not_after    timestamptz NOT NULL,
  intent_id    bigint      NOT NULL
);
COMMENT ON TABLE unstuck.resume_request IS 'Records handed back to the service''s own recoverer. Only grows; what became of each is in unstuck.resume_event.';
CREATE INDEX IF NOT EXISTS ix_resume_request_record ON unstuck.resume_request (scope, key, id);

CREATE TABLE IF NOT EXISTS unstuck.resume_event (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request      bigint      NOT NULL REFERENCES unstuck.resume_request (id),
  at           timestamptz NOT NULL,
  event        text        NOT NULL CHECK (event IN ('taken', 'finished', 'refused', 'withdrawn')),
  worker       text,
  session_role text        NOT NULL,
  detail       text
);
COMMENT ON TABLE unstuck.resume_event IS 'What became of a hand back: taken once, ended once. Only grows.';
CREATE UNIQUE INDEX IF NOT EXISTS uq_resume_event_taken ON unstuck.resume_event (request) WHERE event = 'taken';
CREATE UNIQUE INDEX IF NOT EXISTS uq_resume_event_ended ON unstuck.resume_event (request) WHERE event <> 'taken';

CREATE TABLE IF NOT EXISTS unstuck.settlement_load (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at           timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
  provider     text        NOT NULL,
  name         text        NOT NULL,
  hash         text        NOT NULL,
  operator     text        NOT NULL,
  session_role text        NOT NULL
);
COMMENT ON TABLE unstuck.settlement_load IS 'Loads of settlement reports that were begun. Only grows; one that was not finished is never read.';

CREATE TABLE IF NOT EXISTS unstuck.settlement_row (
  load_id  bigint NOT NULL REFERENCES unstuck.settlement_load (id),
  line     bigint NOT NULL,
  kind     text   NOT NULL CHECK (kind IN ('charge', 'refund', 'chargeback', 'fee', 'other')),
  ref      text,
  order_id text,
  amount   bigint NOT NULL,
  currency text   NOT NULL,
  at       timestamptz,
  PRIMARY KEY (load_id, line)
);
COMMENT ON TABLE unstuck.settlement_row IS 'Lines of settlement reports, minor units; they count once their load is in settlement_report. Only grows.';
CREATE INDEX IF NOT EXISTS ix_settlement_row_moved ON unstuck.settlement_row (ref) WHERE kind IN ('charge', 'refund', 'chargeback');

CREATE TABLE IF NOT EXISTS unstuck.settlement_report (
  load_id  bigint      PRIMARY KEY REFERENCES unstuck.settlement_load (id),
  at       timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
  provider text        NOT NULL,
  name     text        NOT NULL,
  hash     text        NOT NULL UNIQUE,
  lines    bigint      NOT NULL,
  matched  bigint      NOT NULL,
  from_at  timestamptz,
  to_at    timestamptz,
  ours     jsonb       NOT NULL,
  theirs   jsonb       NOT NULL,
  stated   jsonb
);
COMMENT ON TABLE unstuck.settlement_report IS 'Settlement reports that were loaded whole, one row a file. Only grows.';

CREATE TABLE IF NOT EXISTS unstuck.settlement_break (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  load_id         bigint NOT NULL REFERENCES unstuck.settlement_report (load_id),
  kind            text   NOT NULL CHECK (kind IN ('orphan', 'missing', 'amount', 'currency', 'duplicate')),
  line            bigint,
  ref             text,
  scope           text,
  key             text,
  order_id        text,
  payment_id      text,
  ours_amount     bigint,
  ours_currency   text,
  theirs_amount   bigint,
  theirs_currency text,
  at              timestamptz
);
COMMENT ON TABLE unstuck.settlement_break IS 'Where a report and our books disagreed when it was loaded. Only grows; what has mended itself since is not shown.';

REVOKE ALL ON unstuck.environment, unstuck.action_log, unstuck.evidence, unstuck.note, unstuck.limits, unstuck.approval_limit, unstuck.approval_request,
  unstuck.approval_decision, unstuck.approval_use, unstuck.resume_request, unstuck.resume_event,
  unstuck.settlement_load, unstuck.settlement_row, unstuck.settlement_report, unstuck.settlement_break FROM PUBLIC;
GRANT SELECT ON unstuck.environment, unstuck.action_log, unstuck.evidence, unstuck.note, unstuck.limits, unstuck.approval_limit, unstuck.approval_request,
  unstuck.approval_decision, unstuck.approval_use, unstuck.resume_request, unstuck.resume_event,
  unstuck.settlement_load, unstuck.settlement_row, unstuck.settlement_report, unstuck.settlement_break TO unstuck_reader;
GRANT SELECT, INSERT ON unstuck.action_log, unstuck.evidence, unstuck.note, unstuck.approval_request, unstuck.approval_decision, unstuck.approval_use,
  unstuck.resume_request, unstuck.resume_event,
  unstuck.settlement_load, unstuck.settlement_row, unstuck.settlement_report, unstuck.settlement_break TO unstuck_definer;
GRANT SELECT, INSERT, UPDATE (name, kind, set_at, set_by) ON unstuck.environment TO unstuck_definer;
GRANT SELECT, INSERT, UPDATE (amount, set_at, set_by) ON unstuck.approval_limit TO unstuck_definer;
GRANT UPDATE (matched, ours, theirs) ON unstuck.settlement_report TO unstuck_definer;
GRANT SELECT, UPDATE (approval_wait_s, act_window_s, break_glass_after_s, resume_life_s, resume_answer_s, key_margin_s, max_key_retention_s, absence_gap_s,
  absence_gap_max_s, settle_s) ON unstuck.limits TO unstuck_definer;

-- 4. The log.

CREATE OR REPLACE FUNCTION unstuck.refuse_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  RAISE EXCEPTION '%.% only grows: % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END
$body$;

CREATE OR REPLACE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.action_log
  FOR EACH STATEMENT EXECUTE FUNCTION unstuck.refuse_change();
CREATE OR REPLACE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.evidence
  FOR EACH STATEMENT EXECUTE FUNCTION unstuck.refuse_change();
CREATE OR REPLACE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.note
  FOR EACH STATEMENT EXECUTE FUNCTION unstuck.refuse_change();
CREATE OR REPLACE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.approval_request
  FOR EACH STATEMENT EXECUTE FUNCTION unstuck.refuse_change();
CREATE OR REPLACE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.approval_decision
  FOR EACH STATEMENT EXECUTE FUNCTION unstuck.refuse_change();
CREATE OR REPLACE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.approval_use
  FOR EACH STATEMENT EXECUTE FUNCTION unstuck.refuse_change();
CREATE OR REPLACE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.resume_request
  FOR EACH STATEMENT EXECUTE FUNCTION unstuck.refuse_change();
CREATE OR REPLACE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.resume_event
  FOR EACH STATEMENT EXECUTE FUNCTION unstuck.refuse_change();
ALTER TABLE unstuck.action_log ENABLE ALWAYS TRIGGER only_grows;
ALTER TABLE unstuck.evidence ENABLE ALWAYS TRIGGER only_grows;
ALTER TABLE unstuck.note ENABLE ALWAYS TRIGGER only_grows;
ALTER TABLE unstuck.approval_request ENABLE ALWAYS TRIGGER only_grows;
ALTER TABLE unstuck.approval_decision ENABLE ALWAYS TRIGGER only_grows;
ALTER TABLE unstuck.approval_use ENABLE ALWAYS TRIGGER only_grows;
ALTER TABLE unstuck.resume_request ENABLE ALWAYS TRIGGER only_grows;
ALTER TABLE unstuck.resume_event ENABLE ALWAYS TRIGGER only_grows;

-- One writing for one row, whatever the session's settings are: the chain is over this text.
CREATE OR REPLACE FUNCTION unstuck.log_text(l unstuck.action_log) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT pg_catalog.jsonb_build_array(
    l.id, pg_catalog.to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), l.entry, l.action, l.scope, l.key, l.operator,
    l.session_role, l.application, l.environment, l.plan_hash, l.reason, l.ticket, l.result, l.detail, l.intent_id, l.evidence_id, l.data
  )::text
$body$;

-- Appends are one at a time, to the end of the transaction: the number and the hash follow from the row before.
CREATE OR REPLACE FUNCTION unstuck.lock_log() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $body$
BEGIN
  PERFORM pg_catalog.pg_advisory_xact_lock(1970172533, 1);
END
$body$;

-- A number of an order; NULL for what is none, so that an order written by hand is refused and not an error.
CREATE OR REPLACE FUNCTION unstuck.number(p text) RETURNS bigint
LANGUAGE sql IMMUTABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT CASE WHEN p ~ '^-?[0-9]{1,18}$' THEN p::bigint END
$body$;

-- o: an order, or the intent it follows, as jsonb. Returns the id of the new row.
CREATE OR REPLACE FUNCTION unstuck.append(p_entry text, o jsonb, p_result text, p_detail text, p_intent bigint, p_data jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  l    unstuck.action_log;
  last unstuck.action_log;
BEGIN
  PERFORM unstuck.lock_log();
  SELECT a.* INTO last FROM unstuck.action_log a ORDER BY a.id DESC LIMIT 1;
  l.id := coalesce(last.id, 0) + 1;
  l.at := pg_catalog.clock_timestamp();
  l.entry := p_entry;
  l.action := coalesce(nullif(o ->> 'action', ''), 'unknown');
  l.scope := o ->> 'scope';
  l.key := o ->> 'key';
  l.operator := coalesce(nullif(o ->> 'operator', ''), session_user);
  l.session_role := session_user;
  l.application := pg_catalog.current_setting('application_name', true);
  l.environment := coalesce((SELECT e.name FROM unstuck.environment e), '(not named)');
  l.plan_hash := o ->> 'plan_hash';
  l.reason := o ->> 'reason';
  l.ticket := o ->> 'ticket';
  l.result := p_result;
  l.detail := p_detail;
  l.intent_id := p_intent;
  l.evidence_id := unstuck.number(o ->> 'evidence_id');
  l.data := p_data;
  l.prev_hash := coalesce(last.hash, pg_catalog.sha256(''::bytea));
  l.hash := pg_catalog.sha256(l.prev_hash || pg_catalog.convert_to(unstuck.log_text(l), 'UTF8'));
  INSERT INTO unstuck.action_log SELECT l.*;
  RETURN l.id;
END
$body$;

-- The chain, checked: every row must be intact and follow the one before. The head is the hash of the last row.
CREATE OR REPLACE VIEW unstuck.log_check AS
  SELECT
    l.id,
    l.at,
    l.hash = pg_catalog.sha256(l.prev_hash || pg_catalog.convert_to(unstuck.log_text(l), 'UTF8')) AS intact,
    l.id = coalesce(pg_catalog.lag(l.id) OVER w, 0) + 1
      AND l.prev_hash = coalesce(pg_catalog.lag(l.hash) OVER w, pg_catalog.sha256(''::bytea)) AS follows,
    pg_catalog.encode(l.hash, 'hex') AS hash
  FROM unstuck.action_log l
  WINDOW w AS (ORDER BY l.id);
REVOKE ALL ON unstuck.log_check FROM PUBLIC;
GRANT SELECT ON unstuck.log_check TO unstuck_reader;

-- Names the environment. Nobody is granted it: only a superuser, or the owner of the functions, may call it.
CREATE OR REPLACE FUNCTION unstuck.set_environment(p_name text, p_kind text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  IF EXISTS (SELECT 1 FROM unstuck.environment e WHERE e.name = p_name AND e.kind = p_kind) THEN
    RETURN;
  END IF;
  INSERT INTO unstuck.environment (name, kind, set_at, set_by) VALUES (p_name, p_kind, pg_catalog.clock_timestamp(), session_user)
    ON CONFLICT (one) DO UPDATE SET name = excluded.name, kind = excluded.kind, set_at = excluded.set_at, set_by = excluded.set_by;
  PERFORM unstuck.append('event', pg_catalog.jsonb_build_object('action', 'set environment'), 'done', p_name || ' (' || p_kind || ')', NULL, NULL);
END
$body$;

-- Changes one of the limits. Nobody is granted it: only a superuser, or the owner of the functions, may call it.
CREATE OR REPLACE FUNCTION unstuck.set_limit(p_limit text, p_value bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  IF NOT (SELECT pg_catalog.to_jsonb(l) - 'one' FROM unstuck.limits l) ? p_limit THEN
    RAISE EXCEPTION 'there is no limit called %', p_limit;
  END IF;
  UPDATE unstuck.limits l SET
    approval_wait_s = CASE p_limit WHEN 'approval_wait_s' THEN p_value ELSE l.approval_wait_s END,
    act_window_s = CASE p_limit WHEN 'act_window_s' THEN p_value ELSE l.act_window_s END,
    break_glass_after_s = CASE p_limit WHEN 'break_glass_after_s' THEN p_value ELSE l.break_glass_after_s END,
    resume_life_s = CASE p_limit WHEN 'resume_life_s' THEN p_value ELSE l.resume_life_s END,
    resume_answer_s = CASE p_limit WHEN 'resume_answer_s' THEN p_value ELSE l.resume_answer_s END,
    key_margin_s = CASE p_limit WHEN 'key_margin_s' THEN p_value ELSE l.key_margin_s END,
    max_key_retention_s = CASE p_limit WHEN 'max_key_retention_s' THEN p_value ELSE l.max_key_retention_s END,
    absence_gap_s = CASE p_limit WHEN 'absence_gap_s' THEN p_value ELSE l.absence_gap_s END,
    absence_gap_max_s = CASE p_limit WHEN 'absence_gap_max_s' THEN p_value ELSE l.absence_gap_max_s END,
    settle_s = CASE p_limit WHEN 'settle_s' THEN p_value ELSE l.settle_s END;
  PERFORM unstuck.append('event', pg_catalog.jsonb_build_object('action', 'set limit'), 'done', p_limit || ' = ' || p_value::text, NULL, NULL);
END
$body$;

-- From which amount on (minor units) adopt and fail need approval in production. Granted to nobody, like the above.
CREATE OR REPLACE FUNCTION unstuck.set_approval_limit(p_currency text, p_amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  INSERT INTO unstuck.approval_limit (currency, amount, set_at, set_by) VALUES (p_currency, p_amount, pg_catalog.clock_timestamp(), session_user)
    ON CONFLICT (currency) DO UPDATE SET amount = excluded.amount, set_at = excluded.set_at, set_by = excluded.set_by;
  PERFORM unstuck.append('event', pg_catalog.jsonb_build_object('action', 'set limit'), 'done', 'approval from ' || p_currency || ' ' || p_amount::text, NULL, NULL);
END
$body$;

-- The hash over a list of texts, each with its length: the same as the console's.
CREATE OR REPLACE FUNCTION unstuck.plan_hash(p_parts jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT pg_catalog.encode(pg_catalog.sha256(coalesce(pg_catalog.string_agg(
    pg_catalog.convert_to(pg_catalog.length(pg_catalog.convert_to(x.part, 'UTF8'))::text || ':' || x.part, 'UTF8'), ''::bytea ORDER BY x.nth), ''::bytea)), 'hex')
  FROM pg_catalog.jsonb_array_elements_text(CASE pg_catalog.jsonb_typeof(p_parts) WHEN 'array' THEN p_parts ELSE '[]'::jsonb END) WITH ORDINALITY AS x(part, nth)
$body$;

-- 5. The service's tables: the only functions that name them.

-- What an action is checked against: the record and every payment with its key, as text. The same expression as in get_record.sql.
CREATE OR REPLACE FUNCTION unstuck.service_version(p_scope text, p_key text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(k::text || '|' || coalesce(
    (SELECT pg_catalog.string_agg(p::text, '|' ORDER BY p.id) FROM public.payments p WHERE p.scope = k.scope AND p.key = k.key), ''), 'UTF8')), 'hex')
  FROM public.idempotency_keys k
  WHERE k.scope = p_scope AND k.key = p_key
$body$;

-- Locks the record, then every payment of its key or order, in order of id, so that nobody changes them until we commit.
CREATE OR REPLACE FUNCTION unstuck.service_lock(p_scope text, p_key text) RETURNS public.idempotency_keys
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $body$
DECLARE
  k      public.idempotency_keys;
  orders text[];
BEGIN
  SELECT r.* INTO k FROM public.idempotency_keys r WHERE r.scope = p_scope AND r.key = p_key FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT pg_catalog.array_agg(DISTINCT p.order_id) INTO orders FROM public.payments p WHERE p.scope = p_scope AND p.key = p_key;
  PERFORM 1 FROM public.payments p
    WHERE (p.scope = p_scope AND p.key = p_key) OR p.order_id = k.order_id OR p.order_id = ANY (orders)
    ORDER BY p.id
    FOR UPDATE;
  RETURN k;
END
$body$;

CREATE OR REPLACE FUNCTION unstuck.service_payment(p_scope text, p_key text, p_id text) RETURNS public.payments
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT p FROM public.payments p WHERE p.id = p_id AND p.scope = p_scope AND p.key = p_key
$body$;

-- The first reason why this payment may not be finished, seen from the other payments; NULL when there is none.
CREATE OR REPLACE FUNCTION unstuck.service_objection(p public.payments, p_ref text, p_final text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  other text;
BEGIN
  SELECT o.id INTO other FROM public.payments o
    WHERE o.provider_ref = p_ref AND o.provider = p.provider AND o.id <> p.id ORDER BY o.id LIMIT 1;
  IF FOUND THEN
    RETURN pg_catalog.format('Charge %s already belongs to payment %s. One charge pays for one payment: open triage for order %s.', p_ref, other, p.order_id);
  END IF;
  SELECT r.scope || ' ' || r.key INTO other FROM public.idempotency_keys r
    WHERE r.provider_ref = p_ref AND r.provider = p.provider AND (r.scope, r.key) <> (p.scope, p.key) ORDER BY r.scope, r.key LIMIT 1;
  IF FOUND THEN
    RETURN pg_catalog.format('Charge %s is stored with record %s. Open triage for order %s.', p_ref, other, p.order_id);
  END IF;
  SELECT o.id INTO other FROM public.payments o
    WHERE o.scope = p.scope AND o.key = p.key AND o.id <> p.id AND o.status <> 'failed' ORDER BY o.id LIMIT 1;
  IF FOUND THEN
    RETURN pg_catalog.format('Payment %s carries the same key as %s. Which of them the charge pays for cannot be told here: hand over.', other, p.id);
  END IF;
  IF p_final = 'failed' THEN
    SELECT s.report INTO other FROM public.settlement_lines s
      WHERE s.provider_ref = p_ref AND s.provider = p.provider AND s.type = 'charge' ORDER BY s.id LIMIT 1;
    IF FOUND THEN
      RETURN pg_catalog.format('Settlement report %s pays out charge %s, so it did not fail. Look the payment up again, then hand over.', other, p_ref);
    END IF;
  ELSIF p_final = 'succeeded' THEN
    other := unstuck.service_paid_by(p);
    IF other IS NOT NULL THEN
      RETURN pg_catalog.format('Order %s was already paid by payment %s. Adopting %s would make two: open triage, refund one first.', p.order_id, other, p.id);
    END IF;
  END IF;
  RETURN NULL;
END
$body$;

-- The earliest moment this key may have reached the provider (a record that was made again lies about its own age), and the latest
-- at which a charge may have been sent. The same expressions as in get_record.sql, and a lease counts to its end.
CREATE OR REPLACE FUNCTION unstuck.service_first_use(k public.idempotency_keys) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT least(k.created_at,
    (SELECT pg_catalog.min(p.created_at) FROM public.payments p WHERE p.scope = k.scope AND p.key = k.key),
    (SELECT pg_catalog.min(r.at) FROM public.api_requests r WHERE r.scope = k.scope AND r.key = k.key),
    (SELECT pg_catalog.min(c.at) FROM public.provider_calls c WHERE c.scope = k.scope AND c.key = k.key),
    (SELECT pg_catalog.min(a.started_at) FROM public.payment_attempts a WHERE a.scope = k.scope AND a.key = k.key))
$body$;

CREATE OR REPLACE FUNCTION unstuck.service_last_attempt(k public.idempotency_keys) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT greatest(k.created_at, k.locked_until,
    (SELECT pg_catalog.max(c.at) FROM public.provider_calls c WHERE c.scope = k.scope AND c.key = k.key AND c.purpose = 'charge'),
    (SELECT pg_catalog.max(a.started_at) FROM public.payment_attempts a
      WHERE a.scope = k.scope AND a.key = k.key AND NOT pg_catalog.starts_with(a.worker, 'operator:')))
$body$;

-- When a charge may have been sent last: what a look-up saw before that may be over. As last_attempt_at in get_record.sql.
CREATE OR REPLACE FUNCTION unstuck.service_last_sent(p_scope text, p_key text) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT greatest(
    (SELECT pg_catalog.max(c.at) FROM public.provider_calls c WHERE c.scope = p_scope AND c.key = p_key AND c.purpose = 'charge'),
    (SELECT pg_catalog.max(a.started_at) FROM public.payment_attempts a
      WHERE a.scope = p_scope AND a.key = p_key AND NOT pg_catalog.starts_with(a.worker, 'operator:')))
$body$;

-- Another payment that paid the same order; NULL when there is none.
CREATE OR REPLACE FUNCTION unstuck.service_paid_by(p public.payments) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT o.id FROM public.payments o WHERE o.order_id = p.order_id AND o.id <> p.id AND o.status = 'succeeded' ORDER BY o.id LIMIT 1
$body$;

-- Takes the lease: one more attempt, and nobody else's write of an earlier attempt counts any more.
CREATE OR REPLACE FUNCTION unstuck.service_take(k public.idempotency_keys, p_who text, p_until timestamptz, p_at timestamptz, p_outcome text)
RETURNS public.idempotency_keys
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $body$
DECLARE
  taken public.idempotency_keys;
BEGIN
  UPDATE public.idempotency_keys r
    SET attempt = r.attempt + 1, locked_by = p_who, locked_until = p_until, updated_at = p_at
    WHERE r.scope = k.scope AND r.key = k.key AND r.status = 'processing' AND r.attempt = k.attempt
    RETURNING r.* INTO STRICT taken;
  INSERT INTO public.payment_attempts (scope, key, attempt, worker, lease_until, started_at, finished_at, outcome)
    VALUES (taken.scope, taken.key, taken.attempt, p_who, p_until, p_at, CASE WHEN p_outcome = 'held' THEN NULL ELSE p_at END, p_outcome);
  RETURN taken;
END
$body$;

-- Finishes a payment and its record together: payment, transitions (no edge skipped), outbox, record with its stored answer.
CREATE OR REPLACE FUNCTION unstuck.service_finish(
  k public.idempotency_keys, p public.payments, p_final text, p_ref text, p_code integer, p_reason text, p_who text, p_at timestamptz
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $body$
DECLARE
  body jsonb := pg_catalog.jsonb_build_object('payment_id', p.id, 'status', p_final, 'provider_ref', p_ref, 'amount', p.amount, 'currency', p.currency);
BEGIN
  UPDATE public.payments q
    SET status = p_final, provider_ref = coalesce(p_ref, q.provider_ref), updated_at = p_at,
      failure_reason = CASE WHEN p_final = 'failed' THEN p_reason ELSE q.failure_reason END
    WHERE q.id = p.id AND q.status = p.status;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'payment % changed under our lock', p.id USING ERRCODE = 'serialization_failure';
  END IF;
  IF p.status = 'created' THEN
    INSERT INTO public.payment_transitions (payment_id, from_status, to_status, at, actor, reason)
      VALUES (p.id, 'created', 'pending', p_at, p_who, CASE WHEN p_ref IS NULL THEN 'the provider was asked' ELSE 'the provider knows the charge' END);
  END IF;
  INSERT INTO public.payment_transitions (payment_id, from_status, to_status, at, actor, reason)
    VALUES (p.id, CASE p.status WHEN 'created' THEN 'pending' ELSE p.status END, p_final, p_at, p_who, p_reason);
  IF p_final = 'failed' THEN
    body := body || pg_catalog.jsonb_build_object('reason', p_reason);
  END IF;
  INSERT INTO public.outbox (payment_id, type, payload, created_at)
    VALUES (p.id, 'payment.' || p_final, body || pg_catalog.jsonb_build_object('order_id', p.order_id), p_at);
  UPDATE public.idempotency_keys r
    SET status = 'done', recovery_point = 'done', provider_ref = coalesce(p_ref, r.provider_ref), response_code = p_code, response_body = body,
      locked_until = p_at, updated_at = p_at
    WHERE r.scope = k.scope AND r.key = k.key AND r.status = 'processing' AND r.attempt = k.attempt;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'record % % changed under our lock', k.scope, k.key USING ERRCODE = 'serialization_failure';
  END IF;
END
$body$;

-- Consecutive takes, up to this one, that were holds of the same holder.
CREATE OR REPLACE FUNCTION unstuck.service_holds(k public.idempotency_keys) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT pg_catalog.count(*) FROM public.payment_attempts a
  WHERE a.scope = k.scope AND a.key = k.key AND a.attempt IN (k.attempt, k.attempt - 1) AND a.worker = k.locked_by AND a.outcome = 'held'
$body$;

-- Ends a hold. The attempt stays: what was taken was taken.
CREATE OR REPLACE FUNCTION unstuck.service_give_back(k public.idempotency_keys, p_at timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '3s'
AS $body$
BEGIN
  UPDATE public.idempotency_keys r SET locked_until = p_at, locked_by = NULL, updated_at = p_at
    WHERE r.scope = k.scope AND r.key = k.key AND r.status = 'processing' AND r.attempt = k.attempt;
  UPDATE public.payment_attempts a SET finished_at = p_at, outcome = 'released'
    WHERE a.scope = k.scope AND a.key = k.key AND a.attempt = k.attempt AND a.worker = k.locked_by AND a.outcome = 'held';
END
$body$;

-- What stands in the tables now, for the column "read back".
CREATE OR REPLACE FUNCTION unstuck.service_read_back(p_scope text, p_key text, p_payment text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT pg_catalog.jsonb_build_object(
    'record_status', k.status, 'recovery_point', k.recovery_point, 'attempt', k.attempt, 'lease_until', k.locked_until, 'lease_holder', k.locked_by,
    'response_code', k.response_code, 'payment_id', p.id, 'payment_status', p.status, 'provider_ref', coalesce(p.provider_ref, k.provider_ref),
    'amount', p.amount, 'currency', p.currency, 'failure_reason', p.failure_reason)
  FROM public.idempotency_keys k
  LEFT JOIN LATERAL (
    SELECT q.* FROM public.payments q
    WHERE q.scope = k.scope AND q.key = k.key AND (p_payment IS NULL OR q.id = p_payment)
    ORDER BY CASE q.status WHEN 'unknown' THEN 0 WHEN 'pending' THEN 1 WHEN 'created' THEN 2 WHEN 'succeeded' THEN 3 ELSE 4 END, q.created_at DESC, q.id
    LIMIT 1
  ) p ON true
  WHERE k.scope = p_scope AND k.key = p_key
$body$;

-- 6. Checks. Each gives the first objection as (outcome, why), or NULL and NULL.

-- One spelling for an action: hand back, hand-back and hand_back are the same.
CREATE OR REPLACE FUNCTION unstuck.action_word(p text) RETURNS text
LANGUAGE sql IMMUTABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT pg_catalog.lower(pg_catalog.translate(coalesce(p, ''), ' -', '__'))
$body$;

CREATE OR REPLACE FUNCTION unstuck.check_place(o jsonb, OUT outcome text, OUT why text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  e unstuck.environment;
BEGIN
  SELECT v.* INTO e FROM unstuck.environment v;
  IF NOT FOUND THEN
    outcome := 'refused';
    why := 'This database has not been named. Run unstuck install and name the environment first.';
  ELSIF o ->> 'environment' IS DISTINCT FROM e.name THEN
    outcome := 'refused';
    why := pg_catalog.format('The plan is for environment %s, this database is %s. Check the connection and make a new plan.',
      coalesce(o ->> 'environment', '(none)'), e.name);
  ELSIF pg_catalog.current_setting('transaction_isolation') <> 'read committed' THEN
    outcome := 'refused';
    why := 'An action must run in READ COMMITTED, or it would act on an old picture. Call it outside any transaction.';
  ELSIF coalesce(o ->> 'operator', '') = '' THEN
    outcome := 'refused';
    why := 'No operator is named. Start the console with a name and make a new plan.';
  END IF;
END
$body$;

-- fits: the intent this order names is this order's, and has not ended.
CREATE OR REPLACE FUNCTION unstuck.check_intent(o jsonb, p_action text, OUT fits boolean, OUT outcome text, OUT why text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  i     unstuck.action_log;
  ended unstuck.action_log;
BEGIN
  fits := false;
  SELECT l.* INTO i FROM unstuck.action_log l WHERE l.id = unstuck.number(o ->> 'intent') AND l.entry = 'intent';
  IF NOT FOUND THEN
    outcome := 'refused';
    why := 'The log has no such intent. Make a new plan.';
    RETURN;
  END IF;
  IF i.session_role <> session_user OR i.operator IS DISTINCT FROM o ->> 'operator' THEN
    outcome := 'refused';
    why := pg_catalog.format('Intent %s is %s''s (login %s). Make your own plan.', i.id, i.operator, i.session_role);
    RETURN;
  END IF;
  IF i.action <> p_action OR i.scope IS DISTINCT FROM o ->> 'scope' OR i.key IS DISTINCT FROM o ->> 'key'
     OR i.plan_hash IS DISTINCT FROM o ->> 'plan_hash' THEN
    outcome := 'refused';
    why := pg_catalog.format('Intent %s is for another action, record or plan. Make a new plan.', i.id);
    RETURN;
  END IF;
  SELECT l.* INTO ended FROM unstuck.action_log l WHERE l.intent_id = i.id AND l.entry = 'outcome';
  IF FOUND THEN
    outcome := 'conflict';
    why := pg_catalog.format('Intent %s already ended: %s. Read the record again; make a new plan if it is still needed.', i.id, ended.result);
    RETURN;
  END IF;
  fits := true;
  SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_place(o) c;
  IF outcome IS NULL AND i.environment IS DISTINCT FROM o ->> 'environment' THEN
    outcome := 'conflict';
    why := 'The environment was renamed since the plan was made. Make a new plan.';
  END IF;
END
$body$;

-- The record under lock: unchanged since the plan, still processing, and nobody at work on it but this operator.
CREATE OR REPLACE FUNCTION unstuck.check_record(o jsonb, k public.idempotency_keys, OUT outcome text, OUT why text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  IF k.scope IS NULL THEN
    outcome := 'refused';
    why := 'There is no record for this scope and key any more. Do not retry the payment: hand over.';
  ELSIF unstuck.service_version(k.scope, k.key) IS DISTINCT FROM o ->> 'version' THEN
    outcome := 'conflict';
    why := 'The record or its payment changed since the plan was made. Read it again and make a new plan.';
  ELSIF k.attempt IS DISTINCT FROM unstuck.number(o ->> 'attempt') THEN
    outcome := 'conflict';
    why := pg_catalog.format('The lease was taken since the plan was made (attempt is %s). Read the record again and make a new plan.', k.attempt);
  ELSIF k.status <> 'processing' THEN
    outcome := 'refused';
    why := 'The record is done. There is nothing to resume.';
  ELSIF k.locked_until > pg_catalog.clock_timestamp() AND NOT unstuck.own_hold(o, k) THEN
    outcome := 'refused';
    why := pg_catalog.format('%s holds the lease until %s and may be at work on it. Wait until then, then look again.',
      coalesce(k.locked_by, 'Somebody'), pg_catalog.to_char(k.locked_until AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'));
  END IF;
END
$body$;

-- A name is not enough: the hold must be this login's, by the log, and of this very attempt.
CREATE OR REPLACE FUNCTION unstuck.own_hold(o jsonb, k public.idempotency_keys) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT k.locked_by = 'operator:' || (o ->> 'operator') AND EXISTS (
    SELECT 1 FROM unstuck.action_log l
    WHERE l.scope = k.scope AND l.key = k.key AND l.entry = 'outcome' AND l.action = 'hold' AND l.result = 'done'
      AND l.operator = o ->> 'operator' AND l.session_role = session_user AND (l.data ->> 'attempt')::bigint = k.attempt)
$body$;

-- Which charges an observation speaks of, and whose, without what may change between two looks at the same charges. What is
-- missing keeps its place: captured is not refunded.
CREATE OR REPLACE FUNCTION unstuck.charges(p_observed jsonb) RETURNS text
LANGUAGE sql IMMUTABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT coalesce(pg_catalog.string_agg(c.line, ';' ORDER BY c.line), '')
  FROM (
    SELECT DISTINCT pg_catalog.jsonb_build_array(h.one -> 'ref', h.one -> 'class', h.one -> 'amount', h.one -> 'captured', h.one -> 'refunded',
      h.one -> 'currency', h.one -> 'provider_key', h.one -> 'reference', h.one -> 'live')::text AS line
    FROM pg_catalog.jsonb_array_elements(p_observed) AS h(one)
  ) c
$body$;

-- Whether two look-ups say the same. An unreachable provider agrees with nothing.
CREATE OR REPLACE FUNCTION unstuck.agrees(a unstuck.evidence, b unstuck.evidence) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT coalesce(CASE
    WHEN a.scope <> b.scope OR a.key <> b.key OR a.provider <> b.provider OR a.outcome <> b.outcome THEN false
    WHEN a.outcome = 'found' THEN unstuck.charges(a.observed) = unstuck.charges(b.observed)
    WHEN a.outcome = 'not_found' THEN a.definitive AND b.definitive
    ELSE false
  END, false)
$body$;

-- The look-up an order names: there, of this record, stored by this login, fresh, and made after the last call that could charge.
CREATE OR REPLACE FUNCTION unstuck.check_look_up(o jsonb, OUT outcome text, OUT why text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  e    unstuck.evidence;
  most bigint;
BEGIN
  SELECT v.max_evidence_age_s INTO most FROM unstuck.environment v;
  most := least(most, coalesce(unstuck.number(o ->> 'max_evidence_age_s'), most));
  SELECT v.* INTO e FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'evidence_id');
  outcome := 'refused';
  IF NOT FOUND THEN
    why := 'No stored look-up is named. Look the payment up at the provider first.';
  ELSIF e.scope IS DISTINCT FROM o ->> 'scope' OR e.key IS DISTINCT FROM o ->> 'key' THEN
    why := pg_catalog.format('Look-up %s is about another record. Look this one up.', e.id);
  ELSIF e.session_role <> session_user OR e.operator IS DISTINCT FROM o ->> 'operator' THEN
    why := pg_catalog.format('Look-up %s is %s''s. Look the payment up yourself.', e.id, e.operator);
  ELSIF least(e.started_at, e.at) < pg_catalog.clock_timestamp() - interval '1 second' * most THEN
    why := pg_catalog.format('Look-up %s is older than %s s. Look the payment up again.', e.id, most);
  ELSIF least(e.started_at, e.at) < unstuck.service_last_sent(e.scope, e.key) THEN
    why := pg_catalog.format('The provider was called again after look-up %s. Look the payment up again.', e.id);
  ELSE
    outcome := NULL;
  END IF;
END
$body$;

-- The evidence of a charge: a look-up of one's own that found something, no later one contradicts it, and no charge that took money
-- in an earlier one is missing from it.
CREATE OR REPLACE FUNCTION unstuck.check_evidence(o jsonb, OUT outcome text, OUT why text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  e     unstuck.evidence;
  later bigint;
BEGIN
  SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_look_up(o) c;
  IF outcome IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT v.* INTO e FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'evidence_id');
  IF e.outcome <> 'found' THEN
    outcome := 'refused';
    why := pg_catalog.format('Look-up %s found no charge (%s). Nothing can be concluded from it here.', e.id, e.outcome);
    RETURN;
  END IF;
  SELECT n.id INTO later FROM unstuck.evidence n
    WHERE n.scope = e.scope AND n.key = e.key AND n.id > e.id
      AND (n.outcome = 'not_found' OR (n.outcome = 'found' AND unstuck.charges(n.observed) <> unstuck.charges(e.observed)))
    ORDER BY n.id DESC LIMIT 1;
  IF FOUND THEN
    outcome := 'conflict';
    why := pg_catalog.format('A later look-up (%s) saw something else. Read it and make a new plan.', later);
    RETURN;
  END IF;
  SELECT n.id INTO later FROM unstuck.evidence n, LATERAL pg_catalog.jsonb_array_elements(n.observed) AS h(one)
    WHERE n.scope = e.scope AND n.key = e.key AND n.provider = e.provider AND n.id < e.id AND n.outcome = 'found'
      AND h.one ->> 'class' IN ('succeeded', 'reversed')
      AND NOT EXISTS (SELECT 1 FROM pg_catalog.jsonb_array_elements(e.observed) AS s(one) WHERE s.one ->> 'ref' = h.one ->> 'ref')
    ORDER BY n.id DESC LIMIT 1;
  IF FOUND THEN
    outcome := 'refused';
    why := pg_catalog.format('Look-up %s saw a charge that took money, and look-up %s does not show it. Hand over.', later, e.id);
  END IF;
END
$body$;

-- Proof that nothing was charged: two look-ups that could not have missed a charge, far enough apart by our own clock, both after
-- the last possible attempt has settled, and no look-up ever found anything.
CREATE OR REPLACE FUNCTION unstuck.check_absence(k public.idempotency_keys, p public.payments, o jsonb, OUT outcome text, OUT why text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  l       unstuck.limits;
  e       unstuck.evidence;
  f       unstuck.evidence;
  settled timestamptz;
  other   bigint;
BEGIN
  SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_look_up(o) c;
  IF outcome IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT v.* INTO l FROM unstuck.limits v;
  SELECT v.* INTO e FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'evidence_id');
  SELECT v.* INTO f FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'proof_id');
  SELECT n.id INTO other FROM unstuck.evidence n WHERE n.scope = e.scope AND n.key = e.key AND n.outcome = 'found' ORDER BY n.id DESC LIMIT 1;
  settled := unstuck.service_last_attempt(k) + interval '1 second' * greatest(l.settle_s, coalesce(unstuck.number(o ->> 'settle_s'), 0));
  outcome := 'refused';
  IF coalesce(k.provider_ref, p.provider_ref) IS NOT NULL THEN
    why := pg_catalog.format('The record stores charge %s: that the provider does not find it proves nothing. Hand over.', coalesce(k.provider_ref, p.provider_ref));
  ELSIF e.outcome <> 'not_found' OR NOT e.definitive THEN
    why := pg_catalog.format('Look-up %s (%s) is no proof that nothing was charged. Look again.', e.id, e.outcome);
  ELSIF f.id IS NULL OR f.id = e.id THEN
    why := 'One look-up that finds nothing proves nothing. A second one has to agree: look again.';
  ELSIF NOT unstuck.agrees(e, f) THEN
    why := pg_catalog.format('Look-ups %s and %s do not agree. Look again.', f.id, e.id);
  ELSIF other IS NOT NULL THEN
    why := pg_catalog.format('Look-up %s found a charge for this record. Hand over.', other);
  ELSIF least(e.started_at, e.at) <= settled OR least(f.started_at, f.at) <= settled THEN
    why := pg_catalog.format('A charge may have been sent until %s and can show up until %s. Look again after that.',
      pg_catalog.to_char(unstuck.service_last_attempt(k) AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'), pg_catalog.to_char(settled AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'));
  ELSIF e.at - f.at < interval '1 second' * l.absence_gap_s THEN
    why := pg_catalog.format('Look-ups %s and %s are less than %s s apart. Look again later.', f.id, e.id, l.absence_gap_s);
  ELSIF e.at - f.at > interval '1 second' * l.absence_gap_max_s THEN
    why := pg_catalog.format('Look-ups %s and %s are more than %s s apart. Look again twice.', f.id, e.id, l.absence_gap_max_s);
  ELSE
    outcome := NULL;
  END IF;
END
$body$;

-- When the provider may forget the key. An order can only bring the end nearer for a charge, and push it out for a final no.
CREATE OR REPLACE FUNCTION unstuck.key_end(k public.idempotency_keys, p_retention bigint) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT unstuck.service_first_use(k) + interval '1 second' * p_retention
$body$;

-- The other end of a charge: given back whole, after another payment paid the order. ref: the charge's.
CREATE OR REPLACE FUNCTION unstuck.check_reversed(
  k public.idempotency_keys, p public.payments, p_observed jsonb, o jsonb, OUT ref text, OUT outcome text, OUT why text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  stored text := coalesce(k.provider_ref, p.provider_ref);
  place  text;
  other  text;
  moved  bigint;
  unsure bigint;
  mine   jsonb;
BEGIN
  outcome := 'refused';
  SELECT v.kind INTO place FROM unstuck.environment v;
  SELECT
    pg_catalog.count(*) FILTER (WHERE h.moves),
    pg_catalog.count(*) FILTER (WHERE NOT h.moves AND coalesce(h.one ->> 'class', '') <> 'failed')
    INTO moved, unsure
    FROM (
      SELECT DISTINCT d.one, coalesce(d.one ->> 'class', '') IN ('succeeded', 'reversed')
        OR coalesce((d.one ->> 'captured')::bigint, 0) > 0 OR coalesce((d.one ->> 'refunded')::bigint, 0) > 0 AS moves
      FROM pg_catalog.jsonb_array_elements(p_observed) AS d(one)
      WHERE d.one ->> 'provider_key' = k.provider_key OR d.one ->> 'reference' = p.id OR d.one ->> 'ref' = stored
    ) h;
  SELECT d.one INTO mine FROM pg_catalog.jsonb_array_elements(p_observed) AS d(one)
    WHERE d.one ->> 'class' = 'reversed'
      AND (d.one ->> 'provider_key' = k.provider_key OR d.one ->> 'reference' = p.id OR d.one ->> 'ref' = stored)
    LIMIT 1;
  ref := nullif(mine ->> 'ref', '');
  other := unstuck.service_paid_by(p);
  IF mine IS NULL OR ref IS NULL THEN
    why := 'The look-up lists no charge of this record that was given back. Hand over.';
  ELSIF moved > 1 OR unsure > 0 THEN
    why := pg_catalog.format('Beside the charge that was given back, the provider reports %s more of this record. Hand over.', moved + unsure - 1);
  ELSIF (mine ->> 'live')::boolean = (place <> 'production') THEN
    why := pg_catalog.format('The provider answered in the wrong mode (test or live) for a %s environment. Check the provider''s configuration.', place);
  ELSIF stored IS NOT NULL AND ref <> stored THEN
    why := pg_catalog.format('The record stores provider ref %s, the look-up says %s. Hand over.', stored, ref);
  ELSIF o -> 'expect' ->> 'provider_ref' IS DISTINCT FROM ref THEN
    why := pg_catalog.format('The plan names charge %s, the look-up %s. Make a new plan.', coalesce(o -> 'expect' ->> 'provider_ref', '(none)'), ref);
  ELSIF pg_catalog.upper(mine ->> 'currency') IS DISTINCT FROM pg_catalog.upper(p.currency)
      OR coalesce((mine ->> 'refunded')::bigint, (mine ->> 'amount')::bigint) < coalesce((mine ->> 'captured')::bigint, (mine ->> 'amount')::bigint) THEN
    why := pg_catalog.format('Not all of charge %s was given back. Hand over.', ref);
  ELSIF other IS NULL THEN
    why := pg_catalog.format('No other payment paid order %s. A charge that was given back does not end it: hand over.', p.order_id);
  ELSE
    outcome := NULL;
  END IF;
END
$body$;

-- The second person. Needed always for what may lead to a charge or ends a payment without the provider's no; in production also for
-- large amounts. approval: the request to be used up; glass: nobody decided, and the incident could not wait.
CREATE OR REPLACE FUNCTION unstuck.check_approval(
  o jsonb, p_action text, p public.payments, OUT approval bigint, OUT glass boolean, OUT outcome text, OUT why text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  moment timestamptz := pg_catalog.clock_timestamp();
  l      unstuck.limits;
  r      unstuck.approval_request;
  d      unstuck.approval_decision;
  e      unstuck.evidence;
  a      unstuck.evidence;
  place  text;
  most   bigint;
BEGIN
  glass := false;
  SELECT v.kind INTO place FROM unstuck.environment v;
  SELECT v.amount INTO most FROM unstuck.approval_limit v WHERE v.currency = pg_catalog.upper(p.currency);
  IF p_action IN ('adopt', 'fail') AND (place <> 'production' OR p.amount < most) THEN
    RETURN;
  END IF;
  SELECT v.* INTO l FROM unstuck.limits v;
  outcome := 'refused';
  IF o ->> 'approval' IS NULL THEN
    why := 'This needs approval by a second person. Ask for it; act when it is given.';
    RETURN;
  END IF;
  SELECT v.* INTO r FROM unstuck.approval_request v WHERE v.id = unstuck.number(o ->> 'approval');
  IF NOT FOUND THEN
    why := 'There is no such request for approval. Ask for it.';
    RETURN;
  ELSIF r.session_role <> session_user OR r.operator IS DISTINCT FROM o ->> 'operator' THEN
    why := pg_catalog.format('%s asked for approval %s (login %s), and only who asked may act on it.', r.operator, r.id, r.session_role);
    RETURN;
  ELSIF r.action <> p_action OR r.scope IS DISTINCT FROM o ->> 'scope' OR r.key IS DISTINCT FROM o ->> 'key'
      OR r.plan_hash IS DISTINCT FROM o ->> 'plan_hash' OR r.version IS DISTINCT FROM o ->> 'version'
      OR r.attempt IS DISTINCT FROM unstuck.number(o ->> 'attempt') OR r.plan -> 'expect' IS DISTINCT FROM o -> 'expect'
      OR r.plan ->> 'failure_reason' IS DISTINCT FROM o ->> 'failure_reason' THEN
    why := pg_catalog.format('Approval %s is for another plan. Make the plan again and ask for it.', r.id);
    RETURN;
  ELSIF EXISTS (SELECT 1 FROM unstuck.approval_use u WHERE u.request = r.id) THEN
    why := pg_catalog.format('Approval %s was used already. Make a new plan.', r.id);
    RETURN;
  END IF;
  SELECT v.* INTO d FROM unstuck.approval_decision v WHERE v.request = r.id;
  IF d.request IS NOT NULL THEN
    IF d.verdict <> 'approved' THEN
      why := pg_catalog.format('Request %s was %s by %s. Make a new plan.', r.id, d.verdict, d.operator);
      RETURN;
    ELSIF moment > d.at + interval '1 second' * l.act_window_s THEN
      why := pg_catalog.format('%s''s approval was for %s s and is over. Ask again.', d.operator, l.act_window_s);
      RETURN;
    END IF;
  ELSIF p_action <> 'adopt' OR coalesce(pg_catalog.btrim(o ->> 'incident'), '') = '' THEN
    why := pg_catalog.format('Nobody has decided about request %s yet. Wait for a second person.', r.id);
    RETURN;
  ELSIF moment > r.expires_at THEN
    why := pg_catalog.format('Request %s is over. Ask again.', r.id);
    RETURN;
  ELSIF moment < r.at + interval '1 second' * l.break_glass_after_s THEN
    why := pg_catalog.format('A second person has %s s to answer; break-glass opens at %s.', l.break_glass_after_s,
      pg_catalog.to_char((r.at + interval '1 second' * l.break_glass_after_s) AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'));
    RETURN;
  ELSE
    glass := true;
  END IF;
  SELECT v.* INTO e FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'evidence_id');
  SELECT v.* INTO a FROM unstuck.evidence v WHERE v.id = r.evidence_id;
  IF d.evidence_id IS NOT NULL AND e.id < d.evidence_id THEN
    why := pg_catalog.format('Look-up %s was made before %s''s (%s), on which it was approved. Look the payment up again, then act.', e.id, d.operator, d.evidence_id);
  ELSIF unstuck.agrees(e, a) THEN
    approval := r.id;
    outcome := NULL;
  ELSE
    outcome := 'conflict';
    why := pg_catalog.format('The look-up says something else than the one that was approved (%s). Make a new plan.', r.evidence_id);
  END IF;
END
$body$;

-- What the observed charges allow: `succeeded`, `failed`, or nothing. ref: the deciding charge's.
CREATE OR REPLACE FUNCTION unstuck.check_charges(
  k public.idempotency_keys, p public.payments, p_observed jsonb, p_wanted text, o jsonb, OUT ref text, OUT outcome text, OUT why text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  stored text := coalesce(k.provider_ref, p.provider_ref);
  asked  jsonb := o -> 'expect';
  place  text;
  seen   bigint;
  moved  bigint;
  unsure bigint;
  not_no bigint;
  odd    bigint;
  mine   jsonb;
BEGIN
  outcome := 'refused';
  SELECT v.kind INTO place FROM unstuck.environment v;
  SELECT
    pg_catalog.count(*),
    pg_catalog.count(*) FILTER (WHERE h.moves),
    pg_catalog.count(*) FILTER (WHERE NOT h.moves AND coalesce(h.one ->> 'class', '') NOT IN ('failed', 'authorised')),
    pg_catalog.count(*) FILTER (WHERE h.moves OR coalesce(h.one ->> 'class', '') <> 'failed'),
    pg_catalog.count(*) FILTER (WHERE (h.one ->> 'live')::boolean = (place <> 'production'))
    INTO seen, moved, unsure, not_no, odd
    FROM (
      SELECT DISTINCT d.one, coalesce(d.one ->> 'class', '') IN ('succeeded', 'reversed')
        OR coalesce((d.one ->> 'captured')::bigint, 0) > 0 OR coalesce((d.one ->> 'refunded')::bigint, 0) > 0 AS moves
      FROM pg_catalog.jsonb_array_elements(p_observed) AS d(one)
    ) h;
  IF seen = 0 THEN
    why := 'The look-up lists no charge. Look the payment up again.';
    RETURN;
  ELSIF odd > 0 THEN
    why := pg_catalog.format('The provider answered in the wrong mode (test or live) for a %s environment. Check the provider''s configuration.', place);
    RETURN;
  ELSIF moved > 1 THEN
    why := pg_catalog.format('The provider reports %s charges that moved money. That is probably a double charge: open triage.', moved);
    RETURN;
  ELSIF p_wanted = 'succeeded' AND moved = 0 THEN
    why := 'No charge of the look-up moved money. There is nothing to adopt.';
    RETURN;
  ELSIF p_wanted = 'succeeded' AND unsure > 0 THEN
    why := 'Beside the charge, the provider reports one that is not final. Wait and look again.';
    RETURN;
  ELSIF p_wanted = 'failed' AND not_no > 0 THEN
    why := 'Not every charge of the look-up is a final no. Wait and look again; if money moved, make a new plan.';
    RETURN;
  END IF;
  SELECT d.one INTO mine FROM pg_catalog.jsonb_array_elements(p_observed) AS d(one)
    WHERE coalesce(d.one ->> 'class', '') = p_wanted AND (
      d.one ->> 'provider_key' = k.provider_key OR d.one ->> 'reference' = p.id OR d.one ->> 'ref' = stored)
    ORDER BY (d.one ->> 'ref' = asked ->> 'provider_ref') DESC NULLS LAST, d.one ->> 'created_at' DESC NULLS LAST, d.one ->> 'ref'
    LIMIT 1;
  IF NOT FOUND THEN
    why := pg_catalog.format('No charge of the look-up that %s carries this record''s provider key, payment id or stored provider ref. It may be another payment''s: hand over.', p_wanted);
    RETURN;
  END IF;
  ref := nullif(mine ->> 'ref', '');
  IF p_wanted = 'succeeded' AND ref IS NULL THEN
    why := 'The provider gave no id for the charge. Hand over.';
  ELSIF stored IS NOT NULL AND ref IS DISTINCT FROM stored THEN
    why := pg_catalog.format('The record stores provider ref %s, the look-up says %s. Hand over.', stored, coalesce(ref, '(none)'));
  ELSIF asked ->> 'provider_ref' IS DISTINCT FROM ref AND (p_wanted = 'succeeded' OR asked ->> 'provider_ref' IS NOT NULL) THEN
    why := pg_catalog.format('The plan names charge %s, the look-up %s. Make a new plan.', coalesce(asked ->> 'provider_ref', '(none)'), coalesce(ref, '(none)'));
  ELSIF p_wanted = 'succeeded' AND ((mine ->> 'amount')::bigint IS DISTINCT FROM p.amount
      OR pg_catalog.upper(mine ->> 'currency') IS DISTINCT FROM pg_catalog.upper(p.currency)) THEN
    why := pg_catalog.format('The provider charged %s %s (minor units), the payment is %s %s. Hand over.',
      coalesce(mine ->> 'amount', '?'), coalesce(mine ->> 'currency', '?'), p.amount, p.currency);
  ELSIF p_wanted = 'succeeded' AND coalesce((mine ->> 'captured')::bigint, p.amount) <> p.amount THEN
    why := pg_catalog.format('Only %s of %s %s was captured. Hand over.', mine ->> 'captured', p.amount, p.currency);
  ELSIF coalesce((mine ->> 'refunded')::bigint, 0) <> 0 THEN
    why := pg_catalog.format('%s %s of the charge was refunded. Hand over.', mine ->> 'refunded', p.currency);
  ELSE
    outcome := NULL;
  END IF;
END
$body$;

-- Ends an order: one outcome row for an intent that fits, an event otherwise, and the answer.
CREATE OR REPLACE FUNCTION unstuck.answer(
  o jsonb, p_fits boolean, p_outcome text, p_result text, p_why text, p_payment text, p_data jsonb,
  OUT outcome text, OUT why text, OUT log_id bigint, OUT version text, OUT read_back jsonb
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  i unstuck.action_log;
BEGIN
  outcome := p_outcome;
  why := p_why;
  version := unstuck.service_version(o ->> 'scope', o ->> 'key');
  read_back := unstuck.service_read_back(o ->> 'scope', o ->> 'key', p_payment);
  IF p_fits THEN
    SELECT l.* INTO i FROM unstuck.action_log l WHERE l.id = unstuck.number(o ->> 'intent');
    log_id := unstuck.append('outcome', pg_catalog.to_jsonb(i) || pg_catalog.jsonb_build_object('evidence_id', o -> 'evidence_id'),
      p_result, p_why, i.id, coalesce(p_data, '{}'::jsonb) || pg_catalog.jsonb_build_object('read_back', read_back, 'version', version));
  ELSE
    log_id := unstuck.append('event', o, p_result, p_why, NULL, pg_catalog.jsonb_build_object('intent', o -> 'intent'));
  END IF;
END
$body$;

-- The same, when the change was rolled back: the log may be busy too, and then the answer is all there is. What does not fit is a refusal.
CREATE OR REPLACE FUNCTION unstuck.answer_conflict(
  o jsonb, p_fits boolean, p_state text, p_table text,
  OUT outcome text, OUT why text, OUT log_id bigint, OUT version text, OUT read_back jsonb
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  outcome := 'conflict';
  IF p_state = '23505' AND p_table = 'action_log' THEN
    why := 'This intent was closed meanwhile; nothing was changed. Read the record again and make a new plan.';
    RETURN;
  ELSIF p_state = '23505' AND p_table = 'payments' THEN
    outcome := 'refused';
    why := 'Another payment of this order has succeeded; nothing was changed. Open triage.';
  ELSIF pg_catalog.starts_with(p_state, '22') THEN
    outcome := 'refused';
    why := 'A number or a time of the order or the record is out of range; nothing was changed. Hand over.';
  ELSIF p_state = '55P03' THEN
    why := 'Somebody else is working on this record or on the log; nothing was changed. Read it again in a moment.';
  ELSE
    why := 'Another change came first; nothing was changed. Read the record again and make a new plan.';
  END IF;
  BEGIN
    SELECT a.log_id, a.version, a.read_back INTO log_id, version, read_back
      FROM unstuck.answer(o, coalesce(p_fits, false), outcome, outcome, why, o -> 'expect' ->> 'payment_id', NULL) a;
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation THEN
    log_id := NULL;
  END;
END
$body$;

-- 7. What the console may call. Each takes one order (jsonb) and answers in one row.

-- Says what is about to be tried, in a transaction of its own: an intent without an outcome is "unknown until read back".
CREATE OR REPLACE FUNCTION unstuck.do_intent(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  word text := unstuck.action_word(o ->> 'action');
BEGIN
  SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_place(o) c;
  IF outcome IS NULL THEN
    IF word NOT IN ('lookup', 'adopt', 'fail', 'reverse', 'not_charged', 'hand_back', 'ask', 'approve', 'refuse', 'withdraw', 'hold', 'release', 'note',
        'hand_over') THEN
      outcome := 'refused';
      why := pg_catalog.format('There is no action called %s.', coalesce(o ->> 'action', '(none)'));
    ELSIF word NOT IN ('lookup', 'approve', 'refuse') AND NOT pg_catalog.pg_has_role(session_user, 'unstuck_operator', 'MEMBER') THEN
      outcome := 'refused';
      why := pg_catalog.format('This login approves; it is not one of the operators (unstuck_operator), so it cannot %s.', pg_catalog.replace(word, '_', ' '));
    ELSIF coalesce(o ->> 'scope', '') = '' OR coalesce(o ->> 'key', '') = '' THEN
      outcome := 'refused';
      why := 'No record is named: scope and key are both needed.';
    ELSIF coalesce(o ->> 'plan_hash', '') = '' AND word <> 'lookup' THEN
      outcome := 'refused';
      why := 'The plan has no hash. Make a new plan.';
    ELSIF coalesce(pg_catalog.btrim(o ->> 'reason'), '') = '' AND word IN ('adopt', 'fail', 'reverse', 'not_charged', 'hand_back', 'ask', 'hold', 'release', 'hand_over') THEN
      outcome := 'refused';
      why := 'No reason is given. Say why, in a few words.';
    END IF;
  END IF;
  BEGIN
    IF outcome IS NULL THEN
      log_id := unstuck.append('intent', o || pg_catalog.jsonb_build_object('action', word), NULL, NULL, NULL, o - 'evidence');
      outcome := 'done';
    ELSE
      log_id := unstuck.append('event', o, outcome, why, NULL, o - 'evidence');
    END IF;
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation THEN
    outcome := 'conflict';
    why := 'The log is busy; nothing was changed. Try again in a moment.';
    log_id := NULL;
  END;
  RETURN NEXT;
END
$body$;

-- Keeps what a provider answered. Append only; changes nothing of the service's.
CREATE OR REPLACE FUNCTION unstuck.do_evidence(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  v     jsonb := o -> 'evidence';
  i     unstuck.action_log;
  fits  boolean := false;
  given bigint;
BEGIN
  BEGIN
    PERFORM unstuck.lock_log();
    IF o ->> 'intent' IS NULL THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_place(o) c;
    ELSE
      SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, 'lookup') c;
    END IF;
    IF outcome IS NULL THEN
      outcome := 'refused';
      IF coalesce(o ->> 'scope', '') = '' OR coalesce(o ->> 'key', '') = '' THEN
        why := 'No record is named: scope and key are both needed.';
      ELSIF coalesce(v ->> 'outcome', '') NOT IN ('found', 'not_found', 'unreachable') OR coalesce(v ->> 'provider', '') = ''
          OR v ->> 'started_at' IS NULL THEN
        why := 'The evidence must say which provider was asked, when, and with which outcome.';
      ELSIF pg_catalog.jsonb_typeof(coalesce(v -> 'observed', '[]'::jsonb)) <> 'array' THEN
        why := 'The observed charges must be a list.';
      ELSIF EXISTS (
          SELECT 1 FROM pg_catalog.jsonb_array_elements(coalesce(v -> 'observed', '[]'::jsonb)) AS h(one),
            LATERAL (VALUES (h.one -> 'amount'), (h.one -> 'captured'), (h.one -> 'refunded')) AS m(money)
          WHERE pg_catalog.jsonb_typeof(h.one) <> 'object'
            OR (pg_catalog.jsonb_typeof(m.money) <> 'null' AND (pg_catalog.jsonb_typeof(m.money) <> 'number' OR m.money::text !~ '^-?[0-9]{1,18}$'))
            OR coalesce(pg_catalog.jsonb_typeof(h.one -> 'live'), 'null') NOT IN ('null', 'boolean')) THEN
        why := 'An observed charge has an amount that is not a whole number of minor units.';
      ELSE
        outcome := NULL;
      END IF;
    END IF;
    IF outcome IS NULL THEN
      INSERT INTO unstuck.evidence (at, scope, key, operator, session_role, provider, started_at, outcome, definitive, why, observed, steps, intent_id)
        VALUES (pg_catalog.clock_timestamp(), o ->> 'scope', o ->> 'key', o ->> 'operator', session_user, v ->> 'provider',
          (v ->> 'started_at')::timestamptz, v ->> 'outcome', coalesce((v ->> 'definitive')::boolean, false), v ->> 'why',
          coalesce(nullif(v -> 'observed', 'null'::jsonb), '[]'::jsonb), coalesce(nullif(v -> 'steps', 'null'::jsonb), '[]'::jsonb),
          unstuck.number(o ->> 'intent'))
        RETURNING id INTO given;
      outcome := 'done';
      why := v ->> 'why';
      read_back := pg_catalog.jsonb_build_object('evidence_id', given);
      IF fits THEN
        SELECT l.* INTO i FROM unstuck.action_log l WHERE l.id = unstuck.number(o ->> 'intent');
        log_id := unstuck.append('outcome', pg_catalog.to_jsonb(i) || pg_catalog.jsonb_build_object('evidence_id', given), v ->> 'outcome', why, i.id, read_back);
      ELSE
        log_id := unstuck.append('event', o || pg_catalog.jsonb_build_object('action', 'lookup', 'evidence_id', given), v ->> 'outcome', why, NULL, read_back);
      END IF;
      version := unstuck.service_version(o ->> 'scope', o ->> 'key');
    ELSE
      SELECT a.log_id, a.version INTO log_id, version FROM unstuck.answer(o, fits, outcome, outcome, why, NULL, NULL) a;
    END IF;
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation THEN
    outcome := 'conflict';
    why := 'The log is busy; the look-up was not stored. Look the payment up again.';
    log_id := NULL;
    read_back := NULL;
  WHEN data_exception THEN
    outcome := 'refused';
    why := 'The evidence has a time or a number that cannot be read.';
    log_id := NULL;
    read_back := NULL;
  END;
  RETURN NEXT;
END
$body$;

-- The payment a plan names: open, of this key and order, over the amount the plan says.
CREATE OR REPLACE FUNCTION unstuck.check_payment(o jsonb, k public.idempotency_keys, p public.payments, p_wanted text, OUT outcome text, OUT why text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  outcome := 'refused';
  IF p.id IS NULL THEN
    why := 'The payment the plan names does not carry this key. Hand over.';
  ELSIF p.status NOT IN ('created', 'pending', 'unknown') THEN
    why := pg_catalog.format('Payment %s is already %s, and no edge leaves that state. Open triage.', p.id, p.status);
  ELSIF (p_wanted <> 'failed' OR o -> 'expect' ->> 'amount' IS NOT NULL) AND (unstuck.number(o -> 'expect' ->> 'amount') IS DISTINCT FROM p.amount
      OR o -> 'expect' ->> 'currency' IS DISTINCT FROM p.currency) THEN
    why := pg_catalog.format('The plan is for another amount than the payment''s %s %s (minor units). Make a new plan.', p.amount, p.currency);
  ELSIF k.order_id IS NOT NULL AND k.order_id <> p.order_id THEN
    why := pg_catalog.format('The record belongs to order %s, its payment to order %s. Hand over.', k.order_id, p.order_id);
  ELSE
    outcome := NULL;
  END IF;
END
$body$;

-- Finishes a record. p_wanted: `succeeded` or `failed` with the provider's final answer; `reversed` and `not charged` end as failed,
-- with approval. All four resumes are this one.
CREATE OR REPLACE FUNCTION unstuck.resume(o jsonb, p_action text, p_wanted text)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  fits     boolean := false;
  k        public.idempotency_keys;
  p        public.payments;
  e        unstuck.evidence;
  l        unstuck.limits;
  ref      text;
  approval bigint;
  glass    boolean := false;
  closed   timestamptz;
  words    text;
  who      text := 'operator:' || (o ->> 'operator');
  moment   timestamptz;
  state    text;
  broken   text;
BEGIN
  BEGIN
    k := unstuck.service_lock(o ->> 'scope', o ->> 'key');
    PERFORM unstuck.lock_log();
    SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, p_action) c;
    IF outcome IS NULL THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_record(o, k) c;
    END IF;
    IF outcome IS NULL THEN
      p := unstuck.service_payment(k.scope, k.key, o -> 'expect' ->> 'payment_id');
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_payment(o, k, p, p_wanted) c;
    END IF;
    IF outcome IS NULL AND p_wanted = 'failed' AND coalesce(pg_catalog.btrim(o ->> 'failure_reason'), '') = '' THEN
      outcome := 'refused';
      why := 'The provider''s reason for the failure is missing. Look the payment up again.';
    END IF;
    IF outcome IS NULL AND p_wanted = 'not charged' THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_absence(k, p, o) c;
    ELSIF outcome IS NULL THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_evidence(o) c;
    END IF;
    SELECT v.* INTO e FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'evidence_id');
    IF outcome IS NULL AND e.provider IS DISTINCT FROM p.provider THEN
      outcome := 'refused';
      why := pg_catalog.format('The look-up asked %s, the payment is at %s. Look it up there.', e.provider, p.provider);
    END IF;
    IF outcome IS NULL AND p_wanted IN ('succeeded', 'failed') THEN
      SELECT c.ref, c.outcome, c.why INTO ref, outcome, why FROM unstuck.check_charges(k, p, e.observed, p_wanted, o) c;
    ELSIF outcome IS NULL AND p_wanted = 'reversed' THEN
      SELECT c.ref, c.outcome, c.why INTO ref, outcome, why FROM unstuck.check_reversed(k, p, e.observed, o) c;
    ELSIF outcome IS NULL THEN
      SELECT v.* INTO l FROM unstuck.limits v;
      closed := unstuck.key_end(k, greatest(l.max_key_retention_s, unstuck.number(o ->> 'key_retention_s')))
        + interval '1 second' * greatest(l.settle_s, coalesce(unstuck.number(o ->> 'settle_s'), 0));
      IF pg_catalog.clock_timestamp() <= closed THEN
        outcome := 'refused';
        why := pg_catalog.format('The provider may know the key until %s, so a charge is still possible. Hand back, or wait.',
          pg_catalog.to_char(closed AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'));
      END IF;
    END IF;
    IF outcome IS NULL THEN
      why := unstuck.service_objection(p, ref, p_wanted);
      outcome := CASE WHEN why IS NOT NULL THEN 'refused' END;
    END IF;
    IF outcome IS NULL THEN
      SELECT c.approval, c.glass, c.outcome, c.why INTO approval, glass, outcome, why FROM unstuck.check_approval(o, p_action, p) c;
    END IF;
    IF outcome IS NULL THEN
      moment := pg_catalog.clock_timestamp();
      IF approval IS NOT NULL THEN
        INSERT INTO unstuck.approval_use (request, at, break_glass, intent_id) VALUES (approval, moment, glass, unstuck.number(o ->> 'intent'));
      END IF;
      words := CASE p_wanted
        WHEN 'succeeded' THEN 'adopted charge ' || ref || ' on look-up ' || e.id::text
        WHEN 'failed' THEN o ->> 'failure_reason'
        WHEN 'reversed' THEN 'reversed: charge ' || ref || ' was given back, payment ' || unstuck.service_paid_by(p) || ' paid the order'
        ELSE 'not charged: look-ups ' || (o ->> 'proof_id') || ' and ' || e.id::text || ' found no charge, and the key is over'
      END;
      k := unstuck.service_take(k, who, moment + interval '1 minute', moment,
        CASE p_wanted WHEN 'succeeded' THEN 'adopted' ELSE p_wanted END);
      PERFORM unstuck.service_finish(k, p, CASE p_wanted WHEN 'succeeded' THEN 'succeeded' ELSE 'failed' END, ref,
        CASE p_wanted WHEN 'succeeded' THEN 201 ELSE 402 END, words, who, moment);
      outcome := 'done';
      why := CASE WHEN glass THEN pg_catalog.format('BREAK GLASS, incident %s: nobody had decided about request %s', pg_catalog.btrim(o ->> 'incident'), approval) END;
    END IF;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer(o, fits, outcome, outcome, why, p.id,
        pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('attempt', k.attempt, 'expect', o -> 'expect', 'approval', approval,
          'break_glass', CASE WHEN glass THEN o ->> 'incident' END,
          'proof', CASE WHEN p_wanted = 'not charged' THEN pg_catalog.jsonb_build_array(o -> 'proof_id', o -> 'evidence_id') END))) a;
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation OR data_exception THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, broken = TABLE_NAME;
    SELECT c.fits INTO fits FROM unstuck.check_intent(o, p_action) c;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer_conflict(o, fits, state, broken) a;
  END;
  RETURN NEXT;
END
$body$;

CREATE OR REPLACE FUNCTION unstuck.do_adopt(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT r.outcome, r.why, r.log_id, r.version, r.read_back FROM unstuck.resume(o, 'adopt', 'succeeded') r
$body$;

CREATE OR REPLACE FUNCTION unstuck.do_fail(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT r.outcome, r.why, r.log_id, r.version, r.read_back FROM unstuck.resume(o, 'fail', 'failed') r
$body$;

-- Finish as reversed: another payment paid the order, and this one's charge was given back. FAILED, the ref is kept.
CREATE OR REPLACE FUNCTION unstuck.do_reverse(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT r.outcome, r.why, r.log_id, r.version, r.read_back FROM unstuck.resume(o, 'reverse', 'reversed') r
$body$;

-- Finish as not charged: nothing was charged, and the provider has forgotten the key. FAILED, the proof is kept.
CREATE OR REPLACE FUNCTION unstuck.do_not_charged(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT r.outcome, r.why, r.log_id, r.version, r.read_back FROM unstuck.resume(o, 'not_charged', 'not charged') r
$body$;

-- Gives a record back to the service's own recoverer, which looks up again and may charge with the same provider key. Takes no lease.
CREATE OR REPLACE FUNCTION unstuck.do_hand_back(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  fits     boolean := false;
  k        public.idempotency_keys;
  p        public.payments;
  e        unstuck.evidence;
  l        unstuck.limits;
  approval bigint;
  moment   timestamptz;
  until    timestamptz;
  given    bigint;
  waits     bigint;
  data     jsonb;
  state    text;
  broken   text;
BEGIN
  BEGIN
    k := unstuck.service_lock(o ->> 'scope', o ->> 'key');
    PERFORM unstuck.lock_log();
    SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, 'hand_back') c;
    IF outcome IS NULL THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_record(o, k) c;
    END IF;
    IF outcome IS NULL AND k.locked_until > pg_catalog.clock_timestamp() THEN
      outcome := 'refused';
      why := 'You hold this record, so the recoverer could not take it. Release it, look again, and ask anew.';
    END IF;
    IF outcome IS NULL THEN
      p := unstuck.service_payment(k.scope, k.key, o -> 'expect' ->> 'payment_id');
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_payment(o, k, p, 'charged') c;
    END IF;
    IF outcome IS NULL THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_absence(k, p, o) c;
      SELECT v.* INTO e FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'evidence_id');
    END IF;
    IF outcome IS NULL THEN
      SELECT v.* INTO l FROM unstuck.limits v;
      moment := pg_catalog.clock_timestamp();
      until := least(moment + interval '1 second' * l.resume_life_s,
        unstuck.key_end(k, least(l.max_key_retention_s, unstuck.number(o ->> 'key_retention_s')))
          - interval '1 second' * greatest(l.key_margin_s, coalesce(unstuck.number(o ->> 'key_margin_s'), 0)));
      SELECT q.id INTO waits FROM unstuck.resume_request q
        WHERE q.scope = k.scope AND q.key = k.key AND q.not_after > moment
          AND NOT EXISTS (SELECT 1 FROM unstuck.resume_event v WHERE v.request = q.id AND v.event <> 'taken')
        ORDER BY q.id DESC LIMIT 1;
      why := unstuck.service_objection(p, NULL, 'succeeded');
      IF e.provider IS DISTINCT FROM p.provider THEN
        outcome := 'refused';
        why := pg_catalog.format('The look-up asked %s, the payment is at %s. Look it up there.', e.provider, p.provider);
      ELSIF coalesce(k.provider_key, '') = '' THEN
        outcome := 'refused';
        why := 'The record stores no provider key, so a second charge could not be told from the first. Hand over.';
      ELSIF why IS NOT NULL THEN
        outcome := 'refused';
      ELSIF coalesce(unstuck.number(o ->> 'key_retention_s'), 0) < 1 THEN
        outcome := 'refused';
        why := 'How long the provider remembers the key is not known. Hand over.';
      ELSIF until <= moment THEN
        outcome := 'refused';
        why := 'The provider may forget the key at any moment: a charge with it could be a second one. Wait, then finish as not charged.';
      ELSIF waits IS NOT NULL THEN
        outcome := 'refused';
        why := pg_catalog.format('The record was handed back already (request %s). Wait for the recoverer, or withdraw it.', waits);
      END IF;
    END IF;
    IF outcome IS NULL THEN
      SELECT c.approval, c.outcome, c.why INTO approval, outcome, why FROM unstuck.check_approval(o, 'hand_back', p) c;
    END IF;
    IF outcome IS NULL THEN
      INSERT INTO unstuck.approval_use (request, at, break_glass, intent_id) VALUES (approval, moment, false, unstuck.number(o ->> 'intent'));
      INSERT INTO unstuck.resume_request (at, scope, key, payment_id, order_id, amount, currency, version, attempt, approval, plan_hash, evidence_id,
          proof_id, operator, session_role, reason, ticket, not_after, intent_id)
        VALUES (moment, k.scope, k.key, p.id, p.order_id, p.amount, p.currency, o ->> 'version', k.attempt, approval, o ->> 'plan_hash', e.id,
          unstuck.number(o ->> 'proof_id'), o ->> 'operator', session_user, coalesce(o ->> 'reason', ''), nullif(o ->> 'ticket', ''), until, unstuck.number(o ->> 'intent'))
        RETURNING id INTO given;
      PERFORM pg_catalog.pg_notify('unstuck_resume', given::text);
      outcome := 'done';
      why := pg_catalog.format('request %s, to be taken up until %s', given, pg_catalog.to_char(until AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'));
      data := pg_catalog.jsonb_build_object('resume_id', given, 'not_after', until, 'approval', approval,
        'proof', pg_catalog.jsonb_build_array(o -> 'proof_id', o -> 'evidence_id'));
    END IF;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer(o, fits, outcome, outcome, why, p.id, data) a;
    read_back := coalesce(read_back, '{}'::jsonb) || coalesce(data, '{}'::jsonb);
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation OR data_exception THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, broken = TABLE_NAME;
    SELECT c.fits INTO fits FROM unstuck.check_intent(o, 'hand_back') c;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer_conflict(o, fits, state, broken) a;
  END;
  RETURN NEXT;
END
$body$;

-- Asks a second person: keeps the plan whole. The plan's hash is computed here again, and must be over what the order says.
CREATE OR REPLACE FUNCTION unstuck.do_ask(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  fits   boolean := false;
  word   text := unstuck.action_word(o ->> 'for_action');
  plan   jsonb := o -> 'plan';
  parts  jsonb := o -> 'plan' -> 'hashed';
  k      public.idempotency_keys;
  p      public.payments;
  e      unstuck.evidence;
  l      unstuck.limits;
  waits   bigint;
  given  bigint;
  moment timestamptz;
  until  timestamptz;
  data   jsonb;
  state  text;
  broken text;
BEGIN
  BEGIN
    k := unstuck.service_lock(o ->> 'scope', o ->> 'key');
    PERFORM unstuck.lock_log();
    SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, 'ask') c;
    IF outcome IS NULL THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_record(o, k) c;
    END IF;
    IF outcome IS NULL THEN
      outcome := 'refused';
      IF word NOT IN ('adopt', 'fail', 'hand_back', 'reverse', 'not_charged') THEN
        why := pg_catalog.format('Nothing called %s is approved.', coalesce(o ->> 'for_action', '(none)'));
      ELSIF coalesce(pg_catalog.jsonb_typeof(plan), '') <> 'object' OR unstuck.plan_hash(parts) IS DISTINCT FROM o ->> 'plan_hash'
          OR plan ->> 'hash' IS DISTINCT FROM o ->> 'plan_hash' THEN
        why := 'The plan does not fit its hash. Make a new plan.';
      ELSIF parts ->> 0 IS DISTINCT FROM o ->> 'scope' OR parts ->> 1 IS DISTINCT FROM o ->> 'key' OR parts ->> 2 IS DISTINCT FROM o ->> 'version'
          OR parts ->> 3 IS DISTINCT FROM o ->> 'attempt' OR parts ->> 4 IS DISTINCT FROM word OR parts ->> 5 IS DISTINCT FROM o ->> 'environment'
          OR parts ->> 6 IS DISTINCT FROM o ->> 'operator' OR plan -> 'expect' IS DISTINCT FROM o -> 'expect' THEN
        why := 'The plan is for something else than the order. Make a new plan.';
      ELSIF word = 'hand_back' AND k.locked_until > pg_catalog.clock_timestamp() THEN
        why := 'You hold this record, so the recoverer could not take it. Release it, look again, and ask anew.';
      ELSE
        outcome := NULL;
      END IF;
    END IF;
    IF outcome IS NULL THEN
      p := unstuck.service_payment(k.scope, k.key, o -> 'expect' ->> 'payment_id');
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_payment(o, k, p, word) c;
    END IF;
    IF outcome IS NULL THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_look_up(o) c;
      SELECT v.* INTO e FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'evidence_id');
    END IF;
    IF outcome IS NULL THEN
      moment := pg_catalog.clock_timestamp();
      SELECT r.id INTO waits FROM unstuck.approval_request r
        WHERE r.scope = k.scope AND r.key = k.key AND r.plan_hash = o ->> 'plan_hash' AND r.expires_at > moment
          AND NOT EXISTS (SELECT 1 FROM unstuck.approval_decision d WHERE d.request = r.id)
          AND NOT EXISTS (SELECT 1 FROM unstuck.approval_use u WHERE u.request = r.id)
        ORDER BY r.id DESC LIMIT 1;
      IF e.outcome IS DISTINCT FROM (CASE WHEN word IN ('hand_back', 'not_charged') THEN 'not_found' ELSE 'found' END) THEN
        outcome := 'refused';
        why := pg_catalog.format('Look-up %s (%s) is no ground for this plan. Look again and make a new plan.', e.id, e.outcome);
      ELSIF waits IS NOT NULL THEN
        outcome := 'refused';
        why := pg_catalog.format('The same plan waits for approval already (request %s). Wait, or withdraw it.', waits);
      END IF;
    END IF;
    IF outcome IS NULL THEN
      SELECT v.* INTO l FROM unstuck.limits v;
      until := moment + interval '1 second' * greatest(1, least(l.approval_wait_s, coalesce(unstuck.number(o ->> 'wait_s'), l.approval_wait_s)));
      INSERT INTO unstuck.approval_request (at, action, scope, key, payment_id, order_id, amount, currency, version, attempt, plan_hash, plan, evidence_id,
          operator, session_role, reason, ticket, expires_at, intent_id)
        VALUES (moment, word, k.scope, k.key, p.id, p.order_id, p.amount, p.currency, o ->> 'version', k.attempt, o ->> 'plan_hash', plan, e.id,
          o ->> 'operator', session_user, o ->> 'reason', nullif(o ->> 'ticket', ''), until, unstuck.number(o ->> 'intent'))
        RETURNING id INTO given;
      outcome := 'done';
      why := pg_catalog.format('request %s waits for approval until %s', given, pg_catalog.to_char(until AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'));
      data := pg_catalog.jsonb_build_object('request_id', given, 'expires_at', until);
    END IF;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer(o, fits, outcome, outcome, why, p.id, data) a;
    read_back := coalesce(read_back, '{}'::jsonb) || coalesce(data, '{}'::jsonb);
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation OR data_exception THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, broken = TABLE_NAME;
    SELECT c.fits INTO fits FROM unstuck.check_intent(o, 'ask') c;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer_conflict(o, fits, state, broken) a;
  END;
  RETURN NEXT;
END
$body$;

-- The second person's answer. Never the asker's own, by login and by name; an approval rests on a look-up of the approver's own.
CREATE OR REPLACE FUNCTION unstuck.do_decide(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  fits    boolean := false;
  verdict text := o ->> 'verdict';
  word    text := CASE o ->> 'verdict' WHEN 'approved' THEN 'approve' ELSE 'refuse' END;
  k       public.idempotency_keys;
  r       unstuck.approval_request;
  d       unstuck.approval_decision;
  e       unstuck.evidence;
  a       unstuck.evidence;
  other   bigint;
  moment  timestamptz;
  data    jsonb;
  state   text;
  broken  text;
BEGIN
  BEGIN
    k := unstuck.service_lock(o ->> 'scope', o ->> 'key');
    PERFORM unstuck.lock_log();
    SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, word) c;
    SELECT v.* INTO r FROM unstuck.approval_request v
      WHERE v.id = unstuck.number(o ->> 'request') AND v.scope = o ->> 'scope' AND v.key = o ->> 'key';
    SELECT v.* INTO d FROM unstuck.approval_decision v WHERE v.request = r.id;
    SELECT v.* INTO a FROM unstuck.evidence v WHERE v.id = r.evidence_id;
    moment := pg_catalog.clock_timestamp();
    IF outcome IS NULL THEN
      outcome := 'refused';
      IF verdict IS NULL OR verdict NOT IN ('approved', 'refused') THEN
        why := 'The answer is approved or refused, nothing else.';
      ELSIF r.id IS NULL THEN
        why := 'There is no such request for approval. Read the list again.';
      ELSIF r.plan_hash IS DISTINCT FROM o ->> 'plan_hash' THEN
        why := pg_catalog.format('Request %s is for another plan (%s). Read it again.', r.id, pg_catalog.left(r.plan_hash, 6));
      ELSIF r.session_role = session_user THEN
        why := pg_catalog.format('Request %s was made with this very login (%s). Approval is a second person''s, with a login of their own.', r.id, r.session_role);
      ELSIF pg_catalog.lower(pg_catalog.btrim(r.operator)) = pg_catalog.lower(pg_catalog.btrim(o ->> 'operator')) THEN
        why := pg_catalog.format('%s asked for this. Nobody decides about their own plan.', r.operator);
      ELSIF NOT pg_catalog.pg_has_role(session_user, 'unstuck_approver', 'MEMBER') THEN
        why := 'This login is not one of the approvers (unstuck_approver). Ask one of them.';
      ELSIF d.request IS NOT NULL THEN
        outcome := 'conflict';
        why := pg_catalog.format('Request %s was %s by %s already.', r.id, d.verdict, d.operator);
      ELSIF EXISTS (SELECT 1 FROM unstuck.approval_use u WHERE u.request = r.id) THEN
        outcome := 'conflict';
        why := pg_catalog.format('Request %s was acted on without waiting (break-glass).', r.id);
      ELSIF moment > r.expires_at THEN
        why := pg_catalog.format('Request %s is over. Whoever asked may ask again.', r.id);
      ELSE
        outcome := NULL;
      END IF;
    END IF;
    IF outcome IS NULL AND verdict = 'approved' THEN
      IF k.scope IS NULL OR k.status <> 'processing' OR unstuck.service_version(k.scope, k.key) <> r.version OR k.attempt <> r.attempt THEN
        outcome := 'conflict';
        why := 'The record or its payment changed since the plan was made. Whoever asked must make a new plan.';
      ELSIF k.locked_until > moment AND k.locked_by IS DISTINCT FROM 'operator:' || r.operator THEN
        outcome := 'refused';
        why := pg_catalog.format('%s holds the lease and may be at work on it. Wait, then read it again.', coalesce(k.locked_by, 'Somebody'));
      ELSE
        SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_look_up(o) c;
      END IF;
    END IF;
    IF outcome IS NULL AND verdict = 'approved' THEN
      SELECT v.* INTO e FROM unstuck.evidence v WHERE v.id = unstuck.number(o ->> 'evidence_id');
      SELECT n.id INTO other FROM unstuck.evidence n
        WHERE n.scope = r.scope AND n.key = r.key AND n.id > a.id AND n.outcome <> 'unreachable' AND NOT unstuck.agrees(n, a) ORDER BY n.id DESC LIMIT 1;
      IF NOT unstuck.agrees(e, a) THEN
        outcome := 'conflict';
        why := pg_catalog.format('Your look-up (%s) and the asker''s (%s) do not say the same. Refuse, or look again.', e.id, a.id);
      ELSIF other IS NOT NULL THEN
        outcome := 'conflict';
        why := pg_catalog.format('Look-up %s says something else than the asker''s (%s). Refuse, or look again.', other, a.id);
      END IF;
    END IF;
    IF outcome IS NULL THEN
      INSERT INTO unstuck.approval_decision (request, at, verdict, operator, session_role, evidence_id, reason, intent_id)
        VALUES (r.id, moment, verdict, o ->> 'operator', session_user, CASE verdict WHEN 'approved' THEN e.id END, nullif(pg_catalog.btrim(o ->> 'reason'), ''),
          unstuck.number(o ->> 'intent'));
      outcome := 'done';
      why := pg_catalog.format('request %s of %s %s', r.id, r.operator, verdict);
      data := pg_catalog.jsonb_build_object('request_id', r.id, 'verdict', verdict, 'asker', r.operator);
    END IF;
    SELECT w.outcome, w.why, w.log_id, w.version, w.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer(o, fits, outcome, outcome, why, NULL, data) w;
    read_back := coalesce(read_back, '{}'::jsonb) || coalesce(data, '{}'::jsonb);
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation OR data_exception THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, broken = TABLE_NAME;
    SELECT c.fits INTO fits FROM unstuck.check_intent(o, word) c;
    SELECT w.outcome, w.why, w.log_id, w.version, w.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer_conflict(o, fits, state, broken) w;
  END;
  RETURN NEXT;
END
$body$;

-- Takes back a question that nobody answered (the asker's own), or a hand back that nobody took up (anybody's: it only prevents).
CREATE OR REPLACE FUNCTION unstuck.do_withdraw(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  fits   boolean := false;
  k      public.idempotency_keys;
  r      unstuck.approval_request;
  d      unstuck.approval_decision;
  q      unstuck.resume_request;
  v      unstuck.resume_event;
  moment timestamptz;
  data   jsonb;
  state  text;
  broken text;
BEGIN
  BEGIN
    -- The record's lock is what a recoverer's take waits for, and the other way round.
    k := unstuck.service_lock(o ->> 'scope', o ->> 'key');
    PERFORM unstuck.lock_log();
    SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, 'withdraw') c;
    moment := pg_catalog.clock_timestamp();
    IF outcome IS NULL AND o ->> 'request' IS NOT NULL THEN
      SELECT x.* INTO r FROM unstuck.approval_request x
        WHERE x.id = unstuck.number(o ->> 'request') AND x.scope = o ->> 'scope' AND x.key = o ->> 'key' AND x.plan_hash = o ->> 'plan_hash';
      SELECT x.* INTO d FROM unstuck.approval_decision x WHERE x.request = r.id;
      IF r.id IS NULL THEN
        outcome := 'refused';
        why := 'There is no such request for approval. Read the list again.';
      ELSIF r.session_role <> session_user OR r.operator IS DISTINCT FROM o ->> 'operator' THEN
        outcome := 'refused';
        why := pg_catalog.format('Only %s may withdraw request %s. An approver refuses it instead.', r.operator, r.id);
      ELSIF d.request IS NOT NULL THEN
        outcome := 'conflict';
        why := pg_catalog.format('Request %s was %s by %s already.', r.id, d.verdict, d.operator);
      ELSIF EXISTS (SELECT 1 FROM unstuck.approval_use u WHERE u.request = r.id) THEN
        outcome := 'conflict';
        why := pg_catalog.format('Request %s was acted on without waiting (break-glass).', r.id);
      ELSIF moment > r.expires_at THEN
        outcome := 'refused';
        why := pg_catalog.format('Request %s is over: nobody answered in time. There is nothing to take back.', r.id);
      ELSE
        INSERT INTO unstuck.approval_decision (request, at, verdict, operator, session_role, evidence_id, reason, intent_id)
          VALUES (r.id, moment, 'withdrawn', o ->> 'operator', session_user, NULL, nullif(pg_catalog.btrim(o ->> 'reason'), ''), unstuck.number(o ->> 'intent'));
        outcome := 'done';
        data := pg_catalog.jsonb_build_object('request_id', r.id, 'verdict', 'withdrawn');
      END IF;
    ELSIF outcome IS NULL THEN
      SELECT x.* INTO q FROM unstuck.resume_request x
        WHERE x.id = unstuck.number(o ->> 'resume') AND x.scope = o ->> 'scope' AND x.key = o ->> 'key' AND x.plan_hash = o ->> 'plan_hash';
      SELECT x.* INTO v FROM unstuck.resume_event x WHERE x.request = q.id ORDER BY x.id DESC LIMIT 1;
      IF q.id IS NULL THEN
        outcome := 'refused';
        why := 'There is no such hand back. Read the list again.';
      ELSIF v.id IS NOT NULL THEN
        outcome := 'conflict';
        why := pg_catalog.format('Hand back %s was %s by %s already.', q.id, v.event, coalesce(v.worker, v.session_role));
      ELSE
        INSERT INTO unstuck.resume_event (request, at, event, worker, session_role, detail)
          VALUES (q.id, moment, 'withdrawn', 'operator:' || (o ->> 'operator'), session_user, nullif(pg_catalog.btrim(o ->> 'reason'), ''));
        outcome := 'done';
        data := pg_catalog.jsonb_build_object('resume_id', q.id, 'event', 'withdrawn');
      END IF;
    END IF;
    SELECT w.outcome, w.why, w.log_id, w.version, w.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer(o, fits, outcome, outcome, why, NULL, data) w;
    read_back := coalesce(read_back, '{}'::jsonb) || coalesce(data, '{}'::jsonb);
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation OR data_exception THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, broken = TABLE_NAME;
    SELECT c.fits INTO fits FROM unstuck.check_intent(o, 'withdraw') c;
    SELECT w.outcome, w.why, w.log_id, w.version, w.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer_conflict(o, fits, state, broken) w;
  END;
  RETURN NEXT;
END
$body$;

-- Gives an expired lease a person for a holder, so that no sweeper and no retry takes it meanwhile. Renewable once, and never so late
-- that the record comes out of it with a key the provider may forget.
CREATE OR REPLACE FUNCTION unstuck.do_hold(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  fits   boolean := false;
  k      public.idempotency_keys;
  who    text := 'operator:' || (o ->> 'operator');
  most   bigint;
  l      unstuck.limits;
  ends   timestamptz;
  edge   timestamptz;
  moment timestamptz;
  state  text;
  broken text;
BEGIN
  BEGIN
    k := unstuck.service_lock(o ->> 'scope', o ->> 'key');
    PERFORM unstuck.lock_log();
    SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, 'hold') c;
    IF outcome IS NULL THEN
      SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_record(o, k) c;
    END IF;
    SELECT v.max_hold_s INTO most FROM unstuck.environment v;
    most := least(most, coalesce(unstuck.number(o ->> 'hold_seconds'), most));
    IF outcome IS NULL THEN
      SELECT v.* INTO l FROM unstuck.limits v;
      moment := pg_catalog.clock_timestamp();
      ends := unstuck.key_end(k, least(l.max_key_retention_s, coalesce(unstuck.number(o ->> 'key_retention_s'), l.max_key_retention_s)));
      edge := ends - interval '1 second' * greatest(l.key_margin_s, coalesce(unstuck.number(o ->> 'key_margin_s'), 0));
      outcome := 'refused';
      IF most < 1 THEN
        why := 'A hold must last at least a second.';
      ELSIF moment < ends AND moment + interval '1 second' * most > edge THEN
        why := pg_catalog.format('The provider may forget the key at %s: a hold must end before %s. Resume the record, or hand over.',
          pg_catalog.to_char(ends AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
          pg_catalog.to_char(edge AT TIME ZONE 'UTC', 'HH24:MI "UTC"'));
      ELSIF k.locked_by = who AND unstuck.service_holds(k) >= 2 THEN
        why := 'This hold was already renewed once. Release the record, or resume it.';
      ELSE
        outcome := NULL;
      END IF;
    END IF;
    IF outcome IS NULL THEN
      k := unstuck.service_take(k, who, moment + interval '1 second' * most, moment, 'held');
      outcome := 'done';
    END IF;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer(o, fits, outcome, outcome, why, NULL, pg_catalog.jsonb_build_object('attempt', k.attempt, 'until', k.locked_until)) a;
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation OR data_exception THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, broken = TABLE_NAME;
    SELECT c.fits INTO fits FROM unstuck.check_intent(o, 'hold') c;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer_conflict(o, fits, state, broken) a;
  END;
  RETURN NEXT;
END
$body$;

-- Ends a hold, one's own or a colleague's: a hold must never outlive the person who forgot it.
CREATE OR REPLACE FUNCTION unstuck.do_release(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  fits   boolean := false;
  k      public.idempotency_keys;
  state  text;
  broken text;
BEGIN
  BEGIN
    k := unstuck.service_lock(o ->> 'scope', o ->> 'key');
    PERFORM unstuck.lock_log();
    SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, 'release') c;
    IF outcome IS NULL THEN
      IF k.scope IS NULL THEN
        outcome := 'refused';
        why := 'There is no record for this scope and key any more. Hand over.';
      ELSIF unstuck.service_version(k.scope, k.key) IS DISTINCT FROM o ->> 'version' OR k.attempt IS DISTINCT FROM unstuck.number(o ->> 'attempt') THEN
        outcome := 'conflict';
        why := 'The record or its payment changed since the plan was made. Read it again and make a new plan.';
      ELSIF k.status <> 'processing' OR k.locked_by IS NULL OR NOT pg_catalog.starts_with(k.locked_by, 'operator:') THEN
        outcome := 'refused';
        why := 'Nobody holds this record, so there is nothing to release.';
      ELSE
        PERFORM unstuck.service_give_back(k, pg_catalog.clock_timestamp());
        outcome := 'done';
      END IF;
    END IF;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer(o, fits, outcome, outcome, why, NULL, pg_catalog.jsonb_build_object('attempt', k.attempt, 'held_by', k.locked_by)) a;
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation OR data_exception THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, broken = TABLE_NAME;
    SELECT c.fits INTO fits FROM unstuck.check_intent(o, 'release') c;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer_conflict(o, fits, state, broken) a;
  END;
  RETURN NEXT;
END
$body$;

-- A note, a claim or a hand-over: words beside a record, never in it.
CREATE OR REPLACE FUNCTION unstuck.write_note(o jsonb, p_action text, p_kind text)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  fits   boolean := false;
  words  text := coalesce(nullif(pg_catalog.btrim(o ->> 'note'), ''), nullif(pg_catalog.btrim(o ->> 'reason'), ''));
  given  bigint;
  state  text;
  broken text;
BEGIN
  BEGIN
    PERFORM unstuck.lock_log();
    SELECT c.fits, c.outcome, c.why INTO fits, outcome, why FROM unstuck.check_intent(o, p_action) c;
    IF outcome IS NULL AND words IS NULL THEN
      outcome := 'refused';
      why := 'The note is empty. Write what the next person must know.';
    END IF;
    IF outcome IS NULL THEN
      INSERT INTO unstuck.note (at, scope, key, kind, owner, operator, session_role, note, intent_id)
        VALUES (pg_catalog.clock_timestamp(), o ->> 'scope', o ->> 'key', p_kind, nullif(pg_catalog.btrim(o ->> 'owner'), ''), o ->> 'operator',
          session_user, words, unstuck.number(o ->> 'intent'))
        RETURNING id INTO given;
      outcome := 'done';
    END IF;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer(o, fits, outcome, outcome, why, NULL,
        pg_catalog.jsonb_build_object('note_id', given, 'kind', p_kind, 'owner', o -> 'owner', 'note', words)) a;
    read_back := CASE WHEN outcome = 'done' THEN pg_catalog.jsonb_build_object('note_id', given, 'kind', p_kind, 'owner', o -> 'owner', 'note', words) END;
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation OR data_exception THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, broken = TABLE_NAME;
    SELECT c.fits INTO fits FROM unstuck.check_intent(o, p_action) c;
    SELECT a.outcome, a.why, a.log_id, a.version, a.read_back INTO outcome, why, log_id, version, read_back
      FROM unstuck.answer_conflict(o, fits, state, broken) a;
  END;
  RETURN NEXT;
END
$body$;

-- A note that names an owner is a claim: it takes the record off the list of what was handed over.
CREATE OR REPLACE FUNCTION unstuck.do_note(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT r.outcome, r.why, r.log_id, r.version, r.read_back
  FROM unstuck.write_note(o, 'note', CASE WHEN coalesce(pg_catalog.btrim(o ->> 'owner'), '') = '' THEN 'note' ELSE 'claim' END) r
$body$;

CREATE OR REPLACE FUNCTION unstuck.do_hand_over(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT r.outcome, r.why, r.log_id, r.version, r.read_back FROM unstuck.write_note(o, 'hand_over', 'hand over') r
$body$;

-- Keeps that the console refused something: what was asked, and why not.
CREATE OR REPLACE FUNCTION unstuck.do_refusal(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
  log_id := unstuck.append('event', o, 'refused', coalesce(o ->> 'why', o ->> 'note', o ->> 'reason'), NULL, o - 'evidence');
  outcome := 'done';
  RETURN NEXT;
EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation THEN
  outcome := 'conflict';
  why := 'The log is busy; the refusal was not kept. Try again in a moment.';
  log_id := NULL;
  RETURN NEXT;
END
$body$;

-- Closes an intent that has not ended: from then on its change, should it still be on its way, finds an outcome and does nothing.
-- Anybody may: it can only prevent a change, and the log says who did.
CREATE OR REPLACE FUNCTION unstuck.do_close(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  i     unstuck.action_log;
  ended unstuck.action_log;
BEGIN
  BEGIN
    PERFORM unstuck.lock_log();
    SELECT l.* INTO i FROM unstuck.action_log l WHERE l.id = unstuck.number(o ->> 'intent') AND l.entry = 'intent';
    IF NOT FOUND THEN
      outcome := 'refused';
      why := 'The log has no such intent.';
      RETURN NEXT;
      RETURN;
    END IF;
    SELECT l.* INTO ended FROM unstuck.action_log l WHERE l.intent_id = i.id AND l.entry = 'outcome';
    version := unstuck.service_version(i.scope, i.key);
    IF FOUND THEN
      outcome := 'conflict';
      why := pg_catalog.format('Intent %s already ended: %s.', i.id, ended.result);
      log_id := ended.id;
      read_back := pg_catalog.jsonb_build_object('result', ended.result, 'detail', ended.detail, 'at', ended.at) || coalesce(ended.data -> 'read_back', '{}'::jsonb);
    ELSE
      log_id := unstuck.append('outcome',
        pg_catalog.to_jsonb(i) || pg_catalog.jsonb_build_object('operator', coalesce(nullif(o ->> 'operator', ''), session_user::text), 'evidence_id', NULL),
        'not done', coalesce(o ->> 'reason', 'closed: the change was not seen to arrive'), i.id, NULL);
      outcome := 'done';
      read_back := unstuck.service_read_back(i.scope, i.key, NULL);
    END IF;
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation THEN
    outcome := 'conflict';
    why := 'The log is busy; the intent is still open. Read it back in a moment.';
    log_id := NULL;
  END;
  RETURN NEXT;
END
$body$;

-- Loads a settlement report in three steps: begin, rows (as often as there are batches), finish. What is staged is seen by nobody until
-- the last step, which compares it with the books and makes it visible in one transaction. It never changes the books.
CREATE OR REPLACE FUNCTION unstuck.settled(p_load bigint) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT pg_catalog.jsonb_build_object(
    'report', pg_catalog.jsonb_build_object('hash', r.hash, 'name', r.name, 'provider', r.provider, 'lines', r.lines, 'matched', r.matched,
      'loaded_at', r.at, 'from', r.from_at, 'to', r.to_at, 'ours', r.ours, 'theirs', r.theirs, 'stated', r.stated),
    'breaks', (SELECT coalesce(pg_catalog.jsonb_object_agg(k.kind, k.n), '{}'::jsonb)
      FROM (SELECT b.kind, pg_catalog.count(*) AS n FROM unstuck.settlement_break b WHERE b.load_id = p_load GROUP BY b.kind) k))
  FROM unstuck.settlement_report r WHERE r.load_id = p_load
$body$;

CREATE OR REPLACE FUNCTION unstuck.do_settle(o jsonb)
RETURNS TABLE (outcome text, why text, log_id bigint, version text, read_back jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  l      unstuck.settlement_load;
  before bigint;
  staged bigint;
BEGIN
  SELECT c.outcome, c.why INTO outcome, why FROM unstuck.check_place(o) c;
  IF outcome IS NOT NULL THEN
    RETURN NEXT;
    RETURN;
  END IF;
  outcome := 'refused';
  IF o ->> 'step' = 'begin' THEN
    IF coalesce(o ->> 'provider', '') = '' OR coalesce(o ->> 'hash', '') !~ '^[0-9a-f]{64}$' THEN
      why := 'A report has a provider and the SHA-256 of its file.';
    ELSE
      SELECT r.load_id INTO before FROM unstuck.settlement_report r WHERE r.hash = o ->> 'hash';
      outcome := 'done';
      IF before IS NOT NULL THEN
        why := 'This file was loaded before.';
        read_back := unstuck.settled(before);
      ELSE
        INSERT INTO unstuck.settlement_load (provider, name, hash, operator, session_role)
        VALUES (o ->> 'provider', pg_catalog.left(coalesce(o ->> 'name', ''), 500), o ->> 'hash', o ->> 'operator', session_user)
        RETURNING * INTO l;
        read_back := pg_catalog.jsonb_build_object('number', l.id);
      END IF;
    END IF;
    RETURN NEXT;
    RETURN;
  END IF;
  SELECT v.* INTO l FROM unstuck.settlement_load v WHERE v.id = unstuck.number(o ->> 'number') AND v.session_role = session_user;
  IF NOT FOUND THEN
    why := 'There is no such load of this login.';
  ELSIF EXISTS (SELECT 1 FROM unstuck.settlement_report r WHERE r.load_id = l.id) THEN
    why := 'This load is finished.';
  ELSIF o ->> 'step' = 'rows' THEN
    INSERT INTO unstuck.settlement_row (load_id, line, kind, ref, order_id, amount, currency, at)
    SELECT l.id, x.line, x.kind, pg_catalog.left(x.ref, 500), pg_catalog.left(x."order", 500), x.amount, x.currency, x.at
    FROM pg_catalog.jsonb_to_recordset(o -> 'rows') AS x (line bigint, kind text, ref text, "order" text, amount bigint, currency text, at timestamptz);
    outcome := 'done';
  ELSIF o ->> 'step' = 'finish' THEN
    -- Two loads of one file: the second finds the report of the first.
    PERFORM pg_catalog.pg_advisory_xact_lock(7013, 1);
    SELECT r.load_id INTO before FROM unstuck.settlement_report r WHERE r.hash = l.hash;
    SELECT pg_catalog.count(*) INTO staged FROM unstuck.settlement_row x WHERE x.load_id = l.id;
    IF before IS NOT NULL THEN
      outcome := 'done';
      why := 'This file was loaded before.';
      read_back := unstuck.settled(before);
    ELSIF staged IS DISTINCT FROM unstuck.number(o ->> 'lines') THEN
      why := pg_catalog.format('%s lines were staged, the report has %s. Load it again.', staged, coalesce(o ->> 'lines', '(none)'));
    ELSE
      INSERT INTO unstuck.settlement_report (load_id, provider, name, hash, lines, matched, from_at, to_at, ours, theirs, stated)
      SELECT l.id, l.provider, l.name, l.hash, staged, 0,
        pg_catalog.min(x.at), pg_catalog.max(x.at), '{}'::jsonb, '{}'::jsonb, nullif(o -> 'stated', 'null'::jsonb)
      FROM unstuck.settlement_row x WHERE x.load_id = l.id AND x.kind = 'charge';
      PERFORM unstuck.compare_settlement(l.id);
      outcome := 'done';
      read_back := unstuck.settled(l.id);
    END IF;
  ELSE
    why := pg_catalog.format('There is no step called %s.', coalesce(o ->> 'step', '(none)'));
  END IF;
  RETURN NEXT;
END
$body$;

-- Compares a report with the books: its breaks, then what agreed and the sums by currency.
CREATE OR REPLACE FUNCTION unstuck.compare_settlement(p_load bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  r unstuck.settlement_report;
BEGIN
  SELECT v.* INTO r FROM unstuck.settlement_report v WHERE v.load_id = p_load;
  INSERT INTO unstuck.settlement_break (load_id, kind, line, ref, scope, key, order_id, payment_id, ours_amount, ours_currency, theirs_amount, theirs_currency, at)
  SELECT p_load,
    CASE WHEN t.again THEN 'duplicate' WHEN t.id IS NULL THEN 'orphan' WHEN t.ours_currency <> t.currency THEN 'currency' ELSE 'amount' END,
    t.line, t.ref, t.scope, t.key, coalesce(t.ours_order, t.order_id), t.id, t.ours, t.ours_currency, t.amount, t.currency, t.at
  FROM (
    SELECT x.line, x.ref, x.order_id, x.amount, x.currency, x.at, p.id, coalesce(p.scope, o.scope) AS scope, coalesce(p.key, o.key) AS key,
      coalesce(p.order_id, o.order_id) AS ours_order, p.amount AS ours, p.currency AS ours_currency,
      pg_catalog.row_number() OVER (PARTITION BY x.ref ORDER BY x.line) > 1 OR EXISTS (
        SELECT 1 FROM unstuck.settlement_row e JOIN unstuck.settlement_report f ON f.load_id = e.load_id
        WHERE e.ref = x.ref AND e.kind = 'charge' AND e.load_id <> p_load AND f.provider = r.provider) AS again
    FROM unstuck.settlement_row x
    LEFT JOIN LATERAL (
      SELECT q.id, q.scope, q.key, q.order_id, q.amount, q.currency
      FROM public.payments q WHERE q.provider_ref = x.ref AND q.provider = r.provider AND q.status = 'succeeded'
      ORDER BY q.created_at, q.id LIMIT 1
    ) p ON true
    -- A charge without a success of ours may still have left its ref: on a payment that did not succeed, or on a record.
    LEFT JOIN LATERAL (
      SELECT min(u.scope) AS scope, min(u.key) AS key, min(u.order_id) AS order_id FROM (
        SELECT q.scope, q.key, q.order_id FROM public.payments q WHERE q.provider_ref = x.ref AND q.provider = r.provider
        UNION
        SELECT k.scope, k.key, k.order_id FROM public.idempotency_keys k WHERE k.provider_ref = x.ref AND k.provider = r.provider
      ) u
      -- Where two carry it, whose it is cannot be told.
      HAVING pg_catalog.count(DISTINCT (u.scope, u.key)) = 1
    ) o ON p.id IS NULL
    WHERE x.load_id = p_load AND x.kind = 'charge'
  ) t
  WHERE t.again OR t.id IS NULL OR t.ours_currency <> t.currency OR t.ours <> t.amount
  ORDER BY t.line;
  INSERT INTO unstuck.settlement_break (load_id, kind, ref, scope, key, order_id, payment_id, ours_amount, ours_currency, at)
  SELECT p_load, 'missing', p.provider_ref, p.scope, p.key, p.order_id, p.id, p.amount, p.currency, p.created_at
  FROM public.payments p
  WHERE p.provider = r.provider AND p.status = 'succeeded' AND p.created_at BETWEEN r.from_at AND r.to_at
    AND NOT EXISTS (
      SELECT 1 FROM unstuck.settlement_row x JOIN unstuck.settlement_report f ON f.load_id = x.load_id
      WHERE x.ref = p.provider_ref AND x.kind = 'charge' AND f.provider = r.provider)
  ORDER BY p.created_at, p.id;
  UPDATE unstuck.settlement_report v SET
    matched = v.lines - (SELECT pg_catalog.count(*) FROM unstuck.settlement_break b WHERE b.load_id = p_load AND b.line IS NOT NULL),
    theirs = (SELECT coalesce(pg_catalog.jsonb_object_agg(s.currency, s.total), '{}'::jsonb) FROM (
      SELECT x.currency, pg_catalog.sum(x.amount)::bigint AS total FROM unstuck.settlement_row x
      WHERE x.load_id = p_load AND x.kind = 'charge' GROUP BY x.currency) s),
    ours = (SELECT coalesce(pg_catalog.jsonb_object_agg(s.currency, s.total), '{}'::jsonb) FROM (
      SELECT p.currency, pg_catalog.sum(p.amount)::bigint AS total FROM public.payments p
      WHERE p.provider = r.provider AND p.status = 'succeeded'
        AND EXISTS (SELECT 1 FROM unstuck.settlement_row x WHERE x.ref = p.provider_ref AND x.kind = 'charge' AND x.load_id = p_load)
      GROUP BY p.currency) s)
  WHERE v.load_id = p_load;
END
$body$;

-- 8. What the service's own recoverer may call; nothing else of this schema. It listens on `unstuck_resume` (the payload is the id).

CREATE OR REPLACE FUNCTION unstuck.recoverer_waiting()
RETURNS TABLE (id bigint, scope text, key text, attempt bigint, version text, not_after timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT q.id, q.scope, q.key, q.attempt, q.version, q.not_after
  FROM unstuck.resume_request q
  WHERE q.not_after > pg_catalog.clock_timestamp() AND NOT EXISTS (SELECT 1 FROM unstuck.resume_event v WHERE v.request = q.id)
  ORDER BY q.id
  LIMIT 50
$body$;

-- What the look-ups said that a hand back rests on, the first of its proof and all since: a recoverer weighs them with its own.
CREATE OR REPLACE FUNCTION unstuck.recoverer_evidence(p_id bigint)
RETURNS TABLE (id bigint, operator text, provider text, started_at timestamptz, outcome text, definitive boolean, observed jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT e.id, e.operator, e.provider, least(e.started_at, e.at), e.outcome, e.definitive, e.observed
  FROM unstuck.resume_request q
  JOIN unstuck.evidence e ON e.scope = q.scope AND e.key = q.key AND e.id >= least(q.proof_id, q.evidence_id)
  WHERE q.id = p_id
  ORDER BY e.id DESC
  LIMIT 50
$body$;

-- What this login took and nobody ended: the work of a recoverer that died, or of a call without an answer.
CREATE OR REPLACE FUNCTION unstuck.recoverer_unfinished()
RETURNS TABLE (id bigint, scope text, key text, attempt bigint, worker text, not_after timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
  SELECT q.id, q.scope, q.key, q.attempt, v.worker, q.not_after
  FROM unstuck.resume_event v
  JOIN unstuck.resume_request q ON q.id = v.request
  WHERE v.event = 'taken' AND v.session_role = session_user
    AND NOT EXISTS (SELECT 1 FROM unstuck.resume_event n WHERE n.request = q.id AND n.event <> 'taken')
  ORDER BY q.id
  LIMIT 50
$body$;

-- Takes a hand back, once. To be called in the transaction in which the recoverer takes the lease of the attempt given here.
CREATE OR REPLACE FUNCTION unstuck.recoverer_take(
  p_id bigint, p_worker text, OUT outcome text, OUT why text, OUT scope text, OUT key text, OUT attempt bigint, OUT not_after timestamptz
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  q      unstuck.resume_request;
  v      unstuck.resume_event;
  k      public.idempotency_keys;
  p      public.payments;
  moment timestamptz;
BEGIN
  IF pg_catalog.current_setting('transaction_isolation') <> 'read committed' THEN
    outcome := 'refused';
    why := 'A take must run in READ COMMITTED.';
    RETURN;
  END IF;
  SELECT x.* INTO q FROM unstuck.resume_request x WHERE x.id = p_id;
  IF NOT FOUND OR coalesce(pg_catalog.btrim(p_worker), '') = '' THEN
    outcome := 'refused';
    why := 'There is no such hand back, or the worker has no name.';
    RETURN;
  END IF;
  scope := q.scope;
  key := q.key;
  attempt := q.attempt;
  not_after := q.not_after;
  BEGIN
    k := unstuck.service_lock(q.scope, q.key);
    PERFORM unstuck.lock_log();
    SELECT x.* INTO v FROM unstuck.resume_event x WHERE x.request = q.id ORDER BY x.id DESC LIMIT 1;
    p := unstuck.service_payment(q.scope, q.key, q.payment_id);
    moment := pg_catalog.clock_timestamp();
    outcome := 'refused';
    IF v.id IS NOT NULL THEN
      why := pg_catalog.format('Hand back %s was %s by %s.', q.id, v.event, coalesce(v.worker, v.session_role));
    ELSIF moment > q.not_after THEN
      why := pg_catalog.format('Hand back %s was to be taken up until %s.', q.id, pg_catalog.to_char(q.not_after AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'));
    ELSIF k.scope IS NULL OR k.status <> 'processing' OR k.attempt <> q.attempt OR unstuck.service_version(k.scope, k.key) <> q.version THEN
      why := 'The record is not what was handed back any more (another attempt, or changed, or done).';
    ELSIF unstuck.service_paid_by(p) IS NOT NULL THEN
      why := pg_catalog.format('Payment %s has paid the order: nothing may be charged.', unstuck.service_paid_by(p));
    ELSIF k.locked_until > moment THEN
      outcome := 'conflict';
      why := pg_catalog.format('%s holds the lease.', coalesce(k.locked_by, 'Somebody'));
    ELSE
      INSERT INTO unstuck.resume_event (request, at, event, worker, session_role, detail) VALUES (q.id, moment, 'taken', p_worker, session_user, NULL);
      outcome := 'taken';
    END IF;
    PERFORM unstuck.append('event', pg_catalog.jsonb_build_object('action', 'recoverer_take', 'scope', q.scope, 'key', q.key, 'operator', p_worker,
      'plan_hash', q.plan_hash), outcome, why, NULL, pg_catalog.jsonb_build_object('resume_id', q.id, 'attempt', q.attempt));
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation THEN
    outcome := 'conflict';
    why := 'Somebody else is working on this record or on the log. Try again in a moment.';
  END;
END
$body$;

-- Says what became of a hand back. `finished` is said by the worker that took it; `refused` also by one that did not take it.
CREATE OR REPLACE FUNCTION unstuck.recoverer_close(p_id bigint, p_worker text, p_outcome text, p_detail text, OUT outcome text, OUT why text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  q     unstuck.resume_request;
  taken unstuck.resume_event;
  ended unstuck.resume_event;
BEGIN
  outcome := 'refused';
  IF coalesce(p_outcome, '') NOT IN ('finished', 'refused') OR coalesce(pg_catalog.btrim(p_worker), '') = '' THEN
    why := 'A hand back ends finished or refused, said by a worker with a name.';
    RETURN;
  END IF;
  BEGIN
    PERFORM unstuck.lock_log();
    SELECT x.* INTO q FROM unstuck.resume_request x WHERE x.id = p_id;
    SELECT x.* INTO taken FROM unstuck.resume_event x WHERE x.request = p_id AND x.event = 'taken';
    SELECT x.* INTO ended FROM unstuck.resume_event x WHERE x.request = p_id AND x.event <> 'taken';
    IF q.id IS NULL THEN
      why := 'There is no such hand back.';
      RETURN;
    ELSIF ended.id IS NOT NULL THEN
      outcome := 'conflict';
      why := pg_catalog.format('Hand back %s ended already: %s.', q.id, ended.event);
      RETURN;
    ELSIF taken.id IS NULL AND p_outcome = 'finished' THEN
      why := pg_catalog.format('Hand back %s was not taken.', q.id);
      RETURN;
    ELSIF taken.id IS NOT NULL AND (taken.worker <> p_worker OR taken.session_role <> session_user) THEN
      why := pg_catalog.format('Hand back %s was taken by %s.', q.id, taken.worker);
      RETURN;
    END IF;
    INSERT INTO unstuck.resume_event (request, at, event, worker, session_role, detail)
      VALUES (q.id, pg_catalog.clock_timestamp(), p_outcome, p_worker, session_user, p_detail);
    PERFORM unstuck.append('event', pg_catalog.jsonb_build_object('action', 'recoverer_close', 'scope', q.scope, 'key', q.key, 'operator', p_worker,
      'plan_hash', q.plan_hash), p_outcome, p_detail, NULL, pg_catalog.jsonb_build_object('resume_id', q.id));
    outcome := 'done';
  EXCEPTION WHEN serialization_failure OR deadlock_detected OR lock_not_available OR unique_violation THEN
    outcome := 'conflict';
    why := 'The log is busy. Try again in a moment.';
  END;
END
$body$;

-- 9. Owners and rights of the functions. Nothing may be called by everybody; operators and approvers may call what section 7 offers them.

ALTER FUNCTION unstuck.refuse_change() OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.log_text(unstuck.action_log) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.lock_log() OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.number(text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.append(text, jsonb, text, text, bigint, jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.set_environment(text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_version(text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_lock(text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_payment(text, text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_objection(public.payments, text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_take(public.idempotency_keys, text, timestamptz, timestamptz, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_finish(public.idempotency_keys, public.payments, text, text, integer, text, text, timestamptz) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_holds(public.idempotency_keys) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_give_back(public.idempotency_keys, timestamptz) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_read_back(text, text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.action_word(text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_place(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_intent(jsonb, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_record(jsonb, public.idempotency_keys) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.own_hold(jsonb, public.idempotency_keys) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.charges(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_evidence(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_charges(public.idempotency_keys, public.payments, jsonb, text, jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.answer(jsonb, boolean, text, text, text, text, jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.answer_conflict(jsonb, boolean, text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.resume(jsonb, text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.write_note(jsonb, text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_intent(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_evidence(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_adopt(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_fail(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_hold(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_release(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_note(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_hand_over(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_refusal(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_close(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_settle(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.settled(bigint) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.compare_settlement(bigint) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_first_use(public.idempotency_keys) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_last_attempt(public.idempotency_keys) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_last_sent(text, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.service_paid_by(public.payments) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.set_limit(text, bigint) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.set_approval_limit(text, bigint) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.plan_hash(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.agrees(unstuck.evidence, unstuck.evidence) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_look_up(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_absence(public.idempotency_keys, public.payments, jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.key_end(public.idempotency_keys, bigint) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_reversed(public.idempotency_keys, public.payments, jsonb, jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_approval(jsonb, text, public.payments) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.check_payment(jsonb, public.idempotency_keys, public.payments, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_reverse(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_not_charged(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_hand_back(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_ask(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_decide(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.do_withdraw(jsonb) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.recoverer_waiting() OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.recoverer_evidence(bigint) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.recoverer_unfinished() OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.recoverer_take(bigint, text) OWNER TO unstuck_definer;
ALTER FUNCTION unstuck.recoverer_close(bigint, text, text, text) OWNER TO unstuck_definer;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA unstuck FROM PUBLIC;
GRANT EXECUTE ON FUNCTION unstuck.log_text(unstuck.action_log) TO unstuck_reader;
GRANT EXECUTE ON FUNCTION unstuck.do_intent(jsonb), unstuck.do_evidence(jsonb), unstuck.do_adopt(jsonb), unstuck.do_fail(jsonb), unstuck.do_reverse(jsonb),
  unstuck.do_not_charged(jsonb), unstuck.do_hand_back(jsonb), unstuck.do_ask(jsonb), unstuck.do_withdraw(jsonb), unstuck.do_hold(jsonb),
  unstuck.do_release(jsonb), unstuck.do_note(jsonb), unstuck.do_hand_over(jsonb), unstuck.do_refusal(jsonb), unstuck.do_close(jsonb),
  unstuck.do_settle(jsonb) TO unstuck_operator;
GRANT EXECUTE ON FUNCTION unstuck.do_intent(jsonb), unstuck.do_evidence(jsonb), unstuck.do_decide(jsonb), unstuck.do_refusal(jsonb), unstuck.do_close(jsonb)
  TO unstuck_approver;
GRANT EXECUTE ON FUNCTION unstuck.recoverer_waiting(), unstuck.recoverer_evidence(bigint), unstuck.recoverer_unfinished(),
  unstuck.recoverer_take(bigint, text), unstuck.recoverer_close(bigint, text, text, text) TO unstuck_recoverer;
