//! The declarative HTTP adapter that asks a payment provider what happened. It can only GET.
//!
//! A provider is one TOML file: where it is, how it knows us, where the fields of a charge stand,
//! what its words mean, how to look a charge up, and what its silence is worth. Adding one is a file
//! and a line in [`BUILT_IN`], or a file of the operator's own named in the configuration.
//!
//! ```no_run
//! use unstuck::provider::{HttpProvider, Limits, built_in};
//! let lab = built_in("lab").unwrap().at("http://127.0.0.1:4010");
//! let provider = HttpProvider::open(lab, &|name| std::env::var(name).ok(), Limits::default());
//! ```

mod adapter;
mod address;
mod amount;
mod ask;
mod clock;
mod conclude;
pub mod declared;
mod file;
mod get_only;
mod http;
mod json;
mod pace;
mod read;
mod template;
#[cfg(test)]
mod tests;

pub use adapter::Adapter;
pub use address::check as check_address;
pub use file::read as read_adapter;
pub use get_only::Limits;
pub use http::{HttpProvider, OpenError};

/// The adapters that come with the console, by the name in `adapter = "…"`.
pub const BUILT_IN: [(&str, &str); 3] = [
    ("stripe", include_str!("provider/stripe.toml")),
    ("generic", include_str!("provider/generic.toml")),
    ("lab", include_str!("provider/lab.toml")),
];

/// A built-in adapter; `None` when there is none of that name.
pub fn built_in(name: &str) -> Option<Adapter> {
    let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
    // A test reads every one of them.
    read_adapter(text).ok()
}
