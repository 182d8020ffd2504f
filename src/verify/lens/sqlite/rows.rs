//! Rows as a multiset of digests.
//!
//! Values are compared here and not by SQLite, to which `abc` and `ABC`, or 1 and 1.0, can be
//! equal: a column's collation and affinity decide there.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
};

use rusqlite::{Connection, Result, Row, Statement, types::ValueRef};

use super::delta::Reach;

/// How two multisets differ.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Difference {
    /// Rows of the first that the second lacks.
    pub(super) gone: u64,
    /// Rows of the second that the first lacks.
    pub(super) new: u64,
}

/// Compare a table of two databases, which both define it in the same way.
pub(super) fn compare(connections: [&Connection; 2], table: &str, reach: Reach) -> Result<Difference> {
    let mut tally = Tally::default();
    let ranges = match reach {
        Reach::Nowhere => return Ok(Difference::default()),
        Reach::Everywhere => None,
        Reach::Between(ranges) => row_number(connections[0], table)?.map(|name| (name, ranges)),
    };
    let all = format!("SELECT * FROM main.{}", quote(table));
    let Some((number, [before, after])) = ranges else {
        let [before, after] = connections.map(|connection| connection.prepare(&all));
        let (mut before, mut after) = (before?, after?);
        let (mut before, mut after) = (before.query([])?, after.query([])?);
        // In step, so that what is equal leaves the tally again at once.
        loop {
            let (one, other) = (before.next()?, after.next()?);
            if one.is_none() && other.is_none() {
                return Ok(tally.difference());
            }
            one.map_or(Ok(()), |row| tally.add(row, 1))?;
            other.map_or(Ok(()), |row| tally.add(row, -1))?;
        }
    };
    let some = format!("{all} WHERE {number} BETWEEN ?1 AND ?2");
    let [first, second] = connections.map(|connection| connection.prepare(&some));
    let (mut first, mut second) = (first?, second?);
    let (mut before, mut after) = (before.into_iter(), after.into_iter());
    loop {
        let (one, other) = (before.next(), after.next());
        if one.is_none() && other.is_none() {
            return Ok(tally.difference());
        }
        one.map_or(Ok(()), |range| tally.add_all(&mut first, range, 1))?;
        other.map_or(Ok(()), |range| tally.add_all(&mut second, range, -1))?;
    }
}

/// How many rows a table has, if that can be told.
pub(super) fn count(connection: &Connection, table: &str) -> Option<u64> {
    let rows =
        connection.query_row(&format!("SELECT count(*) FROM main.{}", quote(table)), [], |row| row.get::<_, i64>(0));
    rows.ok()?.try_into().ok()
}

pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A name for the row number that no column of the table takes.
fn row_number(connection: &Connection, table: &str) -> Result<Option<&'static str>> {
    let mut statement = connection.prepare(&format!("PRAGMA main.table_xinfo({})", quote(table)))?;
    let columns: Vec<String> = statement.query_map([], |row| row.get(1))?.collect::<Result<_>>()?;
    let is_free = |name: &&str| !columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    Ok(["rowid", "_rowid_", "oid"].into_iter().find(is_free))
}

/// Digests, and how much more often each was seen on one side.
#[derive(Default)]
struct Tally {
    // Random keys: nobody can make two rows look alike.
    keys: [RandomState; 2],
    counts: HashMap<u128, i64>,
}

impl Tally {
    fn add_all(&mut self, statement: &mut Statement<'_>, range: (i64, i64), by: i64) -> Result<()> {
        let mut rows = statement.query(range)?;
        while let Some(row) = rows.next()? {
            self.add(row, by)?;
        }
        Ok(())
    }

    fn add(&mut self, row: &Row<'_>, by: i64) -> Result<()> {
        let [mut high, mut low] = self.keys.each_ref().map(BuildHasher::build_hasher);
        let mut write = |bytes: &[u8]| {
            high.write(bytes);
            low.write(bytes);
        };
        for column in 0..row.as_ref().column_count() {
            let mut value = |kind: u8, bytes: &[u8]| {
                write(&[kind]);
                write(&bytes.len().to_le_bytes());
                write(bytes);
            };
            match row.get_ref(column)? {
                ValueRef::Null => value(0, &[]),
                ValueRef::Integer(number) => value(1, &number.to_le_bytes()),
                ValueRef::Real(number) => value(2, &number.to_bits().to_le_bytes()),
                ValueRef::Text(text) => value(3, text),
                ValueRef::Blob(blob) => value(4, blob),
            }
        }
        let digest = u128::from(high.finish()) << 64 | u128::from(low.finish());
        let count = self.counts.entry(digest).or_default();
        *count += by;
        if *count == 0 {
            self.counts.remove(&digest);
        }
        Ok(())
    }

    fn difference(&self) -> Difference {
        let sum = |sign: i64| self.counts.values().map(|count| (count * sign).max(0).unsigned_abs()).sum();
        Difference { gone: sum(1), new: sum(-1) }
    }
}
