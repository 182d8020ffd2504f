//! The box: real programs in it, as root and as an ordinary user, and the host as it was.
#![cfg(target_os = "linux")]

mod boxed;
mod contained;
mod limits;
mod network;
mod seen;
mod set_up;
