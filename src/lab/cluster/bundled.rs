//! The PostgreSQL inside this binary: real server programs for a machine that has none.
//!
//! It has no server time-outs (`statement_timeout`, `lock_timeout` and deadlock detection never fire);
//! its name says so wherever it is shown.

#[cfg(bundled_archive)]
static ARCHIVE: &[u8] = include_bytes!(env!("UNSTUCK_BUNDLED_ARCHIVE"));

/// Unpacks the programs under `directory` and returns the folder with `initdb` and `postgres`;
/// `None` when this build carries none.
#[cfg(bundled_archive)]
pub(super) fn unpack(directory: &std::path::Path) -> Result<Option<std::path::PathBuf>, super::ClusterError> {
    use super::ClusterError;

    let programs = directory.join("pg");
    std::fs::create_dir(&programs).map_err(ClusterError::Unpack)?;
    let plain = ruzstd::decoding::StreamingDecoder::new(ARCHIVE)
        .map_err(|error| ClusterError::Unpack(std::io::Error::other(error)))?;
    let mut archive = tar::Archive::new(plain);
    archive.set_preserve_permissions(true);
    archive.set_preserve_ownerships(false);
    archive.unpack(&programs).map_err(ClusterError::Unpack)?;
    Ok(Some(programs.join("bin")))
}

#[cfg(not(bundled_archive))]
pub(super) fn unpack(_directory: &std::path::Path) -> Result<Option<std::path::PathBuf>, super::ClusterError> {
    Ok(None)
}

/// Whether this build carries one.
pub const fn is_bundled() -> bool {
    cfg!(bundled_archive)
}
