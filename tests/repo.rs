//! The branch tools' handles on real repositories.

mod creating;
mod deleting;
mod listing;
mod names;
mod network;
mod opening;
mod world;
