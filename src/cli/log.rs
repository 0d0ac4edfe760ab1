//! `--log FILE`: the console's own log. Without it nothing is written: the screen is not a place for a log.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;

/// Appends to `file`, made readable for its owner only. Secrets are never given to a log; ids are.
pub fn start(file: &Path) -> io::Result<()> {
    let mut open = OpenOptions::new();
    open.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    let file = open.open(file)?;
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).with_max_level(LevelFilter::INFO).with_writer(Mutex::new(file));
    // A second start in one process keeps the first log: that only happens in tests.
    let _ = tracing::subscriber::set_global_default(subscriber.finish());
    Ok(())
}
