//! Lists the query files for `src/store/library.rs`, so that a new invariant is one file and nothing else.
//!
//! Finds the archive of a bundled PostgreSQL for `src/lab/cluster/bundled.rs`.
//!
//! The artifact crate carries `lib/pglite-runtime.tar.zst` (real `initdb` and `postgres`) but tells
//! its dependants no path. Cargo knows it: a manifest of one line, made in OUT_DIR and resolved
//! offline against our own lock file, answers without needing a package this build did not fetch.
//! Where there is no such crate, or it is not found, the feature compiles to "not bundled".

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const ARCHIVE: &str = "lib/pglite-runtime.tar.zst";

fn main() {
    list_queries();
    find_archive();
}

/// Writes `queries.rs`: every file below `queries/`, by its path there, with its text.
fn list_queries() {
    println!("cargo:rerun-if-changed=queries");
    let (Some(root), Some(out)) = (manifest_dir(), env::var_os("OUT_DIR")) else {
        return;
    };
    let root = root.join("queries");
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "sql" || kind == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut list = String::from("const FILES: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file);
        let name = name.display().to_string().replace('\\', "/");
        let place = file.display().to_string();
        list.extend(["    (", &format!("{name:?}"), ", include_str!("]);
        list.extend([&format!("{place:?}"), ")),\n"]);
    }
    list.push_str("];\n");
    if let Err(error) = fs::write(Path::new(&out).join("queries.rs"), list) {
        println!("cargo:warning=the list of query files was not written: {error}");
    }
}

fn find_archive() {
    println!("cargo:rustc-check-cfg=cfg(bundled_archive)");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=Cargo.lock");
    if env::var_os("CARGO_FEATURE_BUNDLED_POSTGRES").is_none() {
        return;
    }
    let Ok(target) = env::var("TARGET") else {
        return;
    };
    if target != "x86_64-unknown-linux-gnu" {
        return;
    }
    let krate = format!("pglite-rs-lib-{target}");
    let found = locked_version(&krate)
        .and_then(|version| by_metadata(&krate, &version, &target).or_else(|| by_registry(&krate, &version)))
        .filter(|path| path.is_file());
    if let Some(path) = found {
        println!("cargo:rerun-if-changed={}", path.display());
        println!("cargo:rustc-env=UNSTUCK_BUNDLED_ARCHIVE={}", path.display());
        println!("cargo:rustc-cfg=bundled_archive");
    } else {
        println!("cargo:warning=the archive of crate {krate} was not found: built without a bundled PostgreSQL");
    }
}

/// The version our lock file names, so that the little manifest asks for exactly that one.
fn locked_version(krate: &str) -> Option<String> {
    let lock = fs::read_to_string(manifest_dir()?.join("Cargo.lock")).ok()?;
    let name = format!("name = \"{krate}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.next()?;
    let version = lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?;
    Some(version.to_owned())
}

fn by_metadata(krate: &str, version: &str, target: &str) -> Option<PathBuf> {
    let root = manifest_dir()?;
    let finder = PathBuf::from(env::var_os("OUT_DIR")?).join("finder");
    fs::create_dir_all(finder.join("src")).ok()?;
    fs::write(finder.join("src/lib.rs"), "").ok()?;
    fs::write(
        finder.join("Cargo.toml"),
        format!(
            "[package]\nname = \"finder\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\"{krate}\" = \"={version}\"\n"
        ),
    )
    .ok()?;
    fs::copy(root.join("Cargo.lock"), finder.join("Cargo.lock")).ok()?;
    let output = Command::new(env::var_os("CARGO")?)
        .current_dir(&root) // so that a vendoring configuration of this project is seen
        .args(["metadata", "--offline", "--format-version=1", "--filter-platform", target])
        .arg("--manifest-path")
        .arg(finder.join("Cargo.toml"))
        .output()
        .ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let packages = metadata.get("packages")?.as_array()?;
    let package =
        packages.iter().find(|package| package.get("name").and_then(serde_json::Value::as_str) == Some(krate))?;
    let manifest = Path::new(package.get("manifest_path")?.as_str()?);
    Some(manifest.parent()?.join(ARCHIVE))
}

/// The place where Cargo unpacks registry crates, should the metadata question fail.
fn by_registry(krate: &str, version: &str) -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))?;
    fs::read_dir(home.join("registry/src"))
        .ok()?
        .filter_map(Result::ok)
        .map(|registry| registry.path().join(format!("{krate}-{version}")).join(ARCHIVE))
        .find(|path| path.is_file())
}

fn manifest_dir() -> Option<PathBuf> {
    env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)
}
