//! Every integration test of the project, in one binary: one link, one start.

mod keys;
mod layers;
mod peek;
mod screens;
mod support;
