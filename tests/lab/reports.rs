//! A provider's report held against the books by the real binary: what it finds, once, and nothing half loaded.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use sqlx::{ConnectOptions as _, Row as _};
use tempfile::TempDir;
use unstuck::lab::incident;
use unstuck::lab::world::{World, WorldOptions};

use crate::support::cluster::shared;
use crate::support::launch::binary;
use crate::support::proof::LogGuard;

struct Office {
    world: World,
    folder: TempDir,
    _log: LogGuard,
}

impl Office {
    async fn open() -> Self {
        let cluster = shared().await;
        let log = LogGuard::over(cluster);
        let story = incident::find("orphan-charges").unwrap();
        let world = World::start_in(cluster, WorldOptions::quiet(Some(story))).await.unwrap();
        world.story().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("unstuck.toml"), "[environments.demo]\nkind = \"demo\"\n").unwrap();
        Self { world, folder, _log: log }
    }

    async fn load(&self, file: &str) -> (i32, Value, String) {
        let mut command = tokio::process::Command::new(binary());
        command.args(["reconcile", "--provider", "generic", "--name", "labpay", "--json", file]);
        command.current_dir(self.folder.path()).env_clear().env("USER", "dana");
        command.env("UNSTUCK_DATABASE_URL", self.world.console_url());
        let ran = command.output().await.unwrap();
        let said = serde_json::from_slice(&ran.stdout).unwrap_or(Value::Null);
        (ran.status.code().unwrap(), said, String::from_utf8_lossy(&ran.stderr).into_owned())
    }

    async fn number(&self, sql: &'static str) -> i64 {
        let mut connection = self.world.admin_options().connect().await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    }

    /// The report that the service's own books would make, and the charges nobody asked for.
    async fn report(&self) -> (String, usize, usize) {
        let mut connection = self.world.admin_options().connect().await.unwrap();
        let paid = "SELECT provider_ref, order_id, amount, currency FROM payments WHERE status = 'succeeded' AND provider_ref IS NOT NULL ORDER BY created_at";
        let rows = sqlx::query(paid).fetch_all(&mut connection).await.unwrap();
        let mut text = "ref,order,type,amount_minor,currency,at\n".to_owned();
        for row in &rows {
            let (of, order): (String, String) = (row.get(0), row.get(1));
            let (amount, currency): (i64, String) = (row.get(2), row.get(3));
            writeln!(text, "{of},{order},charge,{amount},{currency},2026-01-01").unwrap();
        }
        let story = self.world.story().await.unwrap();
        let mut orphans = 0;
        for record in &story.records {
            for charge in self.world.provider().charges(&record.order) {
                writeln!(
                    text,
                    "{},{},charge,{},{},2026-01-01",
                    charge.id, record.order, charge.amount, charge.currency
                )
                .unwrap();
                orphans += 1;
            }
        }
        (text, rows.len(), orphans)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_is_loaded_once_and_names_what_no_payment_of_ours_has() {
    let office = Box::pin(Office::open()).await;
    let (text, ours, orphans) = office.report().await;
    assert!(orphans > 0);
    fs::write(office.folder.path().join("march.csv"), &text).unwrap();
    let (code, said, why) = office.load("march.csv").await;
    assert_eq!(code, 1, "{why}");
    assert_eq!(said["lines"], ours + orphans, "{said}");
    assert_eq!(said["matched"], ours, "{said}");
    assert_eq!(said["breaks"]["orphan"], orphans, "{said}");
    assert_eq!(said["stated"], Value::Null, "{said}");
    let rows = office.number("SELECT count(*) FROM unstuck.settlement_row").await;

    // The same file is the same report, whatever it is called.
    fs::write(office.folder.path().join("again.csv"), &text).unwrap();
    let (_, again, why) = office.load("again.csv").await;
    assert_eq!((again["breaks"].clone(), again["lines"].clone()), (said["breaks"].clone(), said["lines"].clone()));
    assert!(why.contains("was loaded before"), "{why}");
    assert_eq!(office.number("SELECT count(*) FROM unstuck.settlement_row").await, rows);

    // A charge that a second report has again.
    let twice = text.lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(office.folder.path().join("twice.csv"), twice).unwrap();
    let (code, said, why) = office.load("twice.csv").await;
    assert_eq!((code, &said["breaks"]["duplicate"]), (1, &Value::from(1)), "{said} {why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_cut_off_or_contradicts_itself_is_seen_by_nobody() {
    let office = Box::pin(Office::open()).await;
    let (text, ..) = office.report().await;
    let long = text.lines().cycle().skip(1).filter(|line| !line.starts_with("ref,")).take(2_500);
    let long: Vec<String> = long.enumerate().map(|(nth, line)| format!("{nth}{line}")).collect();
    let head = text.lines().next().unwrap();
    let cut = format!("{head}\n{}\nlast,ord", long.join("\n"));
    fs::write(office.folder.path().join("cut.csv"), cut).unwrap();
    let (code, said, why) = office.load("cut.csv").await;
    assert_eq!((code, said), (1, Value::Null), "{why}");
    assert!(why.contains("ends in the middle") && why.contains("Nothing of it was loaded"), "{why}");
    assert!(office.number("SELECT count(*) FROM unstuck.settlement_row").await >= 2_000, "batches were staged");
    for seen in ["SELECT count(*) FROM unstuck.settlement_report", "SELECT count(*) FROM unstuck.settlement_break"] {
        assert_eq!(office.number(seen).await, 0, "{seen}");
    }
    // The whole file afterwards is right, whatever lies there from before.
    let whole = format!("{head}\n{}\n,,total,7,EUR,\n", long.join("\n"));
    fs::write(office.folder.path().join("whole.csv"), &whole).unwrap();
    let (code, _, why) = office.load("whole.csv").await;
    assert!(code == 1 && why.contains("the difference is"), "{why}");
    let whole = whole.replace(",,total,7,EUR,\n", "");
    fs::write(office.folder.path().join("whole.csv"), whole).unwrap();
    let (code, said, why) = office.load("whole.csv").await;
    assert_eq!((code, said["lines"].as_u64()), (1, Some(2_500)), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_that_is_killed_is_seen_by_nobody_and_can_be_done_again() {
    let office = Box::pin(Office::open()).await;
    let (text, ours, _) = office.report().await;
    let head = text.lines().next().unwrap();
    let mut file = format!("{head}\n");
    for nth in 0..60_000 {
        writeln!(file, "none{nth},,charge,100,EUR,2026-01-01").unwrap();
    }
    fs::write(office.folder.path().join("long.csv"), &file).unwrap();
    let mut command = tokio::process::Command::new(binary());
    command.args(["reconcile", "--provider", "generic", "--name", "labpay", "long.csv"]);
    command.current_dir(office.folder.path()).env_clear().env("USER", "dana");
    command.env("UNSTUCK_DATABASE_URL", office.world.console_url());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    while office.number("SELECT count(*) FROM unstuck.settlement_row").await == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before anything was staged");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    child.kill().await.unwrap();
    for seen in ["SELECT count(*) FROM unstuck.settlement_report", "SELECT count(*) FROM unstuck.settlement_break"] {
        assert_eq!(office.number(seen).await, 0, "{seen}");
    }
    fs::write(office.folder.path().join("whole.csv"), &text).unwrap();
    let (_, said, why) = office.load("whole.csv").await;
    assert_eq!(said["matched"].as_u64(), u64::try_from(ours).ok(), "{said} {why}");
    assert_eq!(office.number("SELECT count(*) FROM unstuck.settlement_report").await, 1);
}

/// What a report says of a charge is evidence in the support case of its order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loaded_report_is_a_source_of_the_case() {
    let office = Box::pin(Office::open()).await;
    let (text, ..) = office.report().await;
    let paid: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    let (charge, order, amount, currency) = (paid[0], paid[1], paid[3], paid[4]);
    // The service has imported the charge itself; the refund stands in the loaded report alone.
    let refund = format!("{charge},{order},refund,-{amount},{currency},2026-01-02\n");
    fs::write(office.folder.path().join("refund.csv"), format!("{text}{refund}")).unwrap();
    let (_, said, why) = office.load("refund.csv").await;
    assert!(said["lines"].is_u64(), "{why}");
    let mut command = tokio::process::Command::new(binary());
    command.args(["triage", charge, "--json", "--export", "case.json"]).current_dir(office.folder.path());
    command.env_clear().env("USER", "dana").env("UNSTUCK_DATABASE_URL", office.world.console_url());
    let ran = command.output().await.unwrap();
    let bundle = fs::read_to_string(office.folder.path().join("case.json"));
    let bundle = bundle.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
    let case: Value = serde_json::from_str(&bundle).unwrap();
    let lines: Vec<(&str, i64)> = case["settlement"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line["ref"] == charge)
        .map(|line| (line["type"].as_str().unwrap(), line["amount"].as_i64().unwrap()))
        .collect();
    let minor: i64 = amount.parse().unwrap();
    assert_eq!(lines.iter().filter(|(kind, _)| *kind == "charge").count(), 1, "{lines:?}");
    assert!(lines.contains(&("refund", -minor)), "{lines:?}");
}
