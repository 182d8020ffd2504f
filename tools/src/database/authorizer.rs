//! What a statement may do, asked by SQLite while it compiles one. Allow-lists: whatever a newer
//! SQLite adds is refused. A denial has one text, so that nobody learns from it what exists.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::hooks::{
    AuthAction::{
        self, AlterTable, Analyze, CreateIndex, CreateTable, CreateTrigger, CreateView, CreateVtable, Delete,
        DropIndex, DropTable, DropTrigger, DropView, DropVtable, Function, Insert, Pragma, Read, Recursive, Reindex,
        Select, Update,
    },
    AuthContext, Authorization,
};

/// Functions that do more than compute. `rtreecheck` runs statements of its own.
const FORBIDDEN_FUNCTIONS: [&str; 5] = ["load_extension", "fts3_tokenizer", "optimize", "rtreecheck", "sqlite_log"];

/// For the server's own statements.
pub(super) const NOBODY: Option<fn(AuthContext<'_>) -> Authorization> = None;

/// Reading only. What passes here leaves no state on the connection either.
pub(super) fn reads(context: AuthContext<'_>) -> Authorization {
    answer(is_read(context.action))
}

fn is_read(action: AuthAction<'_>) -> bool {
    match action {
        Select | Recursive | Read { .. } => true,
        Function { function_name: name } => {
            !FORBIDDEN_FUNCTIONS.iter().any(|forbidden| name.eq_ignore_ascii_case(forbidden))
        }
        Pragma { pragma_name, pragma_value } => {
            let name = pragma_name.to_ascii_lowercase();
            match name.as_str() {
                "table_info" | "table_xinfo" | "table_list" | "index_list" | "index_info" | "index_xinfo"
                | "foreign_key_list" => true,
                // Text indexes read `data_version`.
                "data_version" | "user_version" | "application_id" | "schema_version" | "encoding" | "page_count"
                | "page_size" | "freelist_count" | "collation_list" | "function_list" => pragma_value.is_none(),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Inserting into these tables, and reading. An UPDATE or DELETE in a trigger is refused, and so
/// is writing to any table that isn't an ordinary one: an insertion into a view or a virtual
/// table does whatever its triggers or its module make of it.
pub(super) fn inserts(tables: BTreeSet<String>) -> impl FnMut(AuthContext<'_>) -> Authorization {
    move |context| {
        answer(match context.action {
            Insert { table_name } => tables.contains(table_name),
            Pragma { .. } => false,
            other => is_read(other),
        })
    }
}

/// Virtual table modules that keep to their own tables.
const MODULES: [&str; 8] = ["fts3", "fts4", "fts5", "fts4aux", "fts5vocab", "rtree", "rtree_i32", "fts3tokenize"];

/// Any change to the content and schema of the one database, noted down. Not: other files,
/// transactions (the server's own run before this is installed), temporary objects (they would
/// vanish with the connection), settings, extensions.
pub(super) fn changes(touched: Arc<Mutex<Touched>>) -> impl FnMut(AuthContext<'_>) -> Authorization {
    move |context| {
        let mut touched = touched.lock().unwrap_or_else(PoisonError::into_inner);
        match context.action {
            // ALTER TABLE looks for uses of a name in the temporary schema too. DEFENSIVE keeps
            // callers from writing there.
            Update { table_name: "sqlite_temp_master" | "sqlite_temp_schema", .. } => {}
            other if context.database_name == Some("temp") => return answer(is_read(other)),
            Insert { table_name } => touched.rows(table_name, |verbs| verbs.inserts = true),
            Update { table_name, .. } => touched.rows(table_name, |verbs| verbs.updates = true),
            Delete { table_name } => touched.rows(table_name, |verbs| verbs.deletes = true),
            CreateTable { table_name } => {
                touched.created.insert(table_name.into());
            }
            DropTable { table_name } | DropVtable { table_name, .. } => {
                touched.dropped.insert(table_name.into());
            }
            AlterTable { table_name, .. } => {
                touched.altered.insert(table_name.into());
            }
            CreateVtable { table_name, module_name } => {
                if !MODULES.contains(&module_name.to_ascii_lowercase().as_str()) {
                    return Authorization::Deny;
                }
                touched.created.insert(table_name.into());
            }
            CreateIndex { index_name: name, .. } => touched.note("creates the index", name),
            CreateTrigger { trigger_name: name, .. } => touched.note("creates the trigger", name),
            CreateView { view_name: name } => touched.note("creates the view", name),
            DropIndex { index_name: name, .. } => touched.note("drops the index", name),
            DropTrigger { trigger_name: name, .. } => touched.note("drops the trigger", name),
            DropView { view_name: name } => {
                touched.dropped.insert(name.into());
                touched.note("drops the view", name);
            }
            Reindex { index_name: name } => touched.note("rebuilds the index", name),
            Analyze { table_name: name } => touched.note("gathers statistics about", name),
            Pragma { pragma_name, pragma_value: Some(_) }
                if pragma_name.eq_ignore_ascii_case("user_version")
                    || pragma_name.eq_ignore_ascii_case("application_id") =>
            {
                touched.note("sets", pragma_name);
            }
            other => return answer(is_read(other)),
        }
        Authorization::Allow
    }
}

fn answer(allowed: bool) -> Authorization {
    if allowed { Authorization::Allow } else { Authorization::Deny }
}

/// What a statement may change, as far as SQLite announces it, and what it has changed.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// Rows changed in each table that a statement names or that a trigger or cascade reaches.
    pub(super) tables: BTreeMap<String, Counted>,
    pub(super) created: BTreeSet<String>,
    pub(super) dropped: BTreeSet<String>,
    pub(super) altered: BTreeSet<String>,
    /// Other changes to the schema, as (verb, name).
    pub(super) notes: BTreeSet<(&'static str, String)>,
}

/// Rows that SQLite reported one by one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) inserted: u64,
    pub(super) updated: u64,
    pub(super) deleted: u64,
    /// What was to be done to the table at all.
    pub(super) verbs: Verbs,
}

/// Kinds of statement that name a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verbs {
    pub(super) inserts: bool,
    pub(super) updates: bool,
    pub(super) deletes: bool,
}

impl Touched {
    fn rows(&mut self, table: &str, note: impl FnOnce(&mut Verbs)) {
        // Every change to the schema also writes here.
        if !matches!(table, "sqlite_master" | "sqlite_schema") {
            note(&mut self.tables.entry(table.into()).or_default().verbs);
        }
    }

    fn note(&mut self, verb: &'static str, name: &str) {
        self.notes.insert((verb, name.into()));
    }
}

impl Touched {
    /// Whether the table itself is created, dropped or altered.
    pub(super) fn schema(&self, table: &str) -> bool {
        [&self.created, &self.dropped, &self.altered].iter().any(|names| names.contains(table))
    }

    /// Every table in it.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let named = self.created.iter().chain(&self.dropped).chain(&self.altered);
        self.tables.keys().chain(named).cloned().collect()
    }
}
