//! Changes that anybody expects of any program: in places for what may be thrown away at any time.
//!
//! By address only, each with its rule. A temporary directory of the whole system is none of them: a
//! server may keep what counts there.

use std::path::Path;

use crate::verify::{Effect, Grade};

const TEMPORARY: &str = "the server's own directory for temporary files (`TMPDIR`), which ends with it";
const BYTECODE: &str = "compiled code beside its source (`__pycache__`), made anew when it is missing";
/// Below the home directory.
const CACHES: [(&str, &str); 4] = [
    (".cache", "a cache (`~/.cache`, XDG Base Directory Specification): made anew when it is missing"),
    (".npm", "the cache of npm (`~/.npm`): made anew when it is missing"),
    (".node-gyp", "the cache of node-gyp (`~/.node-gyp`): made anew when it is missing"),
    (".bun/install/cache", "the cache of Bun: made anew when it is missing"),
];

/// Excuse an effect if its place is one of these.
pub(super) fn excuse(effect: &mut Effect, temporary: &Path, home: Option<&Path>) {
    let place = Path::new(&effect.place);
    let in_cache = |(dir, _): &&(&str, &str)| home.is_some_and(|home| place.starts_with(home.join(dir)));
    let rule = if place.starts_with(temporary) {
        Some(TEMPORARY)
    } else if place.components().any(|part| part.as_os_str() == "__pycache__") {
        Some(BYTECODE)
    } else {
        CACHES.iter().find(in_cache).map(|(_, rule)| *rule)
    };
    if let Ok(rest) = place.strip_prefix(temporary) {
        effect.place = Path::new("$TMPDIR").join(rest).to_string_lossy().into_owned();
    }
    if rule.is_some() && effect.grade > Grade::None {
        effect.grade = Grade::None;
        effect.excuse = rule;
    }
}
