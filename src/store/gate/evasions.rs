//! Everything we could think of to get something past the gate, and what must pass.

use super::{change, read};

/// Statements a read must not be. Grouped by trick.
const REFUSED: &[&str] = &[
    // plain writing
    "DELETE FROM payments",
    "UPDATE payments SET status = 'failed'",
    "INSERT INTO payments (id) VALUES ('x')",
    "MERGE INTO payments p USING x ON true WHEN MATCHED THEN DELETE",
    "TRUNCATE payments",
    "DROP TABLE payments",
    "ALTER TABLE payments ADD x int",
    "CREATE TABLE t AS SELECT 1",
    "CREATE TEMP TABLE t (a int)",
    "REFRESH MATERIALIZED VIEW v",
    "LOCK TABLE payments IN ACCESS EXCLUSIVE MODE",
    "VACUUM payments",
    "ANALYZE payments",
    "GRANT DELETE ON payments TO public",
    "COMMENT ON TABLE payments IS 'x'",
    "SECURITY LABEL ON TABLE payments IS 'x'",
    // writing inside a common table expression
    "WITH gone AS (DELETE FROM payments RETURNING id) SELECT id FROM gone",
    "WITH gone AS (UPDATE payments SET status = 'failed' RETURNING id) SELECT id FROM gone",
    "WITH gone AS (INSERT INTO payments (id) VALUES ('x') RETURNING id) SELECT id FROM gone",
    "WITH gone AS (MERGE INTO payments p USING x ON true WHEN MATCHED THEN DELETE RETURNING 1) SELECT 1 FROM gone",
    "WITH a AS (SELECT 1 AS x), b AS (DELETE FROM payments RETURNING id) SELECT x FROM a",
    "WITH a AS (SELECT 1) DELETE FROM payments",
    "WITH a AS (SELECT 1) UPDATE payments SET status = 'failed'",
    "WITH a AS (SELECT 1) INSERT INTO payments SELECT 1",
    "SELECT id FROM (WITH gone AS (DELETE FROM payments RETURNING id) SELECT id FROM gone) g",
    "SELECT (WITH gone AS (DELETE FROM payments RETURNING id) SELECT id FROM gone)",
    "SELECT 1 WHERE EXISTS (WITH g AS (DELETE FROM payments RETURNING id) SELECT 1 FROM g)",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    "WITH r AS (SELECT 1 AS n) SEARCH DEPTH FIRST BY n SET o SELECT n FROM r",
    // more than one statement, or none
    "",
    ";",
    ";;",
    "SELECT 1; DELETE FROM payments",
    "SELECT 1; SELECT 2",
    "SELECT 1;;",
    "; SELECT 1",
    "SELECT 1; -- x\n DELETE FROM payments;",
    "SELECT 1 /* ; */; DELETE FROM payments",
    "-- only a comment",
    "BEGIN; SELECT 1",
    "COMMIT; DELETE FROM payments",
    "SELECT 1 DELETE FROM payments",
    // reads that write or lock
    "SELECT id INTO stolen FROM payments",
    "SELECT id INTO TEMP stolen FROM payments",
    "SELECT id INTO UNLOGGED stolen FROM payments",
    "SELECT id FROM payments FOR UPDATE",
    "SELECT id FROM payments FOR SHARE",
    "SELECT id FROM payments FOR NO KEY UPDATE",
    "SELECT id FROM payments FOR KEY SHARE",
    "SELECT id FROM payments FOR UPDATE OF payments SKIP LOCKED",
    "SELECT id FROM payments FOR UPDATE NOWAIT",
    "SELECT id FROM (SELECT id FROM payments FOR UPDATE) x",
    "(SELECT id FROM payments FOR UPDATE)",
    "WITH l AS (SELECT id FROM payments FOR UPDATE) SELECT id FROM l",
    "SELECT id FROM payments FETCH FIRST 1 ROW ONLY",
    "SELECT id FROM payments FETCH FIRST 1 ROW WITH TIES",
    "SELECT id FROM payments OFFSET 1",
    "SELECT id FROM payments LIMIT 1 OFFSET 1",
    "TABLE payments",
    "SELECT 1 UNION ALL (TABLE payments)",
    "VALUES (1); DELETE FROM payments",
    // functions that act
    "SELECT pg_terminate_backend(1)",
    "SELECT pg_cancel_backend(1)",
    "SELECT pg_catalog.pg_terminate_backend(1)",
    "SELECT \"pg_terminate_backend\"(1)",
    "SELECT PG_TERMINATE_BACKEND(1)",
    "SELECT pg_catalog.\"pg_terminate_backend\"(1)",
    "SELECT \"pg_catalog\".\"pg_terminate_backend\"(1)",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT \"set_config\"('a.b', 'c', false)",
    "SELECT pg_catalog.set_config('a.b', 'c', false)",
    "SELECT current_setting('data_directory')",
    "SELECT lo_unlink(1)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/x')",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_put(1, 0, 'x')",
    "SELECT dblink('host=x', 'DELETE FROM payments')",
    "SELECT dblink_exec('host=x', 'DELETE FROM payments')",
    "SELECT public.dblink_connect('host=x')",
    "SELECT nextval('payments_id_seq')",
    "SELECT setval('payments_id_seq', 1)",
    "SELECT currval('s')",
    "SELECT lastval()",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_advisory_xact_lock(1)",
    "SELECT pg_try_advisory_lock(1)",
    "SELECT pg_advisory_unlock_all()",
    "SELECT pg_sleep(60)",
    "SELECT pg_sleep_for('1 hour')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT pg_stat_file('/etc/passwd')",
    "SELECT query_to_xml('DELETE FROM payments', true, true, '')",
    "SELECT query_to_xml_and_xmlschema('SELECT 1', true, true, '')",
    "SELECT table_to_xml('payments', true, true, '')",
    "SELECT cursor_to_xml('c', 1, true, true, '')",
    "SELECT database_to_xml(true, true, '')",
    "SELECT ts_stat('SELECT 1')",
    "SELECT ts_rewrite('a'::text, 'SELECT 1')",
    "SELECT xpath('/a', 'x')",
    "SELECT pg_notify('a', 'b')",
    "SELECT pg_reload_conf()",
    "SELECT pg_rotate_logfile()",
    "SELECT pg_switch_wal()",
    "SELECT pg_create_restore_point('x')",
    "SELECT pg_start_backup('x')",
    "SELECT pg_promote()",
    "SELECT pg_logical_emit_message(true, 'a', 'b')",
    "SELECT pg_replication_origin_create('x')",
    "SELECT pg_stat_reset()",
    "SELECT pg_stat_statements_reset()",
    "SELECT txid_current()",
    "SELECT pg_current_xact_id()",
    "SELECT pg_export_snapshot()",
    "SELECT pg_import_system_collations('pg_catalog')",
    "SELECT setseed(0.1)",
    "SELECT random()",
    "SELECT gen_random_uuid()",
    "SELECT generate_series(1, 1000000000)",
    "SELECT repeat('x', 1000000000)",
    "SELECT crosstab('SELECT 1')",
    "SELECT cron.schedule('x', '* * * * *', 'DELETE FROM payments')",
    "SELECT http_get('http://x')",
    "SELECT pg_get_functiondef(1)",
    "SELECT has_unlisted(1)",
    "SELECT clock_timestamp()",
    "SELECT inet_server_addr()",
    "SELECT version()",
    "SELECT txid_status(1)",
    "SELECT pg_stat_get_activity(1)",
    "SELECT pg_drop_replication_slot('x')",
    "SELECT pg_log_backend_memory_contexts(1)",
    "SELECT brin_summarize_new_values('i')",
    "SELECT gin_clean_pending_list('i')",
    "SELECT pg_relation_filenode('x')",
    "SELECT pg_extension_config_dump('x', '')",
    // our own guarded functions, from a read
    "SELECT unstuck.do_adopt('{}')",
    "SELECT outcome FROM unstuck.do_adopt($1::jsonb)",
    "SELECT (unstuck.do_adopt($1::jsonb)).outcome",
    "SELECT do_adopt($1::jsonb)",
    "SELECT 1 FROM payments, unstuck.do_adopt($1::jsonb)",
    "SELECT 1 FROM payments, LATERAL unstuck.do_adopt($1::jsonb) d",
    "SELECT 1 FROM payments p JOIN LATERAL unstuck.do_adopt(p.x) d ON true",
    // functions hidden in odd places
    "SELECT 1 FROM pg_sleep(60)",
    "SELECT 1 FROM pg_terminate_backend(1) t",
    "SELECT 1 FROM LATERAL pg_sleep(60) s",
    "SELECT 1 FROM ROWS FROM (pg_sleep(60)) s",
    "SELECT 1 FROM generate_series(1, 10) g",
    "SELECT 1 FROM \"jsonb_each\"('{}')",
    "SELECT 1 FROM t TABLESAMPLE system (10)",
    "SELECT 1 FROM t TABLESAMPLE evil(pg_sleep(1))",
    "SELECT 1 ORDER BY pg_sleep(60)",
    "SELECT 1 LIMIT pg_sleep(60)",
    "SELECT 1 LIMIT (SELECT setval('s', 1))",
    "SELECT 1 FROM t GROUP BY pg_sleep(60)",
    "SELECT count(*) FROM t HAVING pg_sleep(60) IS NULL",
    "SELECT count(*) FILTER (WHERE pg_sleep(60) IS NULL) FROM t",
    "SELECT sum(pg_advisory_lock(1)) OVER () FROM t",
    "SELECT sum(x) OVER (ORDER BY pg_sleep(60)) FROM t",
    "SELECT sum(x) OVER w FROM t WINDOW w AS (ORDER BY pg_sleep(1))",
    "SELECT CASE WHEN pg_sleep(60) IS NULL THEN 1 END",
    "SELECT CASE pg_sleep(60) WHEN NULL THEN 1 END",
    "SELECT coalesce(pg_sleep(60), 1)",
    "SELECT ARRAY[pg_sleep(60)]",
    "SELECT ARRAY(SELECT pg_sleep(60))",
    "SELECT (SELECT pg_sleep(60))",
    "SELECT 1 WHERE x IN (SELECT pg_sleep(60))",
    "SELECT 1 WHERE x = ANY (pg_ls_dir('/'))",
    "SELECT 1 WHERE pg_sleep(60) IS DISTINCT FROM NULL",
    "SELECT 1 FROM a JOIN b ON pg_sleep(60) IS NULL",
    "SELECT DISTINCT ON (pg_sleep(60)) 1",
    "VALUES (pg_sleep(60))",
    "SELECT x FROM (VALUES (pg_sleep(60))) v(x)",
    "SELECT extract(epoch FROM pg_sleep(60))",
    "SELECT substring(pg_read_file('x') FROM 1 FOR 2)",
    "SELECT trim(pg_read_file('x'))",
    "SELECT position('a' IN pg_read_file('x'))",
    "SELECT overlay('a' PLACING 'b' FROM 1)",
    "SELECT string_agg(x, ',' ORDER BY pg_sleep(60)) FROM t",
    "SELECT make_interval(secs => pg_sleep(60))",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY pg_sleep(60)) FROM t",
    "SELECT x[pg_sleep(60)] FROM t",
    "SELECT unnest(pg_ls_dir('/'))",
    "SELECT 1 UNION SELECT pg_sleep(60)",
    "SELECT 1 EXCEPT SELECT pg_sleep(60)",
    "SELECT pg_sleep(60)::text",
    "SELECT CAST(pg_sleep(60) AS text)",
    "SELECT NOT pg_try_advisory_lock(1)",
    "SELECT -setval('s', 1)",
    "SELECT 1 WHERE x LIKE pg_read_file('x')",
    "SELECT 1 WHERE x BETWEEN 1 AND setval('s', 1)",
    // XML and JSON constructs that run or reach out
    "SELECT xmlparse(DOCUMENT '<a/>')",
    "SELECT xmlelement(name a)",
    "SELECT xmlforest(1 AS a)",
    "SELECT xmlpi(name a)",
    "SELECT x FROM xmltable('/a' PASSING '<a/>' COLUMNS x int)",
    "SELECT xmlserialize(CONTENT x AS text)",
    "SELECT xmlexists('/a' PASSING x)",
    "SELECT x FROM json_table('{}', '$' COLUMNS (x int PATH '$.x'))",
    "SELECT json_value('{}', '$.a')",
    "SELECT '{}'::jsonb @? '$.a'",
    "SELECT '{}'::jsonb @@ '$.a'",
    // types that look names up or run conversions of others
    "SELECT 'payments'::regclass",
    "SELECT 'pg_sleep'::regproc",
    "SELECT 'pg_sleep(float8)'::regprocedure",
    "SELECT CAST('x' AS regrole)",
    "SELECT regclass 'payments'",
    "SELECT 'x'::public.evil",
    "SELECT 'x'::unstuck.evil",
    "SELECT 'x'::evil",
    "SELECT evil 'x'",
    "SELECT '<a/>'::xml",
    "SELECT 'x'::pg_catalog.regclass",
    "SELECT 'x'::\"regclass\"",
    "SELECT 'x'::regclass::text",
    "SELECT 'x'::json",
    "SELECT 'a'::tsquery",
    "SELECT '$.a'::jsonpath",
    "SELECT '1'::money",
    // operators of others
    "SELECT 1 OPERATOR(public.+) 2",
    "SELECT 1 OPERATOR(pg_catalog.+) 2",
    "SELECT a @#@ b",
    "SELECT a <-> b FROM t",
    "SELECT @ -5",
    "SELECT !! 5",
    "SELECT |/ 4",
    "SELECT 5 !",
    "SELECT a ^ b",
    "SELECT a COLLATE \"C\" FROM t",
    // system relations with secrets or effects
    "SELECT rolpassword FROM pg_authid",
    "SELECT passwd FROM pg_shadow",
    "SELECT 1 FROM pg_catalog.pg_authid",
    "SELECT 1 FROM pg_user_mappings",
    "SELECT 1 FROM pg_file_settings",
    "SELECT 1 FROM pg_hba_file_rules",
    "SELECT 1 FROM pg_largeobject",
    "SELECT 1 FROM pg_settings",
    "SELECT 1 FROM information_schema.tables",
    "SELECT 1 FROM pg_toast.pg_toast_1",
    "SELECT 1 FROM pg_temp.x",
    "SELECT 1 FROM pg_temp_3.x",
    "SELECT 1 FROM a.b.c",
    "SELECT 1 FROM \"pg_authid\"",
    "SELECT 1 FROM pg_catalog.\"pg_authid\"",
    "SELECT 1 FROM \"PG_AUTHID\"",
    "SELECT 1 FROM ONLY payments",
    // not a query at all
    "COPY payments TO '/tmp/x'",
    "COPY (SELECT 1) TO PROGRAM 'sh'",
    "COPY payments FROM STDIN",
    "DO $$ BEGIN END $$",
    "DO 'BEGIN END'",
    "CALL unstuck.p()",
    "EXECUTE p",
    "PREPARE p AS DELETE FROM payments",
    "PREPARE p AS SELECT 1",
    "DEALLOCATE ALL",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE DELETE FROM payments",
    "EXPLAIN (ANALYZE) SELECT 1",
    "LISTEN a",
    "NOTIFY a",
    "UNLISTEN *",
    "SET statement_timeout = 0",
    "SET LOCAL statement_timeout = 0",
    "SET TRANSACTION READ WRITE",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION postgres",
    "RESET ALL",
    "SHOW ALL",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT a",
    "DISCARD ALL",
    "DECLARE c CURSOR FOR SELECT 1",
    "FETCH ALL FROM c",
    "MOVE c",
    "CLOSE c",
    "LOAD 'x'",
    "CHECKPOINT",
    "REINDEX TABLE payments",
    "CLUSTER payments",
    "ABORT",
    "END",
    "START TRANSACTION READ WRITE",
    "REASSIGN OWNED BY a TO b",
    "IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c",
    // comments, quotes and escapes that hide
    "SELECT 1 /* DELETE */",
    "SELECT /* /* */ 1; DELETE FROM payments */ 1",
    "SELECT 1 -- \r; DELETE FROM payments",
    "SELECT 1 --\rDELETE FROM payments",
    "/*! DELETE FROM payments */ SELECT 1",
    "SELECT $$; DELETE FROM payments; $$",
    "SELECT $a$ $$ $a$",
    "SELECT E'\\'; DELETE FROM payments; --'",
    "SELECT '\\'; DELETE FROM payments; --'",
    "SELECT U&'\\0027; DELETE FROM payments; --'",
    "SELECT U&\"\\0070g_sleep\"(60)",
    "SELECT U&\"pg!005fsleep\" UESCAPE '!' (60)",
    "SELECT 'a' 'b'",
    "SELECT 'a'\n'b'",
    "SELECT B'1'",
    "SELECT X'1F'",
    "SELECT N'x'",
    "SELECT `id` FROM payments",
    "SELECT [id] FROM payments",
    "SELECT \"a\"\"b\"",
    "SELECT 'unclosed",
    "SELECT \"unclosed",
    "SELECT (1",
    "SELECT 1)",
    "SELECT \u{FF33}",
    "SELECT 1\u{200B}",
    "SELECT p\u{0430}yments",
    "\u{FEFF}SELECT 1",
    "SELECT\u{00A0}1",
    "SELECT 1\0",
    "SELECT 'a\0b'",
    "SELECT 1\u{1B}[2J",
    "SEL/**/ECT 1",
    "SELECT{fn now()}",
    "SELECT {d '2020-01-01'}",
    "SELECT 1 # x",
    "SELECT 1 \\; DELETE FROM payments",
    "SELECT 1 \\g",
    "\\! rm -rf /",
    "SELECT :'var'",
    "SELECT :var",
    "SELECT ?",
    "SELECT @x",
    "SELECT @@version",
    "SELECT %(name)s",
    // everything, unnamed
    "SELECT * FROM payments",
    "SELECT p.* FROM payments p",
    "SELECT * EXCLUDE (id) FROM payments",
    "FROM payments",
    // other dialects' clauses a lenient parser may take
    "SELECT TOP 1 id FROM payments",
    "SELECT id FROM payments QUALIFY 1 = 1",
    "SELECT id FROM payments PREWHERE 1 = 1",
    "SELECT id FROM payments SETTINGS a = 1",
    "SELECT id FROM payments FORMAT JSON",
    "SELECT id FROM payments FOR JSON AUTO",
    "SELECT id FROM payments FOR XML RAW",
    "SELECT id FROM payments CLUSTER BY id",
    "SELECT id FROM payments SORT BY id",
    "SELECT id FROM payments DISTRIBUTE BY id",
    "SELECT id FROM payments LATERAL VIEW explode(x) t",
    "SELECT AS STRUCT 1",
    "SELECT id FROM payments |> WHERE true",
    "SELECT id FROM payments LIMIT 1, 2",
    "SELECT id FROM payments LIMIT 1 BY id",
    "SELECT id FROM payments GROUP BY ALL",
    "SELECT id FROM payments GROUP BY ROLLUP (id)",
    "SELECT id FROM payments ORDER BY id USING <",
    "SELECT TRY_CAST(1 AS text)",
    "SELECT id FROM a SEMI JOIN b ON true",
    "SELECT id FROM a CROSS APPLY b",
    "SELECT id FROM a ASOF JOIN b MATCH_CONDITION (true)",
    "SELECT id FROM a NATURAL JOIN b",
    "SELECT id FROM a, TABLE(pg_sleep(1))",
    "SELECT x -> pg_sleep(1) FROM t",
    "SELECT INTERVAL 1 DAY",
    "SELECT now() AT TIME ZONE pg_read_file('x')",
    "SELECT 1 UNION BY NAME SELECT 2",
    // parameters with gaps or out of range
    "SELECT $2::text",
    "SELECT $1::text, $3::text",
    "SELECT $0",
    "SELECT $99999",
];

/// Ordinary queries of the kinds the shipped profiles use.
const PASSED: &[&str] = &[
    "SELECT 1",
    "SELECT 1;",
    "-- purpose\nSELECT 1 AS one -- end",
    "SELECT 'DELETE FROM payments; --' AS harmless",
    "SELECT k.scope, k.key, k::text FROM idempotency_keys k WHERE k.status = 'processing' ORDER BY k.created_at, k.scope LIMIT $1",
    "SELECT count(*) FILTER (WHERE status = 'unknown') AS n, sum(amount)::bigint, min(created_at) FROM payments GROUP BY currency",
    "WITH a AS MATERIALIZED (SELECT id FROM payments WHERE created_at > now() - make_interval(secs => $1::bigint)) SELECT a.id FROM a",
    "SELECT x.id FROM payments p LEFT JOIN LATERAL (SELECT q.id FROM payments q WHERE q.order_id = p.order_id LIMIT 1) x ON true",
    "SELECT jsonb_agg(jsonb_build_object('id', p.id) ORDER BY p.id) FROM payments p",
    "SELECT encode(sha256(convert_to(k::text || '|' || coalesce(p::text, ''), 'UTF8')), 'hex') FROM idempotency_keys k, payments p",
    "SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - at) * 1000) FROM provider_calls",
    "SELECT v.signal FROM (VALUES ('stuck'), ('unknown')) AS v(signal) LEFT JOIN payments p ON p.status = v.signal",
    "SELECT e.v FROM payments p, jsonb_array_elements(p.x) AS e(v)",
    "SELECT u FROM unnest(ARRAY['a', 'b']) AS u",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b DESC NULLS LAST) FROM t",
    "SELECT lag(a) OVER w FROM t WINDOW w AS (ORDER BY b)",
    "SELECT CASE WHEN a IS NULL THEN 'x' ELSE b END FROM t WHERE a IN ('x', 'y') AND b NOT IN (SELECT c FROM d) AND NOT EXISTS (SELECT 1 FROM e)",
    "SELECT ($2::jsonb ->> 'retention_s')::bigint FROM t WHERE ($1::timestamptz IS NULL OR at > $1::timestamptz)",
    "SELECT 1 UNION ALL SELECT 2 ORDER BY 1",
    "SELECT a FROM t WHERE b = ANY (ARRAY['x', 'y']) AND c LIKE 'do%'",
    "SELECT pg_catalog.pg_get_userbyid(c.relowner) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace",
    "SELECT has_table_privilege(c.oid, 'DELETE') FROM pg_catalog.pg_class c",
    "SELECT current_user, session_user",
    "SELECT \"orderId\" FROM \"IdempotencyKeys\"",
    "SELECT interval '5 minutes', timestamptz '2020-01-01', date_trunc('minute', at) FROM t",
    "SELECT a IS NOT DISTINCT FROM b, (a, b) < (c, d), NOT a, - b, a % 2 FROM t",
    "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b",
    "SELECT left(a, 8), right(a, 6), substr(a, 1, 2), round(b, 2), floor(b), ceil(b), greatest(a, b) FROM t",
    "SELECT NULL::text AS owner, '{}'::text[], true AS yes",
];

#[test]
fn every_evasion_is_refused() {
    let passed: Vec<&&str> = REFUSED.iter().filter(|text| read("t.sql", text).is_ok()).collect();
    assert!(passed.is_empty(), "these got through: {passed:#?}");
}

#[test]
fn the_grammar_alone_refuses_writing_and_locking() {
    let verbs =
        ["DELETE", "UPDATE", "INSERT", "INTO", "MERGE", "TRUNCATE", "COPY", "CALL", "EXECUTE", "FOR SHARE", "FOR KEY"];
    let only_a_name = |text: &str| text == "SELECT 1 DELETE FROM payments" || text.starts_with("SELECT U&\"");
    for text in REFUSED.iter().filter(|text| verbs.iter().any(|verb| text.contains(verb)) && !only_a_name(text)) {
        // Tricks with comments and quotes are the alphabet's business; the parser is not asked about them.
        if super::lex::lex(text, super::lex::Dress::Query).is_ok() {
            assert!(super::check_tree(text).is_err(), "the grammar let through: {text}");
        }
    }
}

#[test]
fn every_evasion_is_refused_as_a_change_too() {
    let passed: Vec<&&str> = REFUSED.iter().filter(|text| change("do_adopt.sql", text).is_ok()).collect();
    assert!(passed.is_empty(), "these got through: {passed:#?}");
}

#[test]
fn ordinary_queries_pass() {
    let refused: Vec<String> = PASSED
        .iter()
        .filter_map(|text| read("t.sql", text).err().map(|error| format!("{text}\n    {error}")))
        .collect();
    assert!(refused.is_empty(), "these were refused:\n{}", refused.join("\n"));
}

#[test]
fn an_evasion_wrapped_in_an_ordinary_query_is_refused() {
    // The same trick one level down, where a lenient walk would have stopped looking.
    for inner in REFUSED.iter().filter(|text| text.starts_with("SELECT") || text.starts_with("WITH")) {
        for outer in [
            format!("SELECT x FROM ({inner}) AS x"),
            format!("WITH x AS ({inner}) SELECT 1"),
            format!("SELECT 1 WHERE EXISTS ({inner})"),
            format!("SELECT 1 UNION ALL ({inner})"),
        ] {
            let lines_up = read("t.sql", &outer);
            assert!(lines_up.is_err(), "got through: {outer}");
        }
    }
}

#[test]
fn the_refusal_names_file_and_reason() {
    let says = |text: &str| read("reference/get_stuck.sql", text).unwrap_err().to_string();
    assert_eq!(
        says("SELECT id FROM payments FOR UPDATE"),
        "reference/get_stuck.sql: the word UPDATE is not allowed here"
    );
    assert_eq!(says("SELECT pg_sleep(1)"), "reference/get_stuck.sql: the function pg_sleep is not on the list");
    assert_eq!(
        says("SELECT id FROM payments FOR SHARE"),
        "reference/get_stuck.sql: a locking clause (FOR UPDATE, FOR SHARE …) is not allowed here"
    );
    assert_eq!(says("SELECT id INTO x FROM payments"), "reference/get_stuck.sql: the word INTO is not allowed here");
    assert_eq!(says("SELECT 1; SELECT 2"), "reference/get_stuck.sql: 2 statements where exactly one SELECT is allowed");
    assert_eq!(says("DELETE FROM payments"), "reference/get_stuck.sql: the word DELETE is not allowed here");
    assert_eq!(says("SELECT 1\n, E'x'"), "reference/get_stuck.sql: line 2: e'…' is a string in another notation");
}

#[test]
fn what_is_sent_is_what_was_read() {
    let checked = read("t.sql", "-- one; two\nSELECT $1::text -- three\n, $2::bigint;\n").unwrap();
    assert_eq!(checked.sql(), "SELECT $1::text  \n, $2::bigint");
    assert_eq!(checked.parameters(), 2);
    assert_eq!(checked.file(), "t.sql");
}

#[test]
fn every_file_in_queries_passes_whether_shipped_or_not() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/queries");
    let mut folders = vec![std::path::PathBuf::from(root)];
    let mut wrong = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let last = name.rsplit('/').next().unwrap_or("").to_owned();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let result = match last.as_str() {
                "install.sql" => super::install(&name, &text).map(drop),
                "schema.sql" => Ok(()),
                _ if last.starts_with("do_") => change(&name, &text).map(drop),
                _ if path.extension().is_some_and(|kind| kind == "sql") => read(&name, &text).map(drop),
                _ => Ok(()),
            };
            wrong.extend(result.err().map(|error| error.to_string()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
