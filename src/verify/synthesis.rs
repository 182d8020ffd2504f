//! Cases for a tool that nobody wrote cases for: from its input schema, from what the world holds,
//! and from what earlier calls returned.
//!
//! Nothing here looks at hints, titles or descriptions. Each value that a schema names (an
//! enumeration's, a boolean's, a branch of `anyOf` or `oneOf`) is tried at least once, and as many
//! pairs of values as [`CASES`] cases hold; names of parameters choose among the branches, tables,
//! files and values that an [`Inventory`] found.

mod combine;
mod inventory;
mod pattern;
mod record;
mod schema;
mod source;
mod sql;

use serde_json::{Map, Value};

pub use self::inventory::{Branch, Column, Inventory, Key, Table};
use self::{
    combine::{Parameter, combine},
    schema::{Maker, Property},
    source::Source,
};
use crate::{hints::DeclaredTool, verify::Case};

/// Most cases for one tool.
pub const CASES: usize = 24;
/// Most arguments of a tool that are filled in if they may be left out.
const OPTIONAL: usize = 24;

/// Cases for a tool, at least one and at most [`CASES`], the likeliest to succeed first. `known`
/// are results of earlier calls, of this tool or of others.
///
/// # Errors
///
/// Why no arguments could be found: the schema is no schema of an object, or something that the
/// tool requires can't be made.
pub fn synthesise(tool: &DeclaredTool, inventory: &Inventory, known: &[Value]) -> Result<Vec<Case>, String> {
    let source = Source::new(&tool.name, inventory, known);
    let maker = Maker::new(&tool.input_schema, &source);
    let alternatives = maker.alternatives()?;
    let most = (CASES / alternatives.len().max(1)).max(1);
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    let mut problem = None;
    for properties in alternatives {
        match parameters(&maker, &properties) {
            Ok(parameters) => {
                let found = combine(&parameters, maker.records(&properties), most);
                rows.extend(found.into_iter().filter(|row| !rows.contains(row)).collect::<Vec<_>>());
            }
            Err(why) => problem = problem.or(Some(why)),
        }
    }
    if let (true, Some(why)) = (rows.is_empty(), problem) {
        return Err(why);
    }
    rows.truncate(CASES);
    let case =
        |(at, arguments): (usize, Map<String, Value>)| Case::new(&tool.name, format!("synthesised-{at}"), arguments);
    Ok((1..).zip(rows).map(case).collect())
}

/// The values to try for each property that can be filled in.
fn parameters(maker: &Maker<'_>, properties: &[Property]) -> Result<Vec<Parameter>, String> {
    let mut parameters = Vec::new();
    let mut left = OPTIONAL;
    for Property { name, required, schema } in properties {
        if !required {
            match left.checked_sub(1) {
                Some(fewer) => left = fewer,
                None => continue,
            }
        }
        match maker.values(schema, name) {
            Ok(values) => parameters.push(Parameter { name: name.clone(), required: *required, values }),
            Err(why) if *required => return Err(format!("`{name}` is required, and {why}")),
            Err(_) => {} // may be left out, so it is
        }
    }
    Ok(parameters)
}

/// In which order to call tools, as places in the list: those that require nothing first, then
/// those that require the fewest values which their schema doesn't name, then as listed. What the
/// first return feeds the arguments of the rest.
#[must_use]
pub fn order(tools: &[DeclaredTool]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..tools.len()).collect();
    places.sort_by_key(|at| tools.get(*at).map(|tool| schema::needs(&tool.input_schema)));
    places
}
