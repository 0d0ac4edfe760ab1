//! The table of ARCHITECTURE.md: which rooms there are, and what each may use.

/// A room of the house: whom it may use inside, and which crates of the outside.
pub struct Room {
    pub name: &'static str,
    pub uses: &'static [&'static str],
    pub crates: &'static [&'static str],
}

/// Plain data: every room may name it.
pub const DATA: &[&str] = &["chrono", "serde", "serde_json", "sha2", "thiserror"];

/// The table of ARCHITECTURE.md. `main` is the thin binary, `lib` the list of rooms.
pub const HOUSE: &[Room] = &[
    Room { name: "domain", uses: &[], crates: &["iso_currency", "regex_lite"] },
    Room {
        name: "store",
        uses: &["domain"],
        crates: &["fastrand", "futures_util", "secrecy", "sqlparser", "sqlx", "tokio", "toml", "tracing"],
    },
    Room {
        name: "provider",
        uses: &["domain"],
        crates: &[
            "base64",
            "fastrand",
            "futures_util",
            "humantime",
            "iso_currency",
            "reqwest",
            "rustls",
            "secrecy",
            "tokio",
            "toml",
            "tracing",
        ],
    },
    Room { name: "ui", uses: &["domain"], crates: &["ratatui", "toml", "unicode_segmentation", "unicode_width"] },
    Room {
        name: "app",
        uses: &["domain", "ui"],
        crates: &["ratatui", "tui_input", "unicode_segmentation", "unicode_width"],
    },
    Room {
        name: "shell",
        uses: &["domain", "store", "provider", "ui", "app"],
        crates: &[
            "base64",
            "crossterm",
            "fastrand",
            "futures_util",
            "nix",
            "ratatui",
            "secrecy",
            "tokio",
            "tracing",
            "tracing_subscriber",
            "tui_input",
        ],
    },
    Room {
        name: "lab",
        uses: &["domain", "store"],
        crates: &[
            "axum",
            "base64",
            "fastrand",
            "futures_util",
            "iso_currency",
            "nix",
            "pglite_rs_lib_x86_64_unknown_linux_gnu",
            "reqwest",
            "rustls",
            "ruzstd",
            "secrecy",
            "sqlx",
            "tar",
            "tempfile",
            "tokio",
            "toml",
            "tracing",
        ],
    },
    Room {
        name: "cli",
        uses: &["domain", "store", "provider", "ui", "app", "shell", "lab"],
        crates: &[
            "clap",
            "color_eyre",
            "csv",
            "humantime",
            "secrecy",
            "tokio",
            "toml",
            "tracing",
            "tracing_subscriber",
        ],
    },
    Room { name: "main", uses: &["cli"], crates: &["color_eyre"] },
    Room { name: "lib", uses: &["domain", "store", "provider", "ui", "app", "shell", "lab", "cli"], crates: &[] },
];

/// The room of that name, if the house has it.
pub fn room(name: &str) -> Option<&'static Room> {
    HOUSE.iter().find(|room| room.name == name)
}
