//! Worlds: what a server runs in during a trial.

pub mod databases;
