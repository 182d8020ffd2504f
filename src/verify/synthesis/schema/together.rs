//! Sets of arguments that belong together.

use serde_json::{Value, json};

use super::{Maker, Members, Property, scalar::takes, shape::has_type};
use crate::verify::synthesis::{record::words, source::Asked};

impl Maker<'_> {
    /// Sets of arguments that belong together: from one record, or a table with rows of its own.
    pub(in crate::verify::synthesis) fn records(&self, properties: &[Property]) -> Vec<Members> {
        let resolved: Vec<(&str, Value)> = properties
            .iter()
            .filter_map(|property| {
                let Value::Object(schema) = &property.schema else { return None };
                let schema = self.resolved(schema, &mut Vec::new()).ok()?;
                Some((property.name.as_str(), Value::Object(schema)))
            })
            .collect();
        let takers: Vec<_> = resolved
            .iter()
            .map(|(name, schema)| (*name, move |value: &Value| is_scalar(value) && takes(schema, value)))
            .collect();
        let parameters: Vec<Asked<'_>> =
            takers.iter().map(|(name, taker)| (*name, taker as &dyn Fn(&Value) -> bool)).collect();
        let mut sets: Vec<Members> = self.tables(&resolved);
        sets.extend(self.source.together(&parameters).into_iter().map(|set| set.into_iter().collect()));
        sets
    }

    fn tables(&self, resolved: &[(&str, Value)]) -> Vec<Members> {
        let named = |any: &[&str], kind: &str| {
            let is = |(name, schema): &&(&str, Value)| {
                let last = words(name);
                last.iter().any(|word| any.contains(&word.as_str())) && has_type(schema, kind)
            };
            resolved.iter().find(is).map(|(name, _)| (*name).to_owned())
        };
        let Some(table) = named(&["table"], "string") else { return Vec::new() };
        let rows = ["row", "rows", "record", "records", "value", "values", "data"];
        let (list, single) = (named(&rows, "array"), named(&rows, "object"));
        let mut sets = Vec::new();
        for (name, [row, other]) in self.source.rows() {
            let mut set = Members::from_iter([(table.clone(), json!(name))]);
            match (&list, &single) {
                (Some(list), _) => {
                    // Several rows at once, for the first table.
                    let rows = if sets.is_empty() { json!([row, other]) } else { json!([row]) };
                    set.insert(list.clone(), rows)
                }
                (None, Some(single)) => set.insert(single.clone(), Value::Object(row)),
                (None, None) => return sets,
            };
            sets.push(set);
        }
        sets
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array() && !value.is_null()
}
