//! The SQLite lens: what changed in a database, in tables and rows.
//!
//! A main file and what lies beside it (`-wal`, `-journal`, `-shm`) are one store. What exists in
//! the schema afterwards and did not before is additive, what is gone or defined otherwise is
//! lossy. The rows of a table are a multiset: if old ones are missing, that is lossy, if there are
//! only new ones, additive. A file that was rewritten without any of this is bookkeeping.
//!
//! The two files are compared as bytes, and then only the rows in pages that differ are read: see
//! the note in `sqlite/delta.rs`. A table without row numbers is read whole if any of its pages
//! changed, and so is everything after `VACUUM` or when the rest of a large value changed alone.
//!
//! Not seen: a text replaced in a full-text index that keeps no texts, if the new one has as many
//! words.

mod delta;
mod pages;
mod rows;
mod standing;
mod store;
mod tree;

use std::{collections::BTreeSet, io, path::Path};

pub(crate) use self::store::is_whole;
use self::{
    delta::{Delta, Reach},
    rows::Difference,
    standing::{Standing, standings},
    store::{Object, SIDECARS, Store, beside, is_same},
};
use crate::verify::{Effect, Grade};

const LENS: &str = "sqlite";
const REWRITTEN: &str = "SQLite rewrote its files; no row, definition or setting differs";

/// Whether a file that begins like this is an SQLite database.
#[must_use]
pub fn is_database(header: &[u8]) -> bool {
    header.starts_with(b"SQLite format 3\0")
}

/// What changed between two states of the database at `place`.
///
/// Each path is a copy of a main file with copies of what lay beside it, under the same names; they
/// must be free to be written: recovery and the log's transfer to the main file happen in them,
/// which leaves their contents as they are. A main file that is the whole state is only read. A side
/// without a database is `None`.
///
/// # Errors
///
/// If a copy can't be read from disk. What SQLite can't read is an effect, if it changed.
pub fn effects(place: &str, before: Option<&Path>, after: Option<&Path>) -> Result<Vec<Effect>, String> {
    let (before, after) = match (before, after) {
        (None, None) => return Ok(Vec::new()),
        (None, Some(_)) => return Ok(vec![Effect::new(Grade::Additive, LENS, place, "database created")]),
        (Some(_), None) => return Ok(vec![Effect::new(Grade::Lossy, LENS, place, "database deleted")]),
        (Some(before), Some(after)) => (before, after),
    };
    let failed = |error: io::Error| format!("`{place}` can't be compared: {error}");
    // Before SQLite opens them: it removes what lies beside.
    let mut sidecars = Vec::new();
    for suffix in SIDECARS {
        if !is_same(&beside(before, suffix), &beside(after, suffix)).map_err(failed)? {
            sidecars.push(suffix);
        }
    }
    let unreadable = |why: &str| -> Result<Vec<Effect>, String> {
        let is_unchanged = is_same(before, after).map_err(failed)? && sidecars.iter().all(|suffix| *suffix == "-shm");
        let what = format!("changed, and cannot be read: {why}");
        Ok(if is_unchanged { Vec::new() } else { vec![Effect::new(Grade::Lossy, LENS, place, what)] })
    };
    let stores = match (Store::open(before), Store::open(after)) {
        (Ok(before), Ok(after)) => [before, after],
        (Err(why), _) | (_, Err(why)) => return unreadable(&why),
    };
    let [roots_before, roots_after] = stores.each_ref().map(Store::roots);
    let mut delta = Delta::between([before, after], [&roots_before, &roots_after]);
    let mut found = Comparison { place, effects: Vec::new() };
    if !delta.as_ref().is_some_and(Delta::is_empty) {
        found.settings(&stores);
        found.schema(&stores);
        found.rows(&stores, delta.as_mut());
    }
    if found.effects.is_empty() {
        let mut rewritten = Vec::new();
        if !is_same(before, after).map_err(failed)? {
            rewritten.push("main file");
        }
        rewritten.extend(sidecars);
        if !rewritten.is_empty() {
            let what = format!("rewritten: {}", rewritten.join(", "));
            found.effects.push(Effect::excused(LENS, place, what, REWRITTEN));
        }
    }
    Ok(found.effects)
}

/// Effects as they are found in two states.
struct Comparison<'a> {
    place: &'a str,
    effects: Vec<Effect>,
}

impl Comparison<'_> {
    fn at(&self, name: &str) -> String {
        format!("{}: {}", self.place, name.escape_debug())
    }

    fn settings(&mut self, [before, after]: &[Store; 2]) {
        for ((name, old), (_, new)) in before.settings.iter().zip(&after.settings) {
            if old != new {
                let what = format!("{old} before, {new} now");
                self.effects.push(Effect::new(Grade::Recoverable, LENS, self.at(name), what));
            }
        }
    }

    fn schema(&mut self, [before, after]: &[Store; 2]) {
        let [mut known, kept] = [before, after].map(|store| standings(&store.objects));
        known.extend(kept);
        for (old, new) in [(&before.objects, &after.objects), (&before.triggers, &after.triggers)] {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let (grade, what) = match (old.get(name), new.get(name)) {
                    (None, Some(new)) => (Grade::Additive, described(after, name, &new.kind, "created with")),
                    (Some(old), None) => (Grade::Lossy, described(before, name, &old.kind, "dropped with its")),
                    (old, new) if is_defined_alike(old, new) => continue,
                    (_, new) => {
                        let kind = new.map_or("table", |object| &object.kind);
                        (Grade::Lossy, format!("{kind} defined otherwise"))
                    }
                };
                let effect = match known.get(&**name) {
                    Some(Standing::Kept(rule)) => Effect::excused(LENS, self.at(name), what, rule),
                    // An index that belongs to the definition of its table.
                    _ if name.starts_with("sqlite_") => continue,
                    _ => Effect::new(grade, LENS, self.at(name), what),
                };
                self.effects.push(effect);
            }
        }
    }

    /// The rows of each table that both states define in the same way.
    fn rows(&mut self, stores: &[Store; 2], mut delta: Option<&mut Delta>) {
        let [before, after] = stores;
        for (name, standing) in standings(&before.objects) {
            if standing == Standing::Elsewhere || !is_defined_alike(before.objects.get(name), after.objects.get(name)) {
                continue;
            }
            let reach = match (&mut delta, standing) {
                (None, _) => Reach::Everywhere,
                (Some(delta), Standing::Encoded) => match delta.reach(&format!("{name}_node")) {
                    Reach::Nowhere => Reach::Nowhere,
                    _ => Reach::Everywhere,
                },
                (Some(delta), _) => delta.reach(name),
            };
            self.table(stores, name, standing, reach);
        }
    }

    fn table(&mut self, stores: &[Store; 2], name: &str, standing: Standing, reach: Reach) {
        let compared = rows::compare(stores.each_ref().map(|store| &store.connection), name, reach);
        let place = self.at(name);
        let effect = match (compared, standing) {
            (Ok(Difference { gone: 0, new: 0 }), _) => return,
            (Ok(difference), Standing::Kept(rule)) => Effect::excused(LENS, place, told(difference), rule),
            (Ok(_), Standing::Unknown) => {
                let what = "changed, and cannot be read: it belongs to an unknown module";
                Effect::new(Grade::Lossy, LENS, place, what)
            }
            (Ok(difference), _) => {
                let grade = if difference.gone == 0 { Grade::Additive } else { Grade::Lossy };
                Effect::new(grade, LENS, place, told(difference))
            }
            (Err(error), _) => {
                let what = format!("may have changed, and cannot be read: {error}");
                Effect::new(Grade::Lossy, LENS, place, what)
            }
        };
        self.effects.push(effect);
    }
}

fn is_defined_alike(old: Option<&Object>, new: Option<&Object>) -> bool {
    let definition = |object: Option<&Object>| object.map(|object| (object.kind.clone(), object.sql.clone()));
    definition(old) == definition(new)
}

fn told(Difference { gone, new }: Difference) -> String {
    match (gone, new) {
        (0, new) => format!("{} new", counted(new)),
        (gone, 0) => format!("{} gone", counted(gone)),
        (gone, new) => format!("{} gone or changed, {} new", counted(gone), counted(new)),
    }
}

fn described(store: &Store, name: &str, kind: &str, verb: &str) -> String {
    match rows::count(&store.connection, name).filter(|_| kind == "table") {
        Some(rows) => format!("{kind} {verb} {}", counted(rows)),
        None => format!("{kind} {}", verb.split(' ').next().unwrap_or_default()),
    }
}

fn counted(rows: u64) -> String {
    if rows == 1 { "1 row".into() } else { format!("{rows} rows") }
}
