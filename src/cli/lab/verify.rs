//! `unstuck lab verify`: runs the table, prints both columns, and says by its exit code whether they are as expected.

use serde_json::{Value, json};

use super::args::VerifyArgs;
use super::table;
use crate::cli::out::{ExitCode, Out};
use crate::lab::LabError;
use crate::lab::cluster::{Cluster, ClusterOptions, SynchronousCommit};
use crate::lab::verify::{ALL, Bench, Ended, Row, Which};

/// How the cells ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    as_expected: usize,
    differ: usize,
    not_run: usize,
}

/// Runs every row.
pub(super) async fn run(args: &VerifyArgs, out: &mut Out<'_>) -> ExitCode {
    if !args.json {
        out.block(table::ABOUT);
        out.line("");
    }
    match measure(args, out).await {
        Ok(tally) => out.heard(tally.code()),
        Err(error) => {
            out.complain(&format!("NOT KNOWN: {error}"));
            ExitCode::NotKnown
        }
    }
}

async fn measure(args: &VerifyArgs, out: &mut Out<'_>) -> Result<Tally, LabError> {
    let options = ClusterOptions { synchronous_commit: SynchronousCommit::On, ..ClusterOptions::from_env() };
    let cluster = Cluster::start(options).await?;
    let bench = Bench::open(&cluster).await?;
    if !args.json {
        out.line(&format!("On {}.", cluster.source()));
        out.line("In databases of its own, which go when it is done. No other database is touched.");
        out.line("");
        say(&table::head(), out);
    }
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    for row in ALL {
        let naive = bench.run(row, Which::Naive).await;
        let correct = bench.run(row, Which::Correct).await;
        tally.count(&naive);
        tally.count(&correct);
        if tally.not_run > 0 {
            // A row that could not be run is told; a server that is gone would let every other row wait for it.
            bench.reach().await?;
        }
        if args.json {
            rows.push(json(row, &naive, &correct));
        } else {
            say(&table::row(row, &naive, &correct), out);
        }
    }
    if args.json {
        let (as_expected, differ, not_run) = (tally.as_expected, tally.differ, tally.not_run);
        let server = cluster.source().to_string();
        out.json(
            &json!({"server": server, "rows": rows, "as_expected": as_expected, "differ": differ, "not_run": not_run}),
        );
    } else {
        out.line(&tally.sentence());
    }
    // The table is measured; a server that is ours goes anyway.
    if let Err(error) = bench.close().await {
        tracing::debug!(%error, "the databases of lab verify were not removed");
    }
    tokio::task::spawn_blocking(move || drop(cluster)).await.ok();
    Ok(tally)
}

fn say(lines: &[String], out: &mut Out<'_>) {
    for line in lines {
        out.line(line);
    }
}

impl Tally {
    fn count(&mut self, ended: &Ended) {
        match ended {
            Ended::NotInTable => {}
            Ended::AsExpected(_) => self.as_expected += 1,
            Ended::Differs(_) => self.differ += 1,
            Ended::NotRun(_) => self.not_run += 1,
        }
    }

    /// A difference is certain, so it comes before what could not be told.
    fn code(self) -> ExitCode {
        match self {
            Self { differ: 1.., .. } => ExitCode::Finding,
            Self { not_run: 1.., .. } => ExitCode::NotKnown,
            Self { .. } => ExitCode::Ok,
        }
    }

    fn sentence(self) -> String {
        let Self { as_expected, differ, not_run } = self;
        let runs = as_expected + differ + not_run;
        match self {
            Self { differ: 0, not_run: 0, .. } => format!("{runs} runs, all as expected."),
            Self { .. } => {
                format!("{runs} runs: {as_expected} as expected, {differ} different, {not_run} could not be run.")
            }
        }
    }
}

fn json(row: &Row, naive: &Ended, correct: &Ended) -> Value {
    json!({"row": row.name, "what": row.what, "naive": cell(row, Which::Naive, naive), "correct": cell(row, Which::Correct, correct)})
}

/// One cell; null where the table has none.
fn cell(row: &Row, which: Which, ended: &Ended) -> Value {
    let expected = row.side(which).map(|side| side.expected);
    match ended {
        Ended::NotInTable => Value::Null,
        Ended::AsExpected(seen) => json!({"ended": "as_expected", "expected": expected, "seen": seen.0}),
        Ended::Differs(seen) => json!({"ended": "differs", "expected": expected, "seen": seen.0}),
        Ended::NotRun(why) => json!({"ended": "not_run", "expected": expected, "why": why}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::verify::Seen;

    #[test]
    fn the_exit_code_says_what_is_certain_first() {
        let code = |ended: &[Ended]| {
            let mut tally = Tally::default();
            for one in ended {
                tally.count(one);
            }
            (tally.code().number(), tally.sentence())
        };
        let (fine, other) = (Ended::AsExpected(Seen(vec![])), Ended::Differs(Seen(vec![])));
        let not_run = Ended::NotRun("no server".to_owned());
        assert_eq!(code(&[Ended::NotInTable, fine.clone()]), (0, "1 runs, all as expected.".to_owned()));
        assert_eq!(code(&[fine.clone(), not_run.clone()]).0, 3);
        let all = "3 runs: 1 as expected, 1 different, 1 could not be run.".to_owned();
        assert_eq!(code(&[fine, not_run, other]), (1, all));
    }
}
