//! Synthesised cases on our own server.

use candor::verify::{
    Reply,
    case::Places,
    synthesis::{Inventory, order, synthesise},
};
use serde_json::Value;

use super::assert_fit;
use crate::{
    case_files::{declared, ending, listen, serve},
    support::User,
};

#[test]
fn every_tool_of_ours_succeeds_with_arguments_that_nobody_wrote() {
    let tools = declared();
    let listener = listen();
    let mut known = Vec::new();
    let mut dumb = Vec::new();
    for at in order(&tools) {
        let tool = &tools[at];
        let dir = tempfile::tempdir().unwrap();
        let world = dir.path().join("world");
        let mut server = serve(&world, &listener, User::Accepts);
        let found = Inventory::of(&world).unwrap();
        let cases = synthesise(tool, &found, &known).unwrap_or_else(|why| panic!("{}: {why}", tool.name));
        assert_fit(&cases, &tool.input_schema);
        let places = Places { world: world.to_str().unwrap(), listener: &listener };
        let mut succeeded = 0;
        for case in &cases {
            let reply = server.call(&tool.name, Value::Object(case.arguments_at(&places)));
            if ending(&reply.0) == Reply::Success {
                succeeded += 1;
                known.push(reply.0["result"].clone());
            }
        }
        if succeeded == 0 {
            dumb.push(format!("{}: {cases:#?}", tool.name));
        }
    }
    assert!(dumb.is_empty(), "{dumb:#?}");
}
