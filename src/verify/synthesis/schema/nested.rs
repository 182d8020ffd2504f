//! Objects and lists.

use serde_json::Value;

use super::{ELEMENTS, MADE, Maker, Members, NAMED, Property, push, shape::properties};

impl Maker<'_> {
    /// An object with what is required, then each optional member and each other value in turn.
    pub(super) fn members(&self, schema: &Members, trail: &[String], depth: usize) -> Result<Vec<Value>, String> {
        let mut base = Members::new();
        let mut others = Vec::new();
        for Property { name, required, schema } in properties(schema)? {
            match self.make(&schema, &name, trail, depth + 1) {
                Ok(values) => {
                    let mut values = values.into_iter();
                    if required {
                        base.extend(values.next().map(|value| (name.clone(), value)));
                    }
                    others.extend(values.take(NAMED).map(|value| (name.clone(), value)));
                }
                Err(why) if required => return Err(why),
                Err(_) => {}
            }
        }
        let mut found = vec![Value::Object(base.clone())];
        for (name, value) in others {
            let mut one = base.clone();
            one.insert(name, value);
            push(&mut found, Value::Object(one));
        }
        found.truncate(NAMED);
        Ok(found)
    }

    pub(super) fn elements(
        &self,
        schema: &Members,
        name: &str,
        trail: &[String],
        depth: usize,
    ) -> Result<Vec<Value>, String> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(ELEMENTS);
        if least > ELEMENTS {
            return Err(format!("it wants a list of more than {ELEMENTS} elements"));
        }
        let any = Value::Bool(true);
        let fixed = schema.get("prefixItems").and_then(Value::as_array).map_or(&[] as &[Value], Vec::as_slice);
        let mut start = Vec::new();
        for item in fixed {
            start.extend(self.make(item, name, trail, depth + 1)?.into_iter().next());
        }
        let item = schema.get("items").filter(|items| !items.is_array()).unwrap_or(&any);
        let made =
            if *item == Value::Bool(false) { Err(String::new()) } else { self.make(item, name, trail, depth + 1) };
        let (items, problem) = match made {
            Ok(items) => (items, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let list = |from: usize, count: u64| -> Option<Value> {
            let mut list = start.clone();
            let mut next = items.iter().cycle().skip(from);
            while (list.len() as u64) < count {
                list.push(next.next()?.clone());
            }
            let twice = |(at, value): (usize, &Value)| list.iter().skip(at + 1).any(|other| other == value);
            (!(unique && list.iter().enumerate().any(twice))).then_some(Value::Array(list))
        };
        let one = least.max(1).max(start.len() as u64).min(most);
        let mut found: Vec<Value> = Vec::new();
        for at in 0..items.len().clamp(1, MADE) {
            if let Some(value) = list(at, one) {
                push(&mut found, value);
            }
        }
        if items.len() > 1
            && one < most
            && let Some(value) = list(0, one + 1)
        {
            push(&mut found, value);
        }
        if least == 0 && start.is_empty() {
            push(&mut found, Value::Array(Vec::new()));
        }
        let why = || problem.unwrap_or_else(|| "no list was found that its schema takes".into());
        if found.is_empty() { Err(why()) } else { Ok(found) }
    }
}
