//! The query files: the shipped ones, and those of `--queries DIR` laid over them.
//!
//! Owns where a text comes from and how messages name it. Knows nothing about what is in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::profile::Mistake;

// `const FILES: &[(&str, &str)]`, written by build.rs: every file below queries/, by its path there.
include!(concat!(env!("OUT_DIR"), "/queries.rs"));

/// The profiles we ship. A new one is a folder below `queries/` and a name here.
pub const SHIPPED: &[&str] = &["reference", "records"];

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// How messages name it: `reference/get_stuck.sql`, or the path it was read from.
    pub file: String,
    /// What it says.
    pub text: String,
}

/// All files, by their path below `queries/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    files: BTreeMap<String, Source>,
}

impl Library {
    /// The files of [`SHIPPED`] profiles, as they were built in.
    pub fn shipped() -> Self {
        let ours = |path: &str| SHIPPED.iter().any(|name| path.split('/').next() == Some(*name));
        let files = FILES
            .iter()
            .filter(|(path, _)| ours(path))
            .map(|(path, text)| {
                let source = Source { file: (*path).to_owned(), text: (*text).to_owned() };
                ((*path).to_owned(), source)
            })
            .collect();
        Self { files }
    }

    /// A library made of these files alone.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files = files
            .into_iter()
            .map(|(path, text)| (path.to_owned(), Source { file: path.to_owned(), text: text.to_owned() }))
            .collect();
        Self { files }
    }

    /// Lays the files below `folder` over these: `folder/reference/get_stuck.sql` takes the place of
    /// the shipped one; a folder of another name is a profile of its own.
    ///
    /// # Errors
    /// Files that cannot be read, or do not lie in a profile's folder.
    pub fn overlaid(mut self, folder: &Path) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(here) = folders.pop() {
            let entries = match fs::read_dir(&here) {
                Ok(entries) => entries,
                Err(error) => {
                    mistakes.push(Mistake::new(here.display(), format!("cannot be read: {error}")));
                    continue;
                }
            };
            for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let below = path.strip_prefix(folder).unwrap_or(&path);
                let name = below.display().to_string().replace('\\', "/");
                if !name.contains('/') {
                    let why = "lies beside the profiles; put it in a folder with the profile's name";
                    mistakes.push(Mistake::new(path.display(), why));
                    continue;
                }
                match fs::read_to_string(&path) {
                    Ok(text) => {
                        let source = Source { file: path.display().to_string(), text };
                        self.files.insert(name, source);
                    }
                    Err(error) => mistakes.push(Mistake::new(path.display(), format!("cannot be read: {error}"))),
                }
            }
        }
        if mistakes.is_empty() { Ok(self) } else { Err(mistakes) }
    }

    /// The text of one file, by its path below `queries/`.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|source| source.text.as_str())
    }

    /// The names of all profiles: the folders there are.
    pub fn profiles(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.files.keys().filter_map(|path| path.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        names
    }

    /// The files of one profile, by their path inside its folder.
    pub fn of_profile(&self, name: &str) -> BTreeMap<String, Source> {
        let start = format!("{name}/");
        self.files
            .iter()
            .filter_map(|(path, source)| Some((path.strip_prefix(&start)?.to_owned(), source.clone())))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_of_queries_is_registered() {
        let mut folders: Vec<&str> = FILES.iter().filter_map(|(path, _)| path.split('/').next()).collect();
        folders.dedup();
        let mut shipped = SHIPPED.to_vec();
        shipped.sort_unstable();
        assert_eq!(folders, shipped);
    }

    #[test]
    fn an_overlaid_file_takes_the_place_of_the_shipped_one_and_says_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("reference")).unwrap();
        fs::write(folder.path().join("reference/get_stuck.sql"), "SELECT 1").unwrap();
        let library = Library::shipped().overlaid(folder.path()).unwrap();
        assert_eq!(library.text("reference/get_stuck.sql"), Some("SELECT 1"));
        let files = library.of_profile("reference");
        assert!(files["get_stuck.sql"].file.starts_with(&folder.path().display().to_string()));
        assert_eq!(files["get_unknown.sql"].file, "reference/get_unknown.sql");
    }

    #[test]
    fn a_file_outside_any_profile_is_a_mistake_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("get_stuck.sql"), "SELECT 1").unwrap();
        let mistakes = Library::shipped().overlaid(folder.path()).unwrap_err();
        assert!(mistakes[0].to_string().contains("get_stuck.sql"));
        assert!(Library::shipped().overlaid(Path::new("/nonexistent-folder")).is_err());
    }
}
