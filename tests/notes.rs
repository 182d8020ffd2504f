//! The note tools' handles on real directories.

mod changing;
mod confined;
mod folder;
mod listing;
