//! What any program leaves behind: in places for what may be thrown away at any time.
//!
//! The rules that excuse it are told apart from those of other bookkeeping, since there is a
//! definition of the hints that excuses no artefact.

pub(crate) const TEMPORARY: &str = "the server's own directory for temporary files (`TMPDIR`), which ends with it";
pub(crate) const BYTECODE: &str = "compiled code beside its source (`__pycache__`), made anew when it is missing";
/// Below the home directory.
pub(crate) const CACHES: [(&str, &str); 4] = [
    (".cache", "a cache (`~/.cache`, XDG Base Directory Specification): made anew when it is missing"),
    (".npm", "the cache of npm (`~/.npm`): made anew when it is missing"),
    (".node-gyp", "the cache of node-gyp (`~/.node-gyp`): made anew when it is missing"),
    (".bun/install/cache", "the cache of Bun: made anew when it is missing"),
];

/// Whether a rule excuses an artefact, and not a lock, a time or equal content.
pub(crate) fn is_excused_by(rule: &str) -> bool {
    rule == TEMPORARY || rule == BYTECODE || CACHES.iter().any(|(_, of_cache)| rule == *of_cache)
}
