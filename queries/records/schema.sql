-- A service that keeps idempotency records and nothing else the console could read: the records profile.
-- Tests create it; a team compares its own table with it. The console never runs this file.

CREATE TABLE idempotency_records (
  key           varchar(255) NOT NULL,
  user_id       uuid         NOT NULL,                       -- the key's namespace
  request_hash  char(64)     NOT NULL,                       -- the fingerprint
  status        varchar(32)  NOT NULL DEFAULT 'STARTED',     -- STARTED, RESOLVED, FAILED
  response_code integer,
  response_body jsonb,
  created_at    timestamptz  NOT NULL DEFAULT now(),
  locked_at     timestamptz  NOT NULL DEFAULT now(),         -- when it was last taken; a taker has sixty seconds
  PRIMARY KEY (user_id, key)
);
