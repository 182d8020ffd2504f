//! Values that a JSON schema takes.
//!
//! Not every schema: what is not understood is not tried, and said if a tool requires it.

mod alternatives;
mod merge;
mod nested;
mod scalar;
mod shape;
mod together;

use std::cell::Cell;

use serde_json::{Map, Value};

pub(super) use self::shape::{Property, needs};
use self::{
    merge::merged,
    scalar::takes,
    shape::{properties, types},
};
use super::source::Source;

/// Schemas looked at for one tool, how deep they may lie, and values kept of one.
const STEPS: usize = 5_000;
const DEPTH: usize = 24;
const NAMED: usize = 24;
const MADE: usize = 12;
/// Elements of a list.
const ELEMENTS: u64 = 100;

/// Makes values for the schema of one tool's arguments.
pub(super) struct Maker<'a> {
    root: &'a Value,
    source: &'a Source<'a>,
    left: Cell<usize>,
}

type Members = Map<String, Value>;

impl<'a> Maker<'a> {
    pub(super) fn new(root: &'a Value, source: &'a Source<'a>) -> Self {
        Self { root, source, left: Cell::new(STEPS) }
    }

    /// The parameters of the tool; once for each alternative, if its schema has any at the top.
    pub(super) fn alternatives(&self) -> Result<Vec<Vec<Property>>, String> {
        let schema = self.top()?;
        match schema.get("type") {
            None => {}
            Some(Value::String(kind)) if kind == "object" => {}
            Some(other) => return Err(format!("its `inputSchema` is of type {other} and not `object`")),
        }
        let (found, problem) = self.branches(&schema, &[]);
        if found.is_empty() {
            return Err(problem.unwrap_or_else(|| "no alternative of its schema takes a value".into()));
        }
        found.iter().map(|(schema, _)| properties(schema)).collect()
    }

    fn top(&self) -> Result<Members, String> {
        match self.root {
            Value::Object(schema) => self.resolved(schema, &mut Vec::new()),
            Value::Null => Err("it has no `inputSchema`".into()),
            _ => Err("its `inputSchema` is not an object".into()),
        }
    }

    /// Values for a property, at least one, the best first.
    pub(super) fn values(&self, schema: &Value, name: &str) -> Result<Vec<Value>, String> {
        self.make(schema, name, &[], 0)
    }

    fn make(&self, schema: &Value, name: &str, trail: &[String], depth: usize) -> Result<Vec<Value>, String> {
        let left = self.left.get().checked_sub(1).ok_or("its schema is too large to follow")?;
        self.left.set(left);
        if depth > DEPTH {
            return Err(format!("its schema is nested more than {DEPTH} levels deep"));
        }
        let schema = match schema {
            Value::Bool(true) => Members::new(),
            Value::Object(schema) => schema.clone(),
            _ => return Err("its schema takes no value".into()),
        };
        let mut trail = trail.to_vec();
        let schema = self.resolved(&schema, &mut trail)?;
        let whole = Value::Object(schema.clone());
        let mut found: Vec<Value> = Vec::new();
        if let Some(value) = schema.get("const") {
            return Ok(vec![value.clone()]);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            let mut named: Vec<Value> = Vec::new();
            for value in values.iter().filter(|value| takes(&whole, value)).take(NAMED) {
                push(&mut named, value.clone());
            }
            return if named.is_empty() { Err("its enumeration holds no value that fits".into()) } else { Ok(named) };
        }
        if ["anyOf", "oneOf"].iter().any(|key| schema.contains_key(*key)) {
            return self.choices(&schema, name, &trail, depth);
        }
        for key in ["default", "examples", "example"] {
            let values = match schema.get(key) {
                Some(Value::Array(values)) if key == "examples" => values.as_slice(),
                Some(value) => std::slice::from_ref(value),
                None => &[],
            };
            for value in values.iter().filter(|value| !value.is_null() && takes(&whole, value)).take(NAMED) {
                push(&mut found, value.clone());
            }
        }
        let mut problem = None;
        for kind in types(&schema) {
            let made = match kind.as_str() {
                "object" => self.members(&schema, &trail, depth),
                "array" => self.elements(&schema, name, &trail, depth),
                _ => {
                    let known = self.source.values(name, &|value| scalar::is(value, &kind) && takes(&whole, value));
                    scalar::made(&schema, &kind, known)
                }
            };
            match made {
                Ok(values) => {
                    values.into_iter().filter(|value| takes(&whole, value)).for_each(|value| push(&mut found, value));
                }
                Err(why) => problem = problem.or(Some(why)),
            }
        }
        found.truncate(MADE.max(NAMED));
        if found.is_empty() {
            return Err(problem.unwrap_or_else(|| "no value was found that its schema takes".into()));
        }
        Ok(found)
    }

    /// A schema with its `$ref`, and all of its `allOf`, put into it. The trail is what was
    /// followed to come here: a reference that stands in it leads back to itself.
    fn resolved(&self, schema: &Members, trail: &mut Vec<String>) -> Result<Members, String> {
        let mut schema = schema.clone();
        while let Some(reference) = schema.remove("$ref") {
            let reference = reference.as_str().ok_or("its `$ref` is not text")?.to_owned();
            let pointer = reference
                .strip_prefix('#')
                .ok_or_else(|| format!("its `$ref` leads to `{reference}`, which is not in the schema"))?;
            if trail.contains(&reference) {
                return Err(format!("its `$ref` to `{reference}` leads back to itself"));
            }
            let target = self.root.pointer(pointer).and_then(Value::as_object);
            let target = target.ok_or_else(|| format!("its `$ref` to `{reference}` leads nowhere"))?;
            trail.push(reference);
            schema = merged(target.clone(), schema);
        }
        let Some(Value::Array(parts)) = schema.remove("allOf") else { return Ok(schema) };
        for part in parts.iter().filter_map(Value::as_object) {
            let left = self.left.get().checked_sub(1).ok_or("its schema is too large to follow")?;
            self.left.set(left);
            schema = merged(schema, self.resolved(part, &mut trail.clone())?);
        }
        Ok(schema)
    }
}

fn push(found: &mut Vec<Value>, value: Value) {
    if !found.contains(&value) {
        found.push(value);
    }
}
