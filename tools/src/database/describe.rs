//! `describe_database`: the schema, read with SQLite's own table-valued pragmas, so that no name in
//! it is ever put into SQL.

use rmcp::schemars;
use rusqlite::{Connection, Row, types::ValueRef};
use serde::Serialize;

use super::{DatabaseLimits, refusal::Fault};

/// What the database holds, without its rows.
#[derive(Debug)]
pub struct Description {
    /// In the order of their names.
    pub tables: Vec<Table>,
    /// Whether there are more tables than described.
    pub truncated: bool,
}

/// A table or view.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// `table`, `view` or `virtual` (a table that a module of SQLite keeps, such as a text index).
    pub kind: String,
    /// In order; empty for a view that no longer resolves.
    pub columns: Vec<Column>,
    /// Sets of columns that no two rows share, besides the primary key.
    pub unique: Vec<Vec<String>>,
    /// References to other tables.
    pub foreign_keys: Vec<ForeignKey>,
}

/// A column of a table or view.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type as declared; may be empty.
    pub declared_type: String,
    /// Whether NULL is refused.
    pub not_null: bool,
    /// Place in the primary key from 1, or 0.
    pub primary_key: u32,
    /// SQL of the default value.
    pub default: Option<String>,
    /// Computed from other columns, so never inserted.
    pub generated: bool,
}

/// Columns whose values must exist in another table.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ForeignKey {
    /// Columns of this table.
    pub columns: Vec<String>,
    /// The other table.
    pub table: String,
    /// Columns of the other table; empty for its primary key.
    pub references: Vec<String>,
    /// What the deletion of the other row does here: `NO ACTION`, `CASCADE` and so on.
    pub on_delete: String,
}

pub(super) fn describe(connection: &Connection, limits: &DatabaseLimits) -> Result<Description, Fault> {
    let mut statement = connection.prepare(
        "SELECT name, type FROM pragma_table_list WHERE schema = 'main' \
         AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite^_%' ESCAPE '^' \
         ORDER BY name",
    )?;
    let mut rows = statement.query([])?;
    let mut description = Description { tables: Vec::new(), truncated: false };
    let mut left = limits.result_bytes;
    while let Some(row) = rows.next()? {
        let (name, kind) = (text(row, 0)?, text(row, 1)?);
        // A view over a table that is gone cannot be resolved; the rest can still be told.
        let columns = match columns(connection, &name) {
            Err(_) if kind == "view" => Vec::new(),
            columns => columns?,
        };
        let unique = unique(connection, &name)?;
        let foreign_keys = foreign_keys(connection, &name)?;
        let table = Table { name, kind, columns, unique, foreign_keys };
        let bytes = serde_json::to_string(&table).map_or(usize::MAX, |json| json.len());
        if description.tables.len() == limits.described_tables || bytes > left {
            description.truncated = true;
            break;
        }
        left -= bytes;
        description.tables.push(table);
    }
    Ok(description)
}

pub(super) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut statement = connection.prepare(
        "SELECT name, type, \"notnull\", pk, dflt_value, hidden FROM pragma_table_xinfo(?1) \
         WHERE hidden <> 1",
    )?;
    let mut rows = statement.query([table])?;
    let mut columns = Vec::new();
    while let Some(row) = rows.next()? {
        columns.push(Column {
            name: text(row, 0)?,
            declared_type: text(row, 1)?,
            not_null: row.get(2)?,
            primary_key: row.get(3)?,
            default: match row.get_ref(4)? {
                ValueRef::Null => None,
                _ => Some(text(row, 4)?),
            },
            generated: row.get::<_, i64>(5)? != 0,
        });
    }
    Ok(columns)
}

fn unique(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Vec<String>>> {
    let mut statement = connection.prepare(
        "SELECT l.seq, i.name FROM pragma_index_list(?1) l, pragma_index_info(l.name) i \
         WHERE l.\"unique\" AND l.origin <> 'pk' AND NOT l.partial ORDER BY l.seq, i.seqno",
    )?;
    let mut rows = statement.query([table])?;
    let mut keys: Vec<(i64, Vec<String>)> = Vec::new();
    while let Some(row) = rows.next()? {
        // NULL stands for an expression.
        let (key, column) = (row.get(0)?, text(row, 1)?);
        match keys.last_mut() {
            Some((last, columns)) if *last == key => columns.push(column),
            _ => keys.push((key, vec![column])),
        }
    }
    Ok(keys.into_iter().map(|(_, columns)| columns).collect())
}

fn foreign_keys(connection: &Connection, table: &str) -> rusqlite::Result<Vec<ForeignKey>> {
    let mut statement = connection.prepare(
        "SELECT id, \"table\", on_delete, \"from\", \"to\" FROM pragma_foreign_key_list(?1) \
         ORDER BY id, seq",
    )?;
    let mut rows = statement.query([table])?;
    let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, from, to) = (row.get(0)?, text(row, 3)?, text(row, 4)?);
        if keys.last().is_none_or(|(last, _)| *last != id) {
            let (table, on_delete) = (text(row, 1)?, text(row, 2)?);
            let (columns, references) = (Vec::new(), Vec::new());
            keys.push((id, ForeignKey { columns, table, references, on_delete }));
        }
        if let Some((_, key)) = keys.last_mut() {
            key.columns.push(from);
            key.references.extend(Some(to).filter(|to| !to.is_empty()));
        }
    }
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

/// A text of the schema; what isn't UTF-8 in it is replaced.
pub(super) fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Null => String::new(),
        other => format!("{other:?}"),
    })
}
