//! Changes that anybody expects of any program: in places for what may be thrown away at any time.
//!
//! By address only, each with its rule. A temporary directory of the whole system is none of them: a
//! server may keep what counts there.

use std::path::Path;

use crate::verify::{
    Effect, Grade,
    artefact::{BYTECODE, CACHES, TEMPORARY},
};

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
