//! Every integration test of the project, in one binary: one link, one start.
//!
//! The modules say `cfg(test)` although nothing else is built from here: clippy's allowances for
//! tests (`clippy.toml`) then reach the helpers between the tests as well.

#[cfg(test)]
mod layers;
#[cfg(test)]
mod support;
