//! The thin binary: everything lives in the library.

fn main() -> std::process::ExitCode {
    unstuck::cli::run(std::env::args_os()).into()
}
