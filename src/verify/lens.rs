//! Lenses: each turns changed bytes of one kind into effects.

pub mod network;
pub mod sqlite;
