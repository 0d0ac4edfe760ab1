//! `unstuck demo --join DIR`: the second seat at a running demo. Another login, another name, the same world.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use color_eyre::eyre::{Result, eyre};

use super::super::args::Common;
use super::super::console::{can_record, not_recorded};
use super::super::out::{ExitCode, Out};
use super::super::settings;
use super::{Table, TableOptions, not_told};
use crate::app::model::SecondSeat;
use crate::domain::ids::Operator;
use crate::domain::time::Seconds;
use crate::lab::world::Seat;
use crate::shell::open;
use crate::shell::record::Paper;

/// Who sits there when nobody says otherwise.
const SECOND: &str = "second";

/// Sits down at the demo of that directory. Reads no configuration and no address of a database but the demo's own.
pub async fn run(
    directory: &Path,
    common: &Common,
    variable: &dyn Fn(&str) -> Option<String>,
    out: &mut Out<'_>,
) -> ExitCode {
    let seat = match Seat::find(directory) {
        Ok(seat) => seat,
        Err(why) => {
            out.complain(&format!("Nobody can sit down: {why}."));
            return ExitCode::Finding;
        }
    };
    let look = match settings::look(common, None, variable) {
        Ok(look) => look,
        Err(error) => return not_told(&error.to_string(), out),
    };
    if let Some(Err(code)) = common.record.as_deref().map(|file| can_record(file, out)) {
        return code;
    }
    let options = TableOptions {
        operator: second(&seat.first, variable),
        look,
        poll: common.poll.map_or(settings::POLL, Seconds),
        second: SecondSeat::Here,
        practice: super::practice(None),
        keys: seat.keys,
    };
    let table = match table(&seat, options) {
        Ok(table) => table,
        Err(error) => return not_told(&format!("{error:#}"), out),
    };
    // Asked before the screen is taken: a demo that is gone is a sentence, not a banner.
    if let Err(why) = table.store.connect().await {
        out.complain(&format!("Nobody can sit down: the demo in {} does not answer ({why}).", directory.display()));
        return ExitCode::Finding;
    }
    if !std::io::stdout().is_terminal() {
        return not_told("The second seat is a console: it needs a terminal.", out);
    }
    let paper = match common.record.as_deref().map(Paper::create).transpose() {
        Ok(paper) => paper,
        Err(error) => return not_recorded(&error, out),
    };
    let greeting =
        format!("You are {}, the second person. The demo ends with its first console.", table.setup.context.operator);
    let opened = open::open(table.setup, open::through(table.store), table.providers, Some(greeting), paper);
    match Box::pin(opened).await {
        Ok(_) => ExitCode::Ok,
        Err(error) => not_told(&format!("the terminal cannot be used: {error}"), out),
    }
}

fn table(seat: &Seat, options: TableOptions) -> Result<Table> {
    let profiles = super::profiles()?;
    let server = crate::store::options::StoreOptions::from_url(&seat.database, Arc::clone(&profiles))
        .map_err(|error| eyre!("{error}"))?;
    Table::lay(server, seat.provider.clone(), options)
}

/// Nobody decides about their own plan: the second person has another name than the first, whatever the account's is.
fn second(first: &str, variable: &dyn Fn(&str) -> Option<String>) -> Operator {
    let same = |name: &String| name.trim().eq_ignore_ascii_case(first.trim());
    let asked = variable(settings::OPERATOR).map(|name| name.trim().to_owned());
    let name = asked.filter(|name| !name.is_empty() && !same(name)).unwrap_or_else(|| SECOND.to_owned());
    Operator::new(if same(&name) { format!("{SECOND}-person") } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_person_is_never_the_first() {
        let of = |first: &str, asked: Option<&str>| {
            second(first, &|name| (name == settings::OPERATOR).then(|| asked.map(str::to_owned)).flatten()).to_string()
        };
        assert_eq!(of("dana", Some("lee")), "lee");
        assert_eq!(of("dana", Some(" DANA ")), SECOND);
        assert_eq!(of("dana", Some(" ")), SECOND);
        assert_eq!(of("dana", None), SECOND);
        assert_eq!(of("Second", None), "second-person");
    }
}
