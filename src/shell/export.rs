//! Writing what is exported: new files in the current folder, for their owner alone. Nothing is ever overwritten.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::app::effect::ExportFile;

/// Numbers tried after a name that is taken.
const TRIES: u32 = 100;

/// Writes all files; says where they are, or what went wrong.
pub async fn write(files: Vec<ExportFile>) -> String {
    let folder = match std::env::current_dir() {
        Ok(folder) => folder,
        Err(why) => return format!("Nothing was written: the current folder is not there ({why})."),
    };
    // A slow disk must not hold up the console's other answers.
    match tokio::task::spawn_blocking(move || write_into(&folder, &files)).await {
        Ok(said) => said,
        Err(_) => "Nothing is known about the export: its task died; the log has the details.".to_owned(),
    }
}

/// Writes all files into a folder; the first that cannot be written ends it.
pub fn write_into(folder: &Path, files: &[ExportFile]) -> String {
    let mut written = Vec::new();
    for file in files {
        match write_one(folder, file) {
            Ok(path) => written.push(path),
            Err(why) => {
                let before = if written.is_empty() { "Nothing was written".to_owned() } else { said(folder, &written) };
                return format!("{before}; {} cannot be written: {why}.", file.name);
            }
        }
    }
    format!("{}. Only you can read it; customers are masked.", said(folder, &written))
}

fn said(folder: &Path, written: &[PathBuf]) -> String {
    let names: Vec<String> =
        written.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    format!("Written to {}: {}", folder.display(), names.join(", "))
}

fn write_one(folder: &Path, file: &ExportFile) -> io::Result<PathBuf> {
    let name = Path::new(&file.name);
    if name.file_name() != Some(name.as_os_str()) {
        return Err(io::Error::other("its name names a folder"));
    }
    let (stem, ending) = file.name.rsplit_once('.').unwrap_or((&file.name, "txt"));
    for nth in 1..=TRIES {
        let name = if nth == 1 { file.name.clone() } else { format!("{stem}-{nth}.{ending}") };
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut open) => {
                open.write_all(file.text.as_bytes())?;
                open.sync_all()?;
                return Ok(path);
            }
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
    }
    Err(io::Error::other(format!("{TRIES} files of that name are there")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(name: &str) -> ExportFile {
        ExportFile { name: name.to_owned(), text: "words".to_owned() }
    }

    #[test]
    fn what_is_there_is_never_touched() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.md"), "mine").expect("a file");
        std::os::unix::fs::symlink("/nowhere", folder.path().join("a-2.md")).expect("a link");
        let said = write_into(folder.path(), &[file("a.md"), file("b.csv")]);
        assert!(said.contains("a-3.md, b.csv"), "{said}");
        assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).expect("a file"), "mine");
        let mode = std::fs::metadata(folder.path().join("a-3.md")).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_name_with_a_folder_in_it_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["../a.md", "/tmp/a.md", "b/c.md", ".."] {
            let said = write_into(folder.path(), &[file(name)]);
            assert!(said.starts_with("Nothing was written"), "{said}");
        }
    }
}
