//! The columns of the longer answers, in order: `name type`, with `?` where it may be NULL.

pub(super) const FOUND: &str = "scope text, key text, order_id text?, payment_id text?, why text, amount int8?, currency text?, \
    at timestamptz?";

pub(super) const OTHERS: &str = "scope text?, key text?, order_id text?, ref text?, at timestamptz, amount int8?, currency text?, \
    what text";

pub(super) const RECORD: &str = "scope text, key text, order_id text?, payment_id text?, status text, payment_status text?, \
    recovery_point text?, lease_until timestamptz?, lease_holder text?, attempt int8?, provider text?, \
    provider_ref text?, amount int8?, currency text?, first_key_use timestamptz?, created_at timestamptz, \
    changed_at timestamptz, owner text?, version text";

pub(super) const RECORD_MORE: &str = "fingerprint text?, response_code int4?, provider_key text?, last_attempt_at timestamptz?, \
    siblings jsonb, ref_owner text?, holder_is_operator bool";

pub(super) const PULSE: &str =
    "signal text, currency text?, count int8, amount int8?, oldest timestamptz?, db_now timestamptz";

pub(super) const RATES: &str = "minute timestamptz, requests int8, ok int8, conflict int8, mismatch int8, replayed int8, \
    unavailable int8, failed int8, next_id int8";

pub(super) const PROVIDERS: &str =
    "provider text, calls int8, timeouts int8, errors int8, p95_ms float8?, unknown int8";

pub(super) const OFFENDERS: &str =
    "scope text, route text, key text?, conflicts int8, mismatches int8, last_at timestamptz";
pub(super) const TIMELINE: &str =
    "at timestamptz, lane text, what text, detail text?, ref text?, amount int8?, currency text?";

pub(super) const EVIDENCE: &str = "id int8, at timestamptz, operator text, provider text, started_at timestamptz, outcome text, \
    definitive bool, why text?, observed jsonb, steps jsonb";

pub(super) const LOG: &str = "id int8, at timestamptz, entry text, action text, scope text?, key text?, operator text, \
    session_user text, environment text, plan_hash text?, reason text?, ticket text?, result text?, detail text?, \
    intent_id int8?";

pub(super) const APPROVALS: &str = "id int8, at timestamptz, action text, scope text, key text, order_id text?, amount int8?, \
    currency text?, operator text, session_user text, reason text, ticket text?, plan_hash text, version text, \
    attempt int8?, evidence_id int8, expires_at timestamptz, state text, decided_by text?, decided_session text?, \
    decided_at timestamptz?, decided_reason text?, act_until timestamptz?, break_glass_from timestamptz?, plan jsonb";

pub(super) const REQUESTS: &str = "id int8, at timestamptz, scope text, key text, order_id text?, amount int8?, currency text?, \
    attempt int8, version text, plan_hash text, approval int8, operator text, reason text, ticket text?, \
    not_after timestamptz, state text, state_at timestamptz, worker text?, detail text?";
// Nothing but the number is promised: a row somebody tampered with has to be read, too.
pub(super) const CHAIN: &str = "id int8, at timestamptz?, entry text?, action text?, scope text?, key text?, operator text?, \
    session_user text?, application text?, environment text?, plan_hash text?, reason text?, ticket text?, \
    result text?, detail text?, intent_id int8?, evidence_id int8?, data text?, prev_hash text?, hash text?";

pub(super) const REPORTS: &str = "hash text, name text, provider text, lines int8, matched int8, loaded_at timestamptz, \
    from_at timestamptz?, to_at timestamptz?, ours jsonb, theirs jsonb, stated jsonb?";

pub(super) const BREAKS: &str = "id int8, kind text, provider text, ref text?, scope text?, key text?, order_id text?, payment_id text?, \
    ours_amount int8?, ours_currency text?, theirs_amount int8?, theirs_currency text?, at timestamptz?, \
    first_seen timestamptz, owner text?, report text, line int8?";

pub(super) const BREACH: &str = "scope text?, key text?, order_id text?, payment_id text?, ref text?, amount int8?, \
    currency text?, at timestamptz?, detail text";
