use serde_json::json;

use super::Bench;

#[tokio::test]
async fn a_name_in_the_schema_is_never_taken_for_sql() {
    let name = "users); DROP TABLE users; --";
    let bench = Bench::new(&format!(
        "CREATE TABLE \"{name}\" (\"a\"\"b\" INT UNIQUE, doubled AS (\"a\"\"b\" * 2) STORED);
         CREATE TABLE users (id INTEGER PRIMARY KEY, boss INT NOT NULL DEFAULT 7
             REFERENCES users (id) ON DELETE CASCADE);
         CREATE VIEW broken AS SELECT * FROM absent;
         CREATE VIRTUAL TABLE words USING fts5(word);"
    ));
    let description = bench.reader().describe().await.unwrap();
    let tables: Vec<_> = description.tables.iter().map(|table| (table.name.as_str(), table.kind.as_str())).collect();
    assert_eq!(tables, [("broken", "view"), ("users", "table"), (name, "table"), ("words", "virtual")]);
    let users = serde_json::to_value(&description.tables[1]).unwrap();
    assert_eq!(
        users["foreign_keys"],
        json!([{"columns": ["boss"], "table": "users", "references": ["id"], "on_delete": "CASCADE"}])
    );
    assert_eq!(users["columns"][1]["default"], json!("7"));
    let odd = serde_json::to_value(&description.tables[2]).unwrap();
    assert_eq!(odd["unique"], json!([["a\"b"]]));
    assert_eq!(odd["columns"][1]["generated"], json!(true));
}

#[tokio::test]
async fn a_description_is_capped() {
    let tables: Vec<_> = (0..300).map(|n| format!("CREATE TABLE t{n} (a);")).collect();
    let description = Bench::new(&tables.concat()).reader().describe().await.unwrap();
    assert_eq!((description.tables.len(), description.truncated), (200, true));
}
