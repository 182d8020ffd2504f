//! Statements and rows for the tables of a world.

use serde_json::{Map, Value, json};

use super::inventory::{Column, Inventory, Key, Table, quoted};

/// Statements that read, change nothing, add, change, remove and drop, for one table of each
/// database in turn. What a tool lets through is for the tool to say.
pub(super) fn statements(inventory: &Inventory) -> Vec<Value> {
    let mut tables = independent_first(inventory);
    tables.dedup_by(|one, other| one.database == other.database);
    tables.truncate(2);
    let of_each: Vec<Vec<String>> = tables.into_iter().map(of_table).collect();
    let longest = of_each.iter().map(Vec::len).max().unwrap_or(0);
    let mut statements: Vec<Value> =
        (0..longest).flat_map(|at| of_each.iter().filter_map(move |one| one.get(at).map(|sql| json!(sql)))).collect();
    statements.push(json!("SELECT 1"));
    statements.push(json!("CREATE TABLE candor_new (x)"));
    statements
}

fn of_table(table: &Table) -> Vec<String> {
    let name = quoted(&table.name);
    let mut statements = vec![format!("SELECT * FROM {name} LIMIT 5"), format!("SELECT count(*) FROM {name}")];
    let row = new_row(table, 0);
    if !row.is_empty() {
        let columns: Vec<_> = row.keys().map(|column| quoted(column)).collect();
        let values: Vec<_> = row.values().map(literal).collect();
        statements.push(format!("INSERT INTO {name} ({}) VALUES ({})", columns.join(", "), values.join(", ")));
    }
    let changeable = |column: &&Column| !column.generated && column.key == Key::None && column.references.is_none();
    if let Some(column) = table.columns.iter().find(changeable).or(table.columns.first()) {
        let column_name = quoted(&column.name);
        let other = if is_number(column) { format!("{column_name} + 1") } else { format!("{column_name} || '!'") };
        statements.push(format!("UPDATE {name} SET {column_name} = {column_name}"));
        statements.push(format!("UPDATE {name} SET {column_name} = {other}"));
    }
    statements.push(format!("DELETE FROM {name}"));
    statements.push(format!("DROP TABLE {name}"));
    statements
}

/// Tables with rows of their own to insert, the databases in turn.
pub(super) fn rows(inventory: &Inventory) -> Vec<(&str, [Map<String, Value>; 2])> {
    let tables = independent_first(inventory);
    let mut found: Vec<(usize, &Table)> = Vec::new();
    for table in tables {
        let earlier = found.iter().filter(|(_, other)| other.database == table.database).count();
        found.push((earlier, table));
    }
    found.sort_by_key(|(turn, _)| *turn);
    let rows = found.into_iter().map(|(_, table)| (table.name.as_str(), [new_row(table, 0), new_row(table, 1)]));
    rows.filter(|(_, [row, _])| !row.is_empty()).collect()
}

/// By database, and in each those first that no other refers to: their rows can go.
fn independent_first(inventory: &Inventory) -> Vec<&Table> {
    let referred = |table: &Table| {
        let others = inventory.tables.iter().filter(|other| other.database == table.database);
        others
            .flat_map(|other| &other.columns)
            .any(|column| column.references.as_ref().is_some_and(|(to, _)| to.eq_ignore_ascii_case(&table.name)))
    };
    let mut tables: Vec<_> = inventory.tables.iter().collect();
    tables.sort_by_key(|table| (&table.database, referred(table)));
    tables
}

/// A row that the table is likely to take: references as in a row that is there, keys that are
/// not, anything else as in a row that is there, and nothing that may be left out.
fn new_row(table: &Table, at: usize) -> Map<String, Value> {
    let sample = |column: &Column| table.rows.iter().find_map(|row| row.get(&column.name)).cloned();
    let value = |column: &Column| -> Option<(String, Value)> {
        if column.generated || column.key == Key::Rowid || !(column.needed || column.key == Key::Unique) {
            return None;
        }
        let known = sample(column);
        let fresh = || match &known {
            Some(Value::Number(_)) => json!(1_000_001 + at),
            None if is_number(column) => json!(1_000_001 + at),
            _ => json!(format!("candor-new-{at}")),
        };
        let value = match (&column.references, column.key == Key::Unique, &known) {
            (Some(_), _, Some(known)) | (None, false, Some(known)) => known.clone(),
            (Some(_), _, None) => json!(1),
            (None, false, None) if is_number(column) => json!(1),
            (None, _, _) => fresh(),
        };
        Some((column.name.clone(), value))
    };
    let row: Map<String, Value> = table.columns.iter().filter_map(value).collect();
    if !row.is_empty() {
        return row;
    }
    // Everything may be left out; one value makes it a row that can be said.
    let plain = table.columns.iter().find(|column| !column.generated && column.key != Key::Rowid);
    plain.and_then(|column| Some((column.name.clone(), sample(column)?))).into_iter().collect()
}

/// By the rules of column affinity (sqlite.org/datatype3.html, 3.1), roughly.
fn is_number(column: &Column) -> bool {
    let declared = column.declared.to_uppercase();
    ["INT", "REAL", "FLOA", "DOUB", "NUM", "DEC", "BOOL"].iter().any(|kind| declared.contains(kind))
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    }
}
