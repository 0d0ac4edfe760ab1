//! `unstuck install`: the schema that actions need, printed, or applied by an administrator.
//!
//! It never uses the console's connection or its role: that role must not be able to do this.

use std::sync::Arc;

use secrecy::SecretString;

use super::args::{Common, InstallArgs};
use super::out::{ExitCode, Out};
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::port::StoreError;
use crate::store::gate::Script;
use crate::store::install::{self, kind_word};
use crate::store::library::Library;
use crate::store::options::StoreOptions;

/// The variable with an administrator's address.
pub const INSTALL_URL: &str = "UNSTUCK_INSTALL_DATABASE_URL";

/// Why nothing was installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The profile only reads.
    #[error("profile {0} has nothing to install; profiles that can act: reference")]
    NoScript(String),
    /// The script holds something it must not.
    #[error("the script is refused: {0}")]
    Refused(StoreError),
    /// The environment has no usable name.
    #[error("--environment NAME is missing or odd: small letters, digits and dashes, because people type it")]
    NoName,
    /// There is no address.
    #[error(
        "the environment variable {INSTALL_URL} is not set. Set it to an administrator's address: the role of the \
         console cannot install, and must not be able to"
    )]
    NoAddress,
    /// The address cannot be read; it is not repeated.
    #[error("{INSTALL_URL}: the address is not valid; it looks like postgres://admin@host/payments")]
    BadAddress,
    /// It was tried, and nothing was changed.
    #[error("{INSTALL_URL}: nothing was changed: {0}")]
    NotInstalled(#[from] StoreError),
}

/// Prints or applies.
pub async fn run(
    args: &InstallArgs,
    common: &Common,
    variable: &dyn Fn(&str) -> Option<String>,
    out: &mut Out<'_>,
) -> ExitCode {
    let done = if args.apply { apply(args, common, variable, out).await } else { print(args, common, out) };
    match done {
        Ok(()) => ExitCode::Ok,
        Err(error) => {
            out.complain(&error.to_string());
            match error {
                InstallError::NotInstalled(StoreError::Unreachable { .. } | StoreError::TimedOut { .. }) => {
                    ExitCode::NotKnown
                }
                InstallError::NoScript(_)
                | InstallError::Refused(_)
                | InstallError::NoName
                | InstallError::NoAddress
                | InstallError::BadAddress
                | InstallError::NotInstalled(
                    StoreError::Denied { .. }
                    | StoreError::Contract { .. }
                    | StoreError::CannotAnswer { .. }
                    | StoreError::Database { .. },
                ) => ExitCode::Finding,
            }
        }
    }
}

/// The script of a built-in profile: only what was built in is ever applied.
fn script(profile: &str) -> Result<Script, InstallError> {
    let library = Library::shipped();
    if library.text(&format!("{profile}/install.sql")).is_none() {
        return Err(InstallError::NoScript(profile.to_owned()));
    }
    install::script(&library, profile).map_err(InstallError::Refused)
}

fn print(args: &InstallArgs, common: &Common, out: &mut Out<'_>) -> Result<(), InstallError> {
    out.block(script(&args.profile)?.text());
    if let (Some(name), Some(kind)) = (&common.environment, args.kind) {
        let name = named(Some(name))?;
        let word = kind_word(kind.into());
        out.line("");
        out.line(&["SELECT unstuck.set_environment('", name, "', '", word, "');"].concat());
    }
    Ok(())
}

/// One transaction: the schema and the environment's name, or nothing.
async fn apply(
    args: &InstallArgs,
    common: &Common,
    variable: &dyn Fn(&str) -> Option<String>,
    out: &mut Out<'_>,
) -> Result<(), InstallError> {
    let script = script(&args.profile)?;
    let name = named(common.environment.as_ref())?;
    let kind = args.kind.map(EnvironmentKind::from).ok_or(InstallError::NoName)?;
    let address = variable(INSTALL_URL)
        .filter(|url| !url.trim().is_empty())
        .map(SecretString::from)
        .ok_or(InstallError::NoAddress)?;
    let options = StoreOptions::from_url(&address, Arc::default()).map_err(|_| InstallError::BadAddress)?;
    install::apply(&options, &script, &Environment { name: name.to_owned(), kind }).await?;
    out.line(&format!("Done. Schema unstuck is installed, and this database is {name} ({}).", kind.band()));
    out.line("Next: GRANT unstuck_operator TO the role of the console, then: unstuck doctor");
    Ok(())
}

/// The environment's name, as it will be typed in phrases.
fn named(name: Option<&String>) -> Result<&str, InstallError> {
    name.map(String::as_str).filter(|name| super::config::is_environment_name(name)).ok_or(InstallError::NoName)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::KindArg;
    use crate::ui::text::safe_text;

    fn args(apply: bool) -> InstallArgs {
        InstallArgs { print: !apply, apply, kind: Some(KindArg::Staging), profile: "reference".to_owned() }
    }

    fn common(name: Option<&str>) -> Common {
        Common { environment: name.map(str::to_owned), ..Common::default() }
    }

    #[test]
    fn the_script_is_printed_as_it_is() {
        let script = script("reference").unwrap();
        let script = script.text();
        assert!(script.lines().all(|line| safe_text(line) == line), "nothing in it is rewritten on output");
        let (mut plain, mut errors) = (Vec::new(), Vec::new());
        print(&args(false), &common(Some("eu-1")), &mut Out::new(&mut plain, &mut errors)).unwrap();
        let said = String::from_utf8(plain).unwrap();
        assert!(said.starts_with(script));
        assert!(said.ends_with("SELECT unstuck.set_environment('eu-1', 'staging');\n"));
    }

    #[tokio::test]
    async fn nothing_is_applied_without_name_and_address() {
        let (mut plain, mut errors) = (Vec::new(), Vec::new());
        let mut out = Out::new(&mut plain, &mut errors);
        // The console's own address is no way in.
        let console = |name: &str| (name == "UNSTUCK_DATABASE_URL").then(|| "postgres://x".to_owned());
        for odd in [None, Some("x'; SELECT 1"), Some("PROD")] {
            assert!(matches!(apply(&args(true), &common(odd), &console, &mut out).await, Err(InstallError::NoName)));
        }
        let none = apply(&args(true), &common(Some("eu-1")), &console, &mut out).await;
        assert!(matches!(none, Err(InstallError::NoAddress)));
        let odd = |_: &str| Some("mysql://me:hunter2@x".to_owned());
        let error = apply(&args(true), &common(Some("eu-1")), &odd, &mut out).await.unwrap_err();
        assert!(matches!(error, InstallError::BadAddress) && !format!("{error} {error:?}").contains("hunter2"));
    }

    #[test]
    fn a_profile_that_only_reads_has_no_script() {
        assert!(matches!(script("records"), Err(InstallError::NoScript(_))));
    }
}
