//! The reference server.

pub mod demo;
