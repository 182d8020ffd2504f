//! From the text of a case file to cases, with the place of every fault.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::{
    Spanned,
    de::{DeArray, DeString, DeTable, DeValue},
};

use super::{Answer, Case, CaseError, CaseFile, Expect, lines, placeholder, unknown, visible};

pub(super) struct Reader<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

type Found<'t, 'i> = &'t Spanned<DeValue<'i>>;

const FILE_KEYS: [&str; 2] = ["tool", "case"];
const CASE_KEYS: [&str; 7] = ["name", "tool", "arguments", "worlds", "answers", "expect", "literal"];
/// Characters of a case's name.
const NAME: usize = 120;

impl Reader<'_> {
    pub(super) fn file(&self) -> Result<CaseFile, CaseError> {
        let file = DeTable::parse(self.text).map_err(|error| {
            let message = format!("{}; see https://toml.io for how it is written", error.message());
            self.fault(&error.span().unwrap_or_default(), "", message)
        })?;
        let file = file.get_ref();
        self.only_known(file, "", &FILE_KEYS)?;
        let tool = get(file, "tool").map(|found| self.line_of_text(found, "tool")).transpose()?;
        let Some(found) = get(file, "case") else {
            return Err(self.fault(&(0..0), "case", "the file holds no case; begin one with `[[case]]`"));
        };
        let cases = match found.get_ref() {
            DeValue::Array(cases) if !cases.is_empty() => cases,
            DeValue::Array(_) => return Err(self.fault(&found.span(), "case", "there is no case in it; add one")),
            DeValue::Table(_) => {
                return Err(self.fault(&found.span(), "case", "write `[[case]]` with two brackets on each side"));
            }
            other => return Err(self.wrong(found, "case", other, "begin each case with `[[case]]`")),
        };
        let mut read: Vec<Case> = Vec::with_capacity(cases.len());
        for found in cases {
            let case = self.case(found, tool.as_deref())?;
            if let Some(earlier) = read.iter().find(|known| known.tool == case.tool && known.name == case.name) {
                let text = format!(
                    "`{}` stands on line {} already; give each case of a tool a name of its own",
                    visible(&case.name, 60),
                    earlier.line
                );
                return Err(self.fault(&found.span(), "case.name", text));
            }
            read.push(case);
        }
        Ok(CaseFile { path: self.path.to_owned(), cases: read })
    }

    fn case(&self, found: Found<'_, '_>, tool: Option<&str>) -> Result<Case, CaseError> {
        let DeValue::Table(case) = found.get_ref() else {
            return Err(self.wrong(found, "case", found.get_ref(), "begin each case with `[[case]]`"));
        };
        self.only_known(case, "case.", &CASE_KEYS)?;
        let text = |key| get(case, key).map(|found| self.line_of_text(found, &format!("case.{key}"))).transpose();
        let missing = |key: &str, next: &str| self.fault(&found.span(), key, next);
        let name = text("name")?.ok_or_else(|| missing("case.name", "the case has no name; add `name = \"…\"`"))?;
        let tool = match text("tool")? {
            Some(tool) => tool,
            None => tool
                .ok_or_else(|| missing("case.tool", "it names no tool; add `tool = \"…\"` to the case or the file"))?
                .to_owned(),
        };
        let mut read = Case::new(tool, name, Map::new());
        read.line = self.line(&found.span());
        if let Some(found) = get(case, "literal") {
            let DeValue::Boolean(literal) = found.get_ref() else {
                return Err(self.wrong(found, "case.literal", found.get_ref(), "write `true` or leave it out"));
            };
            read.literal = *literal;
        }
        if let Some(found) = get(case, "arguments") {
            read.arguments = self.arguments(found, read.literal)?;
        }
        if let Some(found) = get(case, "worlds") {
            read.worlds = self
                .list(found, "case.worlds", "list names of worlds, as in `[\"demo\"]`", |text| Ok(text.to_owned()))?;
        }
        if let Some(found) = get(case, "answers") {
            let next = "list answers, as in `[\"decline\", \"accept\"]`";
            read.answers = self.list(found, "case.answers", next, |text| match text {
                "accept" => Ok(Answer::Accept),
                "decline" => Ok(Answer::Decline),
                "cancel" => Ok(Answer::Cancel),
                other => Err(unknown("there is no answer", other, &["decline", "cancel", "accept"])),
            })?;
        }
        if let Some(found) = get(case, "expect") {
            read.expect = match self.line_of_text(found, "case.expect")?.as_str() {
                "success" => Expect::Success,
                "refused" => Expect::Refused,
                "any" => Expect::Any,
                other => {
                    let text = unknown("there is no ending", other, &["success", "refused", "any"]);
                    return Err(self.fault(&found.span(), "case.expect", text));
                }
            };
        }
        Ok(read)
    }

    fn arguments(&self, found: Found<'_, '_>, literal: bool) -> Result<Map<String, Value>, CaseError> {
        const KEY: &str = "case.arguments";
        match found.get_ref() {
            DeValue::Table(table) => self.members(table, KEY, literal),
            DeValue::String(text) => {
                let members: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
                    self.fault(
                        &found.span(),
                        KEY,
                        format!("the text is no JSON object: {error}; write one, or a table"),
                    )
                })?;
                self.spelled(members.values().find_map(placeholder::slip), found, KEY, literal)?;
                Ok(members)
            }
            other => Err(self.wrong(found, KEY, other, "write a table, or a text that holds a JSON object")),
        }
    }

    fn members(&self, table: &DeTable<'_>, key: &str, literal: bool) -> Result<Map<String, Value>, CaseError> {
        let member = |(name, found): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            let name = name.get_ref().to_string();
            let value = self.value(found, &format!("{key}.{}", visible(&name, 60)), literal)?;
            Ok((name, value))
        };
        table.iter().map(member).collect()
    }

    fn value(&self, found: Found<'_, '_>, key: &str, literal: bool) -> Result<Value, CaseError> {
        let in_json = "write the arguments as a text that holds JSON to say it";
        Ok(match found.get_ref() {
            DeValue::String(text) => {
                let value = Value::String(text.to_string());
                self.spelled(placeholder::slip(&value), found, key, literal)?;
                value
            }
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Integer(integer) => {
                let (digits, radix) = (integer.as_str(), integer.radix());
                let number = i64::from_str_radix(digits, radix).map(Number::from);
                let number = number.or_else(|_| u64::from_str_radix(digits, radix).map(Number::from));
                let too_large =
                    |_| self.fault(&found.span(), key, format!("the integer takes more than 64 bits; {in_json}"));
                Value::Number(number.map_err(too_large)?)
            }
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok().and_then(Number::from_f64);
                Value::Number(
                    number
                        .ok_or_else(|| self.fault(&found.span(), key, "JSON has no such number; write a finite one"))?,
                )
            }
            DeValue::Datetime(_) => {
                return Err(self.fault(&found.span(), key, "JSON has no dates; put it in quotes"));
            }
            DeValue::Array(values) => {
                let values = values.iter().enumerate();
                values
                    .map(|(at, found)| self.value(found, &format!("{key}[{at}]"), literal))
                    .collect::<Result<_, _>>()?
            }
            DeValue::Table(table) => Value::Object(self.members(table, key, literal)?),
        })
    }

    fn spelled(&self, slip: Option<String>, at: Found<'_, '_>, key: &str, literal: bool) -> Result<(), CaseError> {
        match slip {
            Some(slip) if !literal => {
                let text = format!("{slip}; if it is meant as it stands, add `literal = true` to the case");
                Err(self.fault(&at.span(), key, text))
            }
            _ => Ok(()),
        }
    }

    /// A list of texts, none twice, at least one.
    fn list<T: PartialEq>(
        &self,
        found: Found<'_, '_>,
        key: &str,
        next: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<T>, CaseError> {
        let DeValue::Array(values) = found.get_ref() else {
            return Err(self.wrong(found, key, found.get_ref(), next));
        };
        let values: &DeArray<'_> = values;
        if values.is_empty() {
            return Err(self.fault(&found.span(), key, format!("the list is empty; {next}, or leave the key out")));
        }
        let mut list = Vec::with_capacity(values.len());
        for found in values {
            let text = self.line_of_text(found, key)?;
            let value = read(&text).map_err(|fault| self.fault(&found.span(), key, fault))?;
            if list.contains(&value) {
                let fault = format!("`{}` stands there twice; remove one", visible(&text, 60));
                return Err(self.fault(&found.span(), key, fault));
            }
            list.push(value);
        }
        Ok(list)
    }

    /// A text that can stand in a line of a report.
    fn line_of_text(&self, found: Found<'_, '_>, key: &str) -> Result<String, CaseError> {
        let DeValue::String(text) = found.get_ref() else {
            return Err(self.wrong(found, key, found.get_ref(), "write a text in quotes"));
        };
        let fault = if text.trim().is_empty() {
            "the text is empty; write one".to_owned()
        } else if text.chars().any(char::is_control) {
            "the text has a line break or another control character; write it on one line".to_owned()
        } else if text.chars().count() > NAME {
            format!("the text is longer than {NAME} characters; shorten it")
        } else {
            return Ok(text.to_string());
        };
        Err(self.fault(&found.span(), key, fault))
    }

    fn only_known(&self, table: &DeTable<'_>, prefix: &str, known: &[&str]) -> Result<(), CaseError> {
        let keys = table.iter().map(|(key, _)| key);
        // The map sorts them; the file's order is what its author sees.
        let strangers = keys.filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = strangers.min_by_key(|key| key.span().start) else { return Ok(()) };
        let full = format!("{prefix}{}", visible(key.get_ref(), 60));
        Err(self.fault(&key.span(), &full, unknown("there is no key", key.get_ref(), known)))
    }

    fn wrong(&self, at: Found<'_, '_>, key: &str, value: &DeValue<'_>, next: &str) -> CaseError {
        let kind = match value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.fault(&at.span(), key, format!("{kind} can't stand here; {next}"))
    }

    fn fault(&self, at: &Range<usize>, key: &str, text: impl Into<String>) -> CaseError {
        let key = (!key.is_empty()).then(|| key.to_owned());
        CaseError { path: self.path.to_owned(), line: Some(self.line(at)), key, text: text.into() }
    }

    fn line(&self, at: &Range<usize>) -> usize {
        lines(self.text.as_bytes().get(..at.start).unwrap_or_default()) + 1
    }
}

fn get<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<Found<'t, 'i>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, found)| found)
}
