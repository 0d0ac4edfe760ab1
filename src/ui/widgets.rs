//! Widgets over plain data. None knows a record, a screen or a key.

pub mod band;
pub mod footer;
pub mod lanes;
pub mod panel;
pub mod spark;
pub mod table;
pub mod tabs;
