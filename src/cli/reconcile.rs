//! `unstuck reconcile`: loads settlement reports into the console's own tables and says where they and our books
//! disagree. It never changes the books.

pub mod args;
mod format;
mod line;
mod report;

use std::path::Path;

use serde_json::{Value, json};

use super::out::{ExitCode, Out};
use super::settings::{Settings, connect};
use crate::domain::ids::ProviderName;
use crate::domain::port::StoreError;
use crate::store::postgres::PgStore;
use crate::store::settle::{Begun, Settled, Settling};
use args::ReconcileArgs;
use format::Format;
use line::Line;
use report::BadReport;

/// How many lines are sent at once.
const BATCH: usize = 1_000;

/// How often progress is told, in lines.
const TELL: u64 = 100_000;

/// Loads each report on its own; one that is bad keeps no other from being loaded.
pub async fn run(args: &ReconcileArgs, settings: &Settings, out: &mut Out<'_>) -> ExitCode {
    let Some(format) = format::FORMATS.iter().find(|format| format.name == args.provider) else {
        let known: Vec<&str> = format::FORMATS.iter().map(|format| format.name).collect();
        out.complain(&format!("--provider {}: there are {}", args.provider, known.join(", ")));
        return ExitCode::NotKnown;
    };
    let store = match connect::patient_store(settings) {
        Ok(store) => store,
        Err(why) => {
            out.complain(&format!("NOT KNOWN: {why}"));
            return ExitCode::NotKnown;
        }
    };
    let name = ProviderName::new(args.name.as_deref().unwrap_or(format.name));
    let mut worst = ExitCode::Ok;
    for file in &args.files {
        let told = match one(file, format, &name, &store, settings, out).await {
            Ok(settled) => tell(file, &settled, args, out),
            Err(why) => {
                out.complain(&format!("{}: {why}. Nothing of it was loaded.", file.display()));
                match why {
                    NotLoaded::Report(BadReport::Unreadable(_) | BadReport::NoFile) | NotLoaded::Store(_) => {
                        ExitCode::NotKnown
                    }
                    NotLoaded::Report(_) | NotLoaded::Refused(_) => ExitCode::Finding,
                }
            }
        };
        if told.number() > worst.number() {
            worst = told;
        }
    }
    worst
}

/// Why a report was not loaded.
#[derive(Debug, thiserror::Error)]
enum NotLoaded {
    #[error(transparent)]
    Report(#[from] BadReport),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Refused(String),
}

async fn one(
    file: &Path,
    format: &'static Format,
    provider: &ProviderName,
    store: &PgStore,
    settings: &Settings,
    out: &mut Out<'_>,
) -> Result<Settled, NotLoaded> {
    let (hash, _) = report::fingerprint(file)?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut settling = Settling::open(store, settings.operator.clone()).await?;
    let load = match settling.begin(provider, &name, &hash).await.map_err(refused)? {
        Begun::Loading(load) => load,
        Begun::LoadedBefore(settled) => {
            out.complain(&format!("{}: this file was loaded before; nothing was loaded again.", file.display()));
            return Ok(*settled);
        }
    };
    // The file is read by a thread of its own, one batch ahead of the database at most.
    let (lines, mut batches) = tokio::sync::mpsc::channel::<Vec<Value>>(1);
    let path = file.to_owned();
    let reading = tokio::task::spawn_blocking(move || in_batches(&path, format, &lines));
    let mut sent = 0_u64;
    while let Some(batch) = batches.recv().await {
        let before = sent / TELL;
        sent = sent.saturating_add(u64::try_from(batch.len()).unwrap_or(0));
        settling.rows(load, batch).await.map_err(refused)?;
        if sent / TELL > before {
            out.complain(&format!("{}: {sent} lines …", file.display()));
        }
    }
    let summary = reading.await.map_err(|_| NotLoaded::Refused("reading it failed".to_owned()))??;
    let settled = settling.finish(load, summary.lines, summary.stated.as_ref()).await.map_err(refused)?;
    settling.close().await;
    Ok(settled)
}

fn refused(why: crate::store::settle::NotSettled) -> NotLoaded {
    match why {
        crate::store::settle::NotSettled::Store(why) => NotLoaded::Store(why),
        crate::store::settle::NotSettled::Refused(why) => NotLoaded::Refused(why),
    }
}

fn in_batches(
    file: &Path,
    format: &Format,
    to: &tokio::sync::mpsc::Sender<Vec<Value>>,
) -> Result<report::Summary, BadReport> {
    let mut batch = Vec::with_capacity(BATCH);
    let summary = report::read(file, format, &mut |number, line| {
        batch.push(as_row(number, &line));
        if batch.len() == BATCH {
            send(to, std::mem::take(&mut batch))?;
        }
        Ok(())
    })?;
    if !batch.is_empty() {
        send(to, batch)?;
    }
    Ok(summary)
}

fn send(to: &tokio::sync::mpsc::Sender<Vec<Value>>, batch: Vec<Value>) -> Result<(), BadReport> {
    let gone = |_| BadReport::Unreadable(std::io::Error::other("the database took no more"));
    to.blocking_send(batch).map_err(gone)
}

fn as_row(number: u64, line: &Line) -> Value {
    json!({
        "line": number,
        "kind": line.kind.word(),
        "ref": line.reference,
        "order": line.order,
        "amount": line.money.minor,
        "currency": line.money.currency,
        "at": line.at,
    })
}

/// Says what a report came to.
fn tell(file: &Path, is: &Settled, args: &ReconcileArgs, out: &mut Out<'_>) -> ExitCode {
    let broken = is.breaks.values().sum::<u64>();
    if args.json {
        out.json(&json!({
            "file": file.display().to_string(), "hash": is.report.hash, "provider": is.report.provider, "lines": is.report.lines,
            "matched": is.report.matched, "breaks": is.breaks, "ours": is.report.ours, "theirs": is.report.theirs,
            "stated": is.report.stated,
        }));
    } else {
        out.line(&format!(
            "{}: {} lines, {} matched, {broken} breaks.",
            file.display(),
            is.report.lines,
            is.report.matched
        ));
        for (kind, count) in &is.breaks {
            out.line(&format!("  {count:>8}  {kind}"));
        }
        let theirs = if is.report.theirs.is_empty() { "nothing".to_owned() } else { is.report.theirs.to_string() };
        let ours = if is.report.ours.is_empty() { "nothing".to_owned() } else { is.report.ours.to_string() };
        out.line(&format!("  charges: they say {theirs}; our books have {ours} of them."));
        let stated = is.report.stated.as_ref();
        out.line(&format!(
            "  totals: {}",
            stated.map_or_else(|| "not stated by the provider".to_owned(), |stated| format!("{stated}, as stated"))
        ));
    }
    if broken == 0 { ExitCode::Ok } else { ExitCode::Finding }
}
