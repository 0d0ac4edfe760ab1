-- Every right of the connected role that the console does not need: empty is good.
-- No parameters. Since: 1.
-- Needed: SELECT anywhere, USAGE of schemas, EXECUTE of what schema `unstuck` offers (do_*). Roles it may switch to count as its own.
-- A superuser gets one row: it may do everything, and a list would hide that.
WITH mine AS (
  SELECT r.oid, r.rolname, r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolreplication, r.rolbypassrls
  FROM pg_catalog.pg_roles r
  WHERE pg_has_role(session_user, r.oid, 'MEMBER')
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles s WHERE s.rolname = session_user AND s.rolsuper AND s.oid <> r.oid)
),
tables AS (
  SELECT c.oid, c.relkind, c.relowner, n.nspname || '.' || c.relname AS name
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND NOT starts_with(n.nspname, 'pg_toast') AND NOT starts_with(n.nspname, 'pg_temp')
),
attributes AS (
  SELECT a.right_name, m.rolname, m.rolsuper
  FROM mine m,
    LATERAL (VALUES ('SUPERUSER', m.rolsuper), ('CREATEROLE', m.rolcreaterole AND NOT m.rolsuper), ('CREATEDB', m.rolcreatedb AND NOT m.rolsuper),
      ('REPLICATION', m.rolreplication AND NOT m.rolsuper), ('BYPASSRLS', m.rolbypassrls AND NOT m.rolsuper)) AS a(right_name, has)
  WHERE a.has
),
plain AS (
  SELECT m.oid, m.rolname FROM mine m WHERE NOT m.rolsuper
),
found AS (
  SELECT a.right_name AS right, 'role ' || a.rolname AS on_what
  FROM attributes a
  UNION
  SELECT 'MEMBER', 'role ' || p.rolname
  FROM plain p
  WHERE p.rolname IN ('pg_write_all_data', 'pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files',
    'pg_signal_backend', 'pg_database_owner', 'pg_maintain', 'pg_create_subscription')
    OR (p.rolname = 'unstuck_definer')
  UNION
  SELECT 'OWNER', t.name
  FROM tables t JOIN plain p ON p.oid = t.relowner
  UNION
  SELECT v.right_name, t.name
  FROM tables t, plain p, (VALUES ('INSERT'), ('UPDATE'), ('REFERENCES')) AS v(right_name)
  WHERE t.relkind <> 'S' AND has_any_column_privilege(p.oid, t.oid, v.right_name)
  UNION
  SELECT v.right_name, t.name
  FROM tables t, plain p, (VALUES ('DELETE'), ('TRUNCATE'), ('TRIGGER')) AS v(right_name)
  WHERE t.relkind <> 'S' AND has_table_privilege(p.oid, t.oid, v.right_name)
  UNION
  SELECT v.right_name, t.name
  FROM tables t, plain p, (VALUES ('USAGE'), ('UPDATE')) AS v(right_name)
  WHERE t.relkind = 'S' AND has_sequence_privilege(p.oid, t.oid, v.right_name)
  UNION
  SELECT 'CREATE', 'schema ' || n.nspname
  FROM pg_catalog.pg_namespace n, plain p
  WHERE NOT starts_with(n.nspname, 'pg_') AND n.nspname <> 'information_schema' AND has_schema_privilege(p.oid, n.oid, 'CREATE')
  UNION
  SELECT 'CREATE', 'database ' || d.datname
  FROM pg_catalog.pg_database d, plain p
  WHERE d.datname = current_database() AND has_database_privilege(p.oid, d.oid, 'CREATE')
  UNION
  SELECT 'EXECUTE as its owner', 'function ' || n.nspname || '.' || f.proname
  FROM pg_catalog.pg_proc f
  JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace, plain p
  WHERE f.prosecdef AND n.nspname <> 'pg_catalog' AND has_function_privilege(p.oid, f.oid, 'EXECUTE')
    AND NOT (n.nspname = 'unstuck' AND (starts_with(f.proname, 'do_') OR f.proname = 'log_text'))
  UNION
  SELECT 'OWNER', 'function ' || n.nspname || '.' || f.proname
  FROM pg_catalog.pg_proc f
  JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace
  JOIN plain p ON p.oid = f.proowner
  WHERE f.prosecdef
)
SELECT f.right, f.on_what
FROM found f
ORDER BY f.right, f.on_what
LIMIT 200
