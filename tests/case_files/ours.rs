//! The cases of our own tools, and what the real server says to them.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::{Path, PathBuf},
};

use candor::{
    hints::{DeclaredTool, read_list},
    serve::demo,
    verify::{
        CaseFile, Reply, builders,
        case::{self, Places},
    },
};
use candor_tools::inventory;
use serde_json::{Value, json};

use crate::support::{Server, User};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn files() -> Vec<(String, CaseFile)> {
    let mut paths: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let file = case::read(&path).unwrap_or_else(|error| panic!("{error}"));
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), file)
    };
    paths.into_iter().map(read).collect()
}

pub(crate) fn declared() -> Vec<DeclaredTool> {
    let list = json!({"tools": inventory().1}).to_string();
    read_list(list.as_bytes()).unwrap().0
}

#[test]
fn every_tool_has_a_case_file_and_every_case_file_a_tool() {
    let tools: BTreeSet<_> = declared().into_iter().map(|tool| tool.name).collect();
    let files = files();
    assert_eq!(files.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>(), tools);
    let worlds: Vec<String> = builders::builders().into_iter().map(|world| world.name).collect();
    let worlds: Vec<&str> = worlds.iter().map(String::as_str).collect();
    for (name, file) in &files {
        file.check(&declared(), &worlds).unwrap_or_else(|error| panic!("{error}"));
        assert!(file.cases.iter().all(|case| case.tool == *name), "{name}.toml has cases of another tool");
        assert!(file.cases.iter().any(|case| case.expect == case::Expect::Success), "{name}: none must succeed");
    }
}

#[test]
fn the_arguments_of_every_case_fit_the_schema_of_its_tool() {
    for (name, file) in files() {
        let tool = declared().into_iter().find(|tool| tool.name == name).unwrap();
        let schema = jsonschema::validator_for(&tool.input_schema).unwrap();
        for case in &file.cases {
            let places = Places { world: "/tmp/world", listener: "http://127.0.0.1:1" };
            let arguments = Value::Object(case.arguments_at(&places));
            if let Err(error) = schema.validate(&arguments) {
                panic!("{name}.toml, line {}, `{}`: {error}", case.line, case.name);
            }
        }
    }
}

/// Answers each request on a connection of its own, until the process ends.
pub(crate) fn listen() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut request).is_ok_and(|bytes| bytes > 2) {}
            let (status, more) = match request.split(' ').nth(1) {
                Some("/") => ("200 OK", "content-type: text/plain\r\ncontent-length: 5\r\n\r\nhello"),
                Some("/redirect") => ("302 Found", "location: /\r\ncontent-length: 0\r\n\r\n"),
                _ => ("404 Not Found", "content-length: 0\r\n\r\n"),
            };
            let _ = write!(stream, "HTTP/1.1 {status}\r\nconnection: close\r\n{more}");
        }
    });
    origin
}

/// Our server on a fresh demo workspace in this directory, with every scope.
pub(crate) fn serve(world: &Path, listener: &str, user: User) -> Server {
    let places = demo::lay_out(world).unwrap();
    let [repo, notes, database, reports] =
        [&places.repo, &places.notes, &places.database, &places.reports].map(|path| path.to_str().unwrap());
    let options = [
        "--repo",
        repo,
        "--protect",
        "release/*",
        "--notes",
        notes,
        "--database",
        database,
        "--reports",
        reports,
        "--grant",
        "all",
        "--fetch-allow",
        listener,
    ];
    let mut server = Server::start(&options);
    server.user = user;
    server
}

/// How a call ended.
pub(crate) fn ending(reply: &Value) -> Reply {
    match (&reply["error"], &reply["result"]["isError"]) {
        (Value::Null, Value::Bool(true)) => Reply::Refused { text: reply["result"]["content"].to_string() },
        (Value::Null, _) => Reply::Success,
        (error, _) => Reply::Error { code: error["code"].as_i64().unwrap(), message: error["message"].to_string() },
    }
}

/// In one world a file, which costs less than one a case; so no case may need what another removes.
#[test]
fn every_case_ends_as_its_file_says() {
    let listener = listen();
    for (name, file) in files() {
        let dir = tempfile::tempdir().unwrap();
        let world = dir.path().join("world");
        let mut server = serve(&world, &listener, User::Accepts);
        let places = Places { world: world.to_str().unwrap(), listener: &listener };
        for case in file.cases.iter().filter(|case| case.runs_in("demo")) {
            let reply = server.call(&name, Value::Object(case.arguments_at(&places)));
            let ending = ending(&reply.0);
            assert!(case.expect.is_met(&ending), "{name}.toml, line {}, `{}`: {ending:?}", case.line, case.name);
        }
    }
}
