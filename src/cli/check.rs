//! `unstuck check`: one line for monitoring, and an exit code that says the same.

use serde_json::{Value, json};

use super::args::CheckArgs;
use super::out::{ExitCode, Out};
use super::settings::{Settings, connect};
use crate::domain::alarm::{self, Assessment, Level, Normals};
use crate::domain::approval::{waiting, waiting_sentence};
use crate::domain::port::Beside;
use crate::domain::port::Store as _;
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{self, Instant};
use crate::store::postgres::PgStore;

/// The most pieces of work one full check does: every rule, and the hour of requests in slices.
const PIECES: usize = 400;

/// Asks once and says how bad it is.
pub async fn run(args: &CheckArgs, settings: &Settings, out: &mut Out<'_>) -> ExitCode {
    let verdict = match connect::patient_store(settings) {
        Ok(store) => match look(&store, args).await {
            Ok(snapshot) => Verdict::of(&snapshot, &settings.normals),
            Err(error) => Verdict::not_known(&error.to_string()),
        },
        Err(error) => Verdict::not_known(&error.to_string()),
    };
    let environment = settings.environment.as_ref().map(|place| place.name.as_str());
    verdict.tell(args, environment, out)
}

/// The one line when nothing could even be started; what is wrong is told beside it.
pub fn unusable(args: &CheckArgs, out: &mut Out<'_>) -> ExitCode {
    Verdict::not_known("the configuration or the command line has mistakes, nothing was asked").tell(args, None, out)
}

async fn look(store: &PgStore, args: &CheckArgs) -> Result<Snapshot, crate::domain::port::StoreError> {
    let first = store.poll().await?;
    if !args.audit {
        return Ok(first);
    }
    for _ in 0..PIECES {
        // A piece that failed is NOT KNOWN in the next picture; the others are still worth reading.
        if matches!(store.work_beside().await, Ok(Beside::Idle)) {
            break;
        }
    }
    store.poll().await
}

/// What `check` says.
struct Verdict {
    line: String,
    code: ExitCode,
    /// Plans that wait for a second person; `None`: not known. They do not change the level: nothing is wrong.
    waiting: Option<usize>,
    assessment: Option<(Assessment, Instant)>,
}

impl Verdict {
    fn of(snapshot: &Snapshot, normals: &Normals) -> Self {
        let assessment = alarm::assess(snapshot, normals);
        Self {
            line: with_waiting(alarm::check_line(&assessment, snapshot.db_now), snapshot),
            waiting: waiting(snapshot).map(|waiting| waiting.len()),
            code: code_of(assessment.level),
            assessment: Some((assessment, snapshot.db_now)),
        }
    }

    fn not_known(why: &str) -> Self {
        Self {
            line: format!("{}: {}. Run: unstuck doctor", Level::NotKnown.word(), why.trim_end_matches('.')),
            code: ExitCode::NotKnown,
            waiting: None,
            assessment: None,
        }
    }

    fn tell(&self, args: &CheckArgs, environment: Option<&str>, out: &mut Out<'_>) -> ExitCode {
        if args.json {
            out.json(&self.as_json(environment));
        } else {
            out.line(&self.line);
        }
        self.code
    }

    /// The same as an object. What is not known is null, never zero and never an empty list.
    fn as_json(&self, environment: Option<&str>) -> Value {
        let (level, as_of, alarms) = match &self.assessment {
            Some((assessment, at)) => {
                (assessment.level, json!(at), assessment.alarms.iter().map(|alarm| one(alarm, *at)).collect())
            }
            None => (Level::NotKnown, Value::Null, Value::Null),
        };
        json!({
            "level": level,
            "exit_code": self.code.number(),
            "line": self.line,
            "environment": environment,
            "as_of": as_of,
            "waiting_for_approval": self.waiting,
            "alarms": alarms,
        })
    }
}

/// The line, with what waits for a second person behind it.
fn with_waiting(line: String, snapshot: &Snapshot) -> String {
    match waiting_sentence(snapshot, snapshot.db_now) {
        Some(waits) => format!("{line} {waits}."),
        None => line,
    }
}

/// One alarm: amounts in minor units by currency, ages in seconds.
fn one(alarm: &alarm::Alarm, now: Instant) -> Value {
    let money: Vec<Value> =
        alarm.money.iter().map(|sum| json!({ "currency": sum.currency, "minor": sum.minor })).collect();
    json!({
        "level": alarm.level,
        "what": alarm.what,
        "signal": alarm.signal,
        "money": money,
        "since": alarm.since,
        "age_s": alarm.since.map(|since| time::age(since, now)),
        "next": alarm.next,
    })
}

/// critical over not known over warning over ok, in the numbers monitoring reads.
fn code_of(level: Level) -> ExitCode {
    match level {
        Level::Ok => ExitCode::Ok,
        Level::Caution => ExitCode::Finding,
        Level::Critical => ExitCode::Critical,
        Level::NotKnown => ExitCode::NotKnown,
    }
}
