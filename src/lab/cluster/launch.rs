//! `initdb` and `postgres` with the settings of a throw-away: fast, small, and gone afterwards.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use super::account::Account;
use super::workdir::WorkDir;
use super::{ClusterError, ClusterOptions, StatementLog, SynchronousCommit};

/// What is needed to start the same server again.
#[derive(Debug)]
pub(super) struct Launcher {
    pub(super) account: Account,
    pub(super) programs: PathBuf,
    pub(super) port: u16,
    settings: Vec<(String, String)>,
}

impl Launcher {
    pub(super) fn new(account: Account, programs: PathBuf, options: &ClusterOptions) -> Result<Self, ClusterError> {
        Ok(Self { account, programs, port: free_port()?, settings: settings(options) })
    }

    /// Makes the cluster: trust on the socket (its directory is closed to others), a password on the port.
    pub(super) fn initdb(&self, directory: &WorkDir, password: &str) -> Result<(), ClusterError> {
        let secret = directory.socket_dir().join("password");
        std::fs::write(&secret, password).map_err(ClusterError::io("write the server's password"))?;
        self.account.give(&secret)?;
        let program = self.programs.join("initdb");
        let output = self
            .account
            .command(&program)
            .args([
                "--no-sync",
                "--auth-local=trust",
                "--auth-host=scram-sha-256",
                "-U",
                "postgres",
                "-E",
                "UTF8",
                "--no-locale",
            ])
            .arg(format!("--pwfile={}", secret.display()))
            .arg("-D")
            .arg(directory.data())
            .current_dir(directory.path())
            .output()
            .map_err(ClusterError::io("run initdb"))?;
        std::fs::remove_file(&secret).ok();
        if output.status.success() {
            return Ok(());
        }
        let detail = tail(&String::from_utf8_lossy(&output.stderr));
        Err(ClusterError::DidNotStart { program, detail })
    }

    /// Starts the server; it is ready when a connection succeeds, which is the caller's to find out.
    pub(super) fn postgres(&self, directory: &WorkDir) -> Result<Child, ClusterError> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(directory.log())
            .map_err(ClusterError::io("open the server's log"))?;
        let errors = log.try_clone().map_err(ClusterError::io("open the server's log"))?;
        let mut command = self.account.command(&self.programs.join("postgres"));
        command
            .arg("-D")
            .arg(directory.data())
            .arg("-k")
            .arg(directory.socket_dir())
            .arg("-p")
            .arg(self.port.to_string());
        for (name, value) in &self.settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command
            .current_dir(directory.path())
            .stdout(Stdio::from(log))
            .stderr(Stdio::from(errors))
            .spawn()
            .map_err(ClusterError::io("run postgres"))
    }

    pub(super) fn did_not_start(&self, log: &Path) -> ClusterError {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        ClusterError::DidNotStart { program: self.programs.join("postgres"), detail: tail(&text) }
    }
}

fn settings(options: &ClusterOptions) -> Vec<(String, String)> {
    let commit = match options.synchronous_commit {
        SynchronousCommit::Off => "off",
        SynchronousCommit::On => "on",
    };
    let mut settings = vec![
        ("listen_addresses", "127.0.0.1"),
        ("fsync", "off"),
        ("full_page_writes", "off"),
        ("synchronous_commit", commit),
        ("shared_buffers", "32MB"),
        ("max_connections", "100"),
        ("max_prepared_transactions", "0"),
        ("dynamic_shared_memory_type", "mmap"), // in the directory: nothing of a killed server stays in /dev/shm
        ("checkpoint_timeout", "30min"),
        ("timezone", "UTC"),
        ("log_timezone", "UTC"),
        ("logging_collector", "off"),
        ("log_line_prefix", "%m pid=%p user=%u db=%d app=%a "),
    ];
    settings.extend(match options.log_statements {
        StatementLog::Off => [("log_statement", "none"), ("log_min_messages", "warning")],
        StatementLog::All => [("log_statement", "all"), ("log_min_messages", "warning")],
    });
    let ours = settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    ours.chain(options.settings.iter().cloned()).collect()
}

/// A loopback port nobody listens on now; the caller tries again should it be taken meanwhile.
fn free_port() -> Result<u16, ClusterError> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(ClusterError::io("find a free port"))
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(4)).copied().collect::<Vec<_>>().join(" | ");
    if last.is_empty() { "it wrote nothing".to_owned() } else { last }
}
