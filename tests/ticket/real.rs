//! On a real service: to be written.
