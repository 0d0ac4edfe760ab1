//! `unstuck lab`: the throw-away world without a console. Reads no configuration and no address of a database.

pub mod args;
mod table;
mod verify;

use args::{LabArgs, LabCommand};

use super::out::{ExitCode, Out};

/// Does what was asked.
pub async fn run(args: &LabArgs, out: &mut Out<'_>) -> ExitCode {
    match &args.what {
        LabCommand::Verify(args) => verify::run(args, out).await,
    }
}
