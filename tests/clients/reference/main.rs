//! The reference client: what a client does with hints, from the list to the last call.
//!
//!     candor conform -- target/debug/examples/reference-client
//!
//! Read it in this order: this file (a conversation), `policy.rs` (every decision, each in one
//! place), `approval.rs` (the user), `tools.rs` (what was seen and approved), `link.rs` (the wire).
//! Nothing here is about testing except that the user sits behind an address.
#![expect(clippy::print_stdout, reason = "it tells what came of each call")]
#![expect(clippy::indexing_slicing, reason = "members of JSON objects that this client makes itself")]

mod approval;
mod conversation;
mod link;
mod policy;
mod task;
mod tools;

#[tokio::main]
async fn main() -> Result<(), task::Fault> {
    conversation::hold(&task::Task::from_environment()?, &policy::Policy::default()).await
}
