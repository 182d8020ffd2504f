use candor_tools::database::Cell;
use serde_json::json;

use super::{Bench, SHOP, refused, text};

#[tokio::test]
async fn every_value_is_exact_in_json() {
    let bench = Bench::new(SHOP);
    for (sql, expected) in [
        ("SELECT NULL", json!(null)),
        ("SELECT 9007199254740991", json!(9_007_199_254_740_991_i64)),
        ("SELECT -9007199254740991", json!(-9_007_199_254_740_991_i64)),
        ("SELECT 9007199254740992", json!({"integer": "9007199254740992"})),
        ("SELECT 9007199254740993", json!({"integer": "9007199254740993"})),
        ("SELECT -9223372036854775808", json!({"integer": "-9223372036854775808"})),
        ("SELECT 1.5", json!(1.5)),
        ("SELECT 1e300", json!(1e300)),
        ("SELECT 9e999", json!({"real": "Infinity"})),
        ("SELECT -9e999", json!({"real": "-Infinity"})),
        ("SELECT 9e999 - 9e999", json!(null)),
        ("SELECT 'Infinity'", json!("Infinity")),
        ("SELECT 'a' || char(0) || 'b'", json!("a\0b")),
        ("SELECT CAST(x'ff61' AS TEXT)", json!({"invalid_text": "/2E="})),
        ("SELECT CAST(x'eda080' AS TEXT)", json!({"invalid_text": "7aCA"})),
        ("SELECT x'00ff'", json!({"blob": "AP8="})),
        ("SELECT x''", json!({"blob": ""})),
        ("SELECT ''", json!("")),
        ("SELECT '{\"blob\": \"AP8=\"}'", json!("{\"blob\": \"AP8=\"}")),
    ] {
        assert_eq!(bench.cell(sql).await, expected, "{sql}");
    }
    assert!(bench.query("SELECT char(0xD800), char(55296, 57343)").await.is_ok());
}

#[tokio::test]
async fn results_fit_the_schema_that_is_published() {
    let bench = Bench::new(SHOP);
    let set =
        bench.query("SELECT NULL, 1, 1.5, 9007199254740993, 9e999, 'x', x'00', CAST(x'ff' AS TEXT)").await.unwrap();
    let (_, tools) = candor_tools::inventory();
    let query = tools.into_iter().find(|tool| tool.name == "query").unwrap();
    let schema = json!(query.output_schema.unwrap());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let rows = serde_json::to_value(&set.rows).unwrap();
    let output = |rows| json!({"columns": set.columns, "rows": rows, "truncated": false});
    assert!(validator.is_valid(&output(rows.clone())), "{schema:#}");
    for wrong in [json!([[{"blob": 1}]]), json!([[{"other": "x"}]]), json!([[[]]]), json!(["x"])] {
        assert!(!validator.is_valid(&output(wrong.clone())), "{wrong}");
    }
    // What a result may hold, a parameter may be.
    let schema = json!(query.input_schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&json!({"sql": "SELECT 1", "params": rows[0]})), "{schema:#}");
    assert!(!validator.is_valid(&json!({"sql": "SELECT 1", "params": [[]]})));
}

#[tokio::test]
async fn a_value_that_was_returned_can_be_sent_back_as_a_parameter() {
    let bench = Bench::new(SHOP);
    for sql in [
        "NULL",
        "1",
        "-9223372036854775808",
        "9007199254740993",
        "0.1",
        "9e999",
        "-9e999",
        "'text'",
        "CAST(x'ff61' AS TEXT)",
        "x'00ff'",
        "'a' || char(0)",
        "1.0",
    ] {
        let json = bench.cell(&format!("SELECT {sql}")).await;
        let cell: Cell = serde_json::from_value(json.clone()).unwrap();
        let check = format!("SELECT ?1 IS {sql}, typeof(?1) = typeof({sql})");
        let set = bench.reader().query(check, vec![cell], None).await.unwrap();
        assert_eq!(set.rows, [[Cell::Integer(1), Cell::Integer(1)]], "{sql} came as {json}");
    }
    let truth: Cell = serde_json::from_value(json!(true)).unwrap();
    assert_eq!(truth, Cell::Integer(1));
}

#[test]
fn a_parameter_of_another_shape_is_refused_by_name() {
    for json in [
        json!([]),
        json!({}),
        json!({"blob": 1}),
        json!({"blob": "!"}),
        json!({"blob": "AP8=", "integer": "1"}),
        json!({"integer": "9223372036854775808"}),
        json!({"integer": 1}),
        json!({"real": "NaN"}),
        json!({"other": "1"}),
        json!(u64::MAX),
    ] {
        assert!(serde_json::from_value::<Cell>(json.clone()).is_err(), "{json}");
    }
}

#[tokio::test]
async fn parameters_are_values_and_never_sql() {
    let bench = Bench::new(SHOP);
    let reader = bench.reader();
    let ask = |sql: &str, params| reader.query(sql.into(), params, None);
    let hostile = "Ada'; DROP TABLE customer; --";
    let set = ask("SELECT ? AS given", vec![text(hostile)]).await.unwrap();
    assert_eq!(set.rows, [[text(hostile)]]);
    let set = ask("SELECT id FROM customer WHERE name = :name", vec![text("Ada")]).await.unwrap();
    assert_eq!(set.rows, [[Cell::Integer(1)]]);
    for (sql, params) in [
        ("SELECT ?", vec![]),
        ("SELECT ?, ?", vec![Cell::Null]),
        ("SELECT 1", vec![Cell::Null]),
        ("SELECT ?2", vec![Cell::Null]),
    ] {
        let told = refused(ask(sql, params).await, sql);
        assert!(told.contains("parameters"), "{told}");
    }
}

#[tokio::test]
async fn columns_of_one_name_all_arrive() {
    let bench = Bench::new(SHOP);
    let set = bench.query("SELECT 1 AS a, 2 AS a, 3 AS A").await.unwrap();
    assert_eq!(set.columns, ["a", "a", "A"]);
    assert_eq!(set.rows[0].len(), 3);
}

#[tokio::test]
async fn a_misspelt_column_is_an_error_and_not_a_string() {
    let bench = Bench::new(SHOP);
    let told = refused(bench.query("SELECT \"nosuchcol\" FROM customer").await, "column");
    assert!(told.contains("no such column: nosuchcol") || told.contains("nosuchcol"), "{told}");
}
