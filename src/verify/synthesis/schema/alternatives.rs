//! `anyOf` and `oneOf`: each branch is taken, as if the rest of the schema stood in it.

use serde_json::Value;

use super::{Maker, Members, NAMED, merge::merged, push};

/// A schema, and the references that were followed to come to it.
type Followed = (Members, Vec<String>);

impl Maker<'_> {
    /// Values of each branch: the first of each, then the second of each, and so on.
    pub(super) fn choices(
        &self,
        schema: &Members,
        name: &str,
        trail: &[String],
        depth: usize,
    ) -> Result<Vec<Value>, String> {
        let mut columns = Vec::new();
        let (branches, mut problem) = self.branches(schema, trail);
        for (branch, trail) in branches {
            match self.make(&Value::Object(branch), name, &trail, depth + 1) {
                Ok(values) => columns.push(values),
                Err(why) => problem = problem.or(Some(why)),
            }
        }
        // Null says the same as leaving it out; last, where there is a choice.
        columns.sort_by_key(|values| values.iter().all(Value::is_null));
        let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
        let mut found = Vec::new();
        for at in 0..longest {
            for value in columns.iter().filter_map(|values| values.get(at)) {
                push(&mut found, value.clone());
            }
        }
        found.truncate(NAMED);
        let why = || problem.unwrap_or_else(|| "its list of alternatives is empty".into());
        if found.is_empty() { Err(why()) } else { Ok(found) }
    }

    /// The branches of a schema, itself if it has none, and why one was left out.
    pub(super) fn branches(&self, schema: &Members, trail: &[String]) -> (Vec<Followed>, Option<String>) {
        let keys = ["anyOf", "oneOf"];
        let Some((key, list)) = keys.iter().find_map(|key| Some((*key, schema.get(*key)?.as_array()?))) else {
            let mut schema = schema.clone();
            schema.retain(|key, _| !keys.contains(&key.as_str()));
            return (vec![(schema, trail.to_vec())], None);
        };
        let mut base = schema.clone();
        base.remove(key);
        let mut problem = None;
        let mut found: Vec<Followed> = Vec::new();
        for branch in list.iter().take(NAMED) {
            let mut trail = trail.to_vec();
            let branch = match branch {
                Value::Bool(true) => Ok(base.clone()),
                Value::Object(branch) => self.resolved(branch, &mut trail).map(|branch| merged(base.clone(), branch)),
                _ => Err("an alternative of its schema takes no value".to_owned()),
            };
            match branch {
                Ok(branch) => found.push((branch, trail)),
                Err(why) => problem = problem.or(Some(why)),
            }
        }
        // What makes another branch fit would make both fit, which `oneOf` refuses.
        let required: Vec<Vec<String>> = found.iter().map(|(branch, _)| required(branch)).collect();
        for (at, (branch, _)) in found.iter_mut().enumerate() {
            let own = required.get(at).cloned().unwrap_or_default();
            if let Some(Value::Object(properties)) = branch.get_mut("properties") {
                properties
                    .retain(|name, _| own.contains(name) || !required.iter().flatten().any(|other| other == name));
            }
        }
        (found, problem)
    }
}

fn required(schema: &Members) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}
