//! What several integration tests share.

pub mod picture;
pub mod scenario;
