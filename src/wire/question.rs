//! What a server asks the user, and what the user says.

use serde_json::{Map, Value, json};

use super::Answer;

/// A question that a server put to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its text.
    pub message: String,
    /// The form to fill in, a schema of a flat object; null if there is none.
    pub schema: Value,
    /// Whether it wants the user to open an address, which we declared that we do not offer.
    pub wants_url: bool,
}

impl Question {
    /// From the parameters of `elicitation/create`.
    pub(super) fn read(params: &Value) -> Self {
        let text = |key: &str| params.get(key).and_then(Value::as_str);
        Self {
            message: text("message").unwrap_or_default().to_owned(),
            schema: params.get("requestedSchema").cloned().unwrap_or_default(),
            wants_url: text("mode") == Some("url"),
        }
    }

    /// The result that carries the user's answer. Nobody is here to open an address, so a question
    /// that wants that is declined, whatever the answer.
    pub(super) fn result(&self, answer: Answer) -> Value {
        match answer {
            Answer::Accept if !self.wants_url => json!({"action": "accept", "content": self.filled()}),
            Answer::Accept | Answer::Decline => json!({"action": "decline"}),
            Answer::Cancel => json!({"action": "cancel"}),
        }
    }

    /// The form as a user fills it in who agrees to everything.
    fn filled(&self) -> Map<String, Value> {
        let fields = self.schema.get("properties").and_then(Value::as_object);
        fields.into_iter().flatten().map(|(name, field)| (name.clone(), fill(field))).collect()
    }
}

fn fill(field: &Value) -> Value {
    let kind = field.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "boolean" {
        return Value::Bool(true); // whatever the default: the user agrees
    }
    if let Some(default) = field.get("default") {
        return default.clone();
    }
    if let Some(choice) = first_choice(field) {
        return choice;
    }
    let at_least = |key: &str| field.get(key).filter(|least| least.is_number()).cloned();
    match kind {
        "integer" | "number" => at_least("minimum").unwrap_or_else(|| json!(0)),
        "array" => {
            let least = field.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let choices = field.get("items").map(choices).unwrap_or_default();
            choices.into_iter().take(usize::try_from(least).unwrap_or(usize::MAX)).collect()
        }
        _ => Value::String(text(field)),
    }
}

/// The values of an enumeration: plain, or with a title each.
fn choices(field: &Value) -> Vec<Value> {
    let list = |key: &str| field.get(key).and_then(Value::as_array);
    if let Some(plain) = list("enum") {
        return plain.clone();
    }
    let titled = list("oneOf").or_else(|| list("anyOf"));
    titled.into_iter().flatten().filter_map(|choice| choice.get("const").cloned()).collect()
}

fn first_choice(field: &Value) -> Option<Value> {
    choices(field).into_iter().next()
}

/// The shortest text that fits; one that is right for the formats that a form may ask for
/// (specification, client/elicitation).
fn text(field: &Value) -> String {
    match field.get("format").and_then(Value::as_str) {
        Some("email") => "user@example.com".into(),
        Some("uri") => "https://example.com/".into(),
        Some("date") => "2026-01-01".into(),
        Some("date-time") => "2026-01-01T00:00:00Z".into(),
        _ => {
            let least = field.get("minLength").and_then(Value::as_u64).unwrap_or(0);
            "x".repeat(usize::try_from(least.min(4096)).unwrap_or(0))
        }
    }
}
