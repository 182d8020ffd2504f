//! What a schema takes, kind by kind; each case is checked against the schema by another library.

use std::time::Instant;

use candor::verify::synthesis::{CASES, Inventory, synthesise};
use serde_json::{Value, json};

use super::{made, tool, values};
use crate::support::HANG;

/// The values of a required parameter with this schema.
#[track_caller]
fn of(schema: &Value) -> Vec<Value> {
    values(&made(&json!({"type": "object", "required": ["p"], "properties": {"p": schema}})), "p")
}

/// Why there are no cases.
#[track_caller]
fn why_not(schema: &Value) -> String {
    match synthesise(&tool("tool", schema), &Inventory::default(), &[]) {
        Err(why) => why,
        Ok(cases) => panic!("{schema}: {cases:?}"),
    }
}

#[test]
fn a_tool_without_parameters_is_called_without_arguments() {
    for schema in [json!({}), json!({"type": "object"}), json!({"type": "object", "additionalProperties": false})] {
        let rows = made(&schema);
        assert!(rows.len() == 1 && rows[0].is_empty(), "{schema}: {rows:?}");
    }
}

#[test]
fn values_that_the_schema_names_are_all_tried() {
    assert_eq!(of(&json!({"enum": ["a", 2, null, {"x": 1}]})), [json!("a"), json!(2), json!(null), json!({"x": 1})]);
    assert_eq!(of(&json!({"type": "string", "enum": ["a", "b"]})), ["a", "b"]);
    assert_eq!(of(&json!({"const": "only"})), ["only"]);
    assert_eq!(of(&json!({"type": "boolean"})), [false, true]);
    assert_eq!(of(&json!({"type": "string", "default": "d", "examples": ["e", "f"]}))[..3], ["d", "e", "f"]);
    assert_eq!(of(&json!({"type": "string", "default": 5, "maxLength": 3, "examples": ["long"]})), ["can"]);
    let many: Vec<_> = (0..24).map(|n| format!("v{n}")).collect();
    assert_eq!(of(&json!({"enum": many})).len(), 24);
}

#[test]
fn numbers_keep_their_bounds() {
    assert_eq!(of(&json!({"type": "integer", "minimum": 1, "maximum": 100})), [1, 100]);
    assert_eq!(of(&json!({"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 10})), [5, 9]);
    assert_eq!(of(&json!({"type": "integer", "minimum": 7, "multipleOf": 5})), [10]);
    assert_eq!(of(&json!({"type": "integer", "maximum": -3})), [-3]);
    assert_eq!(of(&json!({"type": "number", "minimum": 0.25, "maximum": 0.5})), [0.5]);
    assert_eq!(of(&json!({"type": "integer"})), [1]);
    assert_eq!(of(&json!({"type": "integer", "format": "uint64", "minimum": 0, "maximum": u64::MAX})), [1, 0]);
    assert_eq!(of(&json!({"minimum": 3})), [3]);
}

#[test]
fn texts_keep_their_lengths_patterns_and_formats() {
    assert_eq!(of(&json!({"type": "string", "minLength": 10})), ["candorrrrr"]);
    assert_eq!(of(&json!({"type": "string", "maxLength": 0})), [""]);
    for pattern in [
        "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$",
        "^[0-9a-fA-F]{40}$",
        "^-?[0-9]{1,19}$",
        "^(GET|HEAD)$",
        "^a+b*c?$",
        "[xyz]",
        "^\\d{4}-\\d{2}-\\d{2}$",
        "^(foo|bar)_[A-Z]{3}\\.txt$",
        "",
        "^[^a-z]+$",
        "^\\S+@\\S+$",
        "^$",
        "^#[0-9a-f]{6}$",
        "^v\\d+\\.\\d+\\.\\d+$",
    ] {
        of(&json!({"type": "string", "pattern": pattern}));
    }
    assert_eq!(of(&json!({"type": "string", "pattern": "^x+$", "minLength": 5})), ["xxxxx"]);
    for format in ["date-time", "date", "time", "email", "hostname", "ipv4", "ipv6", "uuid", "duration", "json-pointer"]
    {
        let schema = json!({"type": "string", "format": format});
        let options = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        for value in of(&schema) {
            assert!(options.is_valid(&value), "{format}: {value}");
        }
    }
    assert_eq!(of(&json!({"type": "string", "format": "uri"})), ["{listener}/"]);
}

#[test]
fn lists_have_as_many_elements_as_they_must() {
    assert_eq!(of(&json!({"type": "array", "items": {"type": "integer"}})), [json!([1]), json!([])]);
    assert_eq!(of(&json!({"type": "array", "items": {"type": "integer"}, "minItems": 3})), [json!([1, 1, 1])]);
    assert_eq!(of(&json!({"type": "array", "maxItems": 0})), [json!([])]);
    let unique = json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": true});
    assert_eq!(of(&unique)[0], json!(["a", "b"]));
    let each = of(&json!({"type": "array", "items": {"enum": ["a", "b", "c"]}}));
    assert_eq!(each, [json!(["a"]), json!(["b"]), json!(["c"]), json!(["a", "b"]), json!([])]);
    let pair = json!({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false, "minItems": 2});
    assert_eq!(of(&pair), [json!(["candor", 1])]);
    of(
        &json!({"type": "array", "minItems": 2, "items": {"type": "array", "minItems": 1, "items": {"type": "boolean"}}}),
    );
}

#[test]
fn objects_inside_have_what_they_require_and_each_choice_once() {
    let schema = json!({"type": "object", "required": ["mode"], "properties": {
        "mode": {"enum": ["a", "b"]}, "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}},
    }, "additionalProperties": false});
    let found = of(&schema);
    for value in [json!({"mode": "a"}), json!({"mode": "b"}), json!({"mode": "a", "deep": {"on": true}})] {
        assert!(found.contains(&value), "{value}: {found:?}");
    }
    assert_eq!(
        of(&json!({"type": "object", "required": ["x"], "additionalProperties": {"type": "integer"}})),
        [json!({"x": 1})]
    );
}

#[test]
fn each_branch_of_an_alternative_is_taken() {
    for key in ["anyOf", "oneOf"] {
        let found = of(&json!({key: [
            {"type": "null"}, {"type": "integer", "minimum": 5}, {"type": "string", "minLength": 3},
            {"type": "object", "required": ["k"], "properties": {"k": {"const": "v"}}},
        ]}));
        assert_eq!(found, [json!(5), json!("candor"), json!({"k": "v"}), json!(null)], "{key}");
        let tagged = json!({"type": "object", key: [
            {"required": ["kind", "a"], "properties": {"kind": {"const": "one"}, "a": {"type": "boolean"}}},
            {"required": ["kind", "b"], "properties": {"kind": {"const": "two"}, "b": {"type": "integer"}}},
        ]});
        let found = of(&tagged);
        assert!(found.contains(&json!({"kind": "one", "a": false})) && found.contains(&json!({"kind": "two", "b": 1})));
    }
    let found = of(&json!({"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "^b", "maxLength": 1}]}));
    assert_eq!(found, ["a", "b"]);
    assert_eq!(of(&json!({"allOf": [{"type": "integer", "minimum": 3}, {"minimum": 8, "maximum": 9}]})), [8, 9]);
    assert_eq!(of(&json!({"type": ["integer", "null"]})), [1]);
    assert_eq!(of(&json!({"type": "null"})), [json!(null)]);
    assert_eq!(of(&json!(true)), ["candor"]);
}

#[test]
fn alternatives_at_the_top_are_whole_sets_of_arguments() {
    let rows = made(&json!({"type": "object", "properties": {"all": {"type": "boolean"}}, "anyOf": [
        {"required": ["id"], "properties": {"id": {"type": "integer"}}},
        {"required": ["name"], "properties": {"name": {"type": "string"}}},
    ]}));
    assert_eq!(values(&rows, "id"), [1], "{rows:?}");
    assert_eq!(values(&rows, "name"), ["candor"], "{rows:?}");
    assert_eq!(values(&rows, "all").len(), 2, "{rows:?}");
}

#[test]
fn references_are_followed_inside_the_schema() {
    let schema = json!({
        "type": "object", "required": ["p", "q"],
        "properties": {"p": {"$ref": "#/$defs/Name", "description": "x"}, "q": {"$ref": "#/definitions/N~1M"}},
        "$defs": {"Name": {"$ref": "#/$defs/Text"}, "Text": {"enum": ["a", "b"]}},
        "definitions": {"N/M": {"type": "integer", "minimum": 2}},
    });
    let rows = made(&schema);
    assert_eq!(values(&rows, "p"), ["a", "b"]);
    assert_eq!(values(&rows, "q"), [2]);
}

#[test]
fn a_reference_that_leads_back_to_itself_ends() {
    let tree = json!({
        "type": "object", "required": ["p"], "properties": {"p": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "required": ["v"], "properties": {
            "v": {"type": "boolean"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            "parent": {"$ref": "#/$defs/Node"},
        }, "additionalProperties": false}},
    });
    let found = values(&made(&tree), "p");
    assert!(found.contains(&json!({"v": true})) && found.contains(&json!({"v": false, "children": []})), "{found:?}");

    let list = json!({"required": ["p"], "properties": {"p": {"$ref": "#/$defs/L"}}, "$defs": {
        "L": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/$defs/L"}}}]},
    }});
    assert_eq!(values(&made(&list), "p"), [json!(null)]);

    for (definitions, words) in [
        (json!({"A": {"$ref": "#/$defs/A"}}), "back to itself"),
        (json!({"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}), "back to itself"),
        (
            json!({"A": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}}}}),
            "back to itself",
        ),
        (json!({"A": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/A"}}}), "back to itself"),
        (json!({"A": {"allOf": [{"$ref": "#/$defs/A"}]}}), "back to itself"),
        (json!({"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}), "back to itself"),
        (json!({"B": {}}), "leads nowhere"),
        (json!({"A": {"$ref": "https://example.com/schema"}}), "not in the schema"),
        (json!({"A": {"$ref": 5}}), "not text"),
    ] {
        let schema = json!({"required": ["p"], "properties": {"p": {"$ref": "#/$defs/A"}}, "$defs": definitions});
        let why = why_not(&schema);
        assert!(why.contains("`p` is required") && why.contains(words), "{schema}: {why}");
        // What may be left out is no reason.
        let optional = json!({"properties": {"p": {"$ref": "#/$defs/A"}}, "$defs": definitions});
        let cases = synthesise(&tool("tool", &optional), &Inventory::default(), &[]).unwrap();
        assert!(cases.len() == 1 && cases[0].arguments.is_empty(), "{cases:?}");
    }
    assert!(why_not(&json!({"$ref": "#"})).contains("back to itself"));
}

#[test]
fn what_cannot_be_made_is_said() {
    for (schema, words) in [
        (json!(null), "no `inputSchema`"),
        (json!([]), "not an object"),
        (json!(true), "not an object"),
        (json!({"type": "string"}), "\"string\" and not `object`"),
        (json!({"properties": []}), "`properties`"),
        (json!({"required": ["p"], "properties": {"p": false}}), "takes no value"),
        (json!({"required": ["p"], "additionalProperties": false}), "takes no value"),
        (json!({"required": ["p"], "properties": {"p": {"enum": []}}}), "enumeration"),
        (json!({"required": ["p"], "properties": {"p": {"anyOf": []}}}), "empty"),
        (json!({"required": ["p"], "properties": {"p": {"type": "text"}}}), "`text`"),
        (json!({"required": ["p"], "properties": {"p": {"type": "string", "pattern": "^(?=x)y"}}}), "pattern"),
        (json!({"required": ["p"], "properties": {"p": {"type": "string", "pattern": "("}}}), "pattern"),
        (json!({"required": ["p"], "properties": {"p": {"type": "string", "minLength": 1_000_000_000}}}), "10000"),
        (json!({"required": ["p"], "properties": {"p": {"type": "array", "minItems": 1_000_000_000}}}), "100"),
        (json!({"required": ["p"], "properties": {"p": {"type": "integer", "minimum": 5, "maximum": 4}}}), "no value"),
        (
            json!({"required": ["p"], "properties": {"p": {"type": "string", "minLength": 5, "maxLength": 4}}}),
            "no value",
        ),
        (
            json!({"required": ["p"], "properties": {"p": {"type": "array", "minItems": 3, "uniqueItems": true, "items": {"type": "boolean"}}}}),
            "no list",
        ),
    ] {
        let why = why_not(&schema);
        assert!(why.contains(words), "{schema}: {why}");
    }
}

#[test]
fn a_hostile_schema_costs_little() {
    let began = Instant::now();
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"type": "object", "required": ["a"], "properties": {"a": deep}});
    }
    assert!(why_not(&json!({"required": ["p"], "properties": {"p": deep}})).contains("levels deep"));

    let mut wide = json!({"type": "boolean"});
    for _ in 0..20 {
        wide = json!({"anyOf": [wide, wide]});
        if wide.to_string().len() > 200_000 {
            break;
        }
    }
    assert_eq!(of(&wide), [false, true], "what was found before it became too much");

    let doubling: serde_json::Map<_, _> = (0..30)
        .map(|n| {
            (
                format!("D{n}"),
                json!({"type": "object", "required": ["a", "b"], "properties": {
                    "a": {"$ref": format!("#/$defs/D{}", n + 1)}, "b": {"$ref": format!("#/$defs/D{}", n + 1)},
                }}),
            )
        })
        .chain([("D30".to_owned(), json!({"type": "boolean"}))])
        .collect();
    let why = why_not(&json!({"required": ["p"], "properties": {"p": {"$ref": "#/$defs/D0"}}, "$defs": doubling}));
    assert!(why.contains("too large") || why.contains("levels deep"), "{why}");

    let pattern = json!({"type": "string", "pattern": "^((a{1,999}){1,999}){1,999}$"});
    why_not(&json!({"required": ["p"], "properties": {"p": pattern}}));

    let properties: serde_json::Map<_, _> =
        (0..300).map(|n| (format!("p{n}"), json!({"enum": (0..30).collect::<Vec<_>>()}))).collect();
    assert_eq!(made(&json!({"properties": properties})).len(), CASES);
    assert!(began.elapsed() < HANG, "{:?}", began.elapsed());
}

#[test]
fn every_value_is_tried_and_pairs_as_far_as_the_cases_go() {
    let schema = json!({"type": "object", "required": ["mode", "force"], "properties": {
        "mode": {"enum": ["list", "add", "delete"]}, "force": {"type": "boolean"}, "dry_run": {"type": "boolean"},
        "depth": {"type": "integer", "minimum": 0, "maximum": 9},
    }});
    let rows = made(&schema);
    assert_eq!(rows[0].keys().collect::<Vec<_>>(), ["force", "mode"], "first what is required");
    let options = |name: &str| {
        let mut options: Vec<Option<Value>> = values(&rows, name).into_iter().map(Some).collect();
        if !["mode", "force"].contains(&name) {
            options.push(None);
        }
        options
    };
    let names = ["mode", "force", "dry_run", "depth"];
    assert_eq!(names.map(|name| options(name).len()), [3, 2, 3, 4]);
    for (at, one) in names.iter().enumerate() {
        for other in &names[at + 1..] {
            for first in options(one) {
                for second in options(other) {
                    let met =
                        rows.iter().any(|row| row.get(*one) == first.as_ref() && row.get(*other) == second.as_ref());
                    assert!(met, "{one}={first:?} never with {other}={second:?}");
                }
            }
        }
    }

    // Too many values for all pairs: each value at least.
    let properties: serde_json::Map<_, _> =
        (0..20).map(|n| (format!("p{n}"), json!({"enum": (0..10).collect::<Vec<_>>()}))).collect();
    let rows = made(&json!({"properties": properties}));
    for n in 0..20 {
        assert_eq!(values(&rows, &format!("p{n}")).len(), 10, "p{n}");
    }
}

#[test]
fn what_fits_one_alternative_fits_no_other() {
    let properties = json!({"id": {"type": "integer"}, "name": {"type": "string"}, "all": {"type": "boolean"}});
    let one_of = json!([{"required": ["id"]}, {"required": ["name"]}]);
    let schema = json!({"type": "object", "properties": properties, "oneOf": one_of});
    let rows = made(&schema);
    assert!(rows.iter().any(|row| row.contains_key("id")) && rows.iter().any(|row| row.contains_key("name")));
    of(&schema);
}
