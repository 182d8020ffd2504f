//! Every hint of every tool is what the tool does, as far as a look at the whole workspace before
//! and after its calls can tell.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
};

use rusqlite::{Connection, OpenFlags, types::Value as Cell};
use serde_json::{Value, json};

use crate::{
    confirm::Demo,
    support::{Era, Server, User, candor, git},
};

/// Calls of a tool, each made twice in a workspace of its own. Together they show whatever the
/// tool can do. `url` is that of a web server that is listened at: none but `fetch_url` may take a
/// text for an address to go to.
fn calls(tool: &str, url: &str) -> Vec<Value> {
    let note = |name: &str, text: &str| json!({"name": name, "text": text});
    let sql = |text: &str| json!({"sql": text});
    match tool {
        "list_branches" => vec![json!({}), json!({"limit": 1}), json!({"limit": 0}), json!({"cursor": url})],
        "create_branch" => vec![
            json!({"branch": "topic/new"}),
            json!({"branch": "topic/new", "from": "feature/search"}),
            json!({"branch": "main", "from": "feature/search"}), // is taken
            json!({"branch": "fix"}),                            // is the folder of others
            json!({"branch": "topic/new", "from": url}),
        ],
        "delete_branch" => ["fix/typo", "feature/search", "main", "release/1.0", "no-such-branch"]
            .map(|branch| json!({"branch": branch}))
            .into(),
        "list_notes" => vec![json!({}), json!({"cursor": url})],
        "read_note" => ["welcome.md", "no-such-note.md", "../shop.db"].map(|name| json!({"name": name})).into(),
        "create_note" => vec![note("new.md", url), note("welcome.md", "other"), note("WELCOME.md", "other")],
        "append_note" => vec![note("welcome.md", url), note("no-such-note.md", "more")],
        "write_note" => vec![note("welcome.md", url), note("new.md", "text"), note("WELCOME.md", "other")],
        "describe_database" => vec![json!({})],
        "query" => [
            &format!("SELECT *, '{url}' FROM customers"),
            "SELECT count(*) FROM orders",
            "DELETE FROM order_lines",
            "DELETE FROM order_lines RETURNING *",
            "INSERT INTO orders (customer_id, ordered_on) VALUES (1, 'x') RETURNING id",
            "WITH x AS (SELECT 1) UPDATE customers SET city = 'x'",
            "DROP TABLE order_lines",
            "CREATE TABLE t (x)",
            "CREATE TEMP TABLE t AS SELECT 1",
            "PRAGMA user_version = 7",
            "PRAGMA journal_mode = WAL",
            "VACUUM",
            "VACUUM INTO 'copy.db'",
            "ATTACH 'other.db' AS other",
            "SELECT * FROM pragma_optimize",
        ]
        .map(sql)
        .into(),
        "insert_rows" => vec![
            json!({"table": "orders", "rows": [{"customer_id": 1, "ordered_on": "2026-03-01", "remark": url}]}),
            json!({"table": "orders", "rows": [{"id": 1, "customer_id": 2, "ordered_on": "2026-03-01"}]}), // is taken
            json!({"table": "sqlite_schema", "rows": [{"name": "x"}]}),
        ],
        "execute" => [
            "UPDATE customers SET name = name || '!'",
            "DELETE FROM order_lines",
            "DROP TABLE order_lines",
            &format!("INSERT INTO orders (customer_id, ordered_on, remark) VALUES (1, '2026-03-01', '{url}')"),
            "SELECT 1",
            "VACUUM INTO 'copy.db'",
        ]
        .map(sql)
        .into(),
        "fetch_report" => ["label-incident", "no-such-report"].map(|report| json!({"report": report})).into(),
        "post_comment" => {
            ["label-incident", "no-such-report"].map(|report| json!({"report": report, "text": url})).into()
        }
        "fetch_url" => [url, "http://127.0.0.1:9/", "file:///etc/passwd"].map(|url| json!({"url": url})).into(),
        tool => panic!("no calls of `{tool}`; add some that show whatever it can do"),
    }
}

/// A whole workspace at one moment.
#[derive(PartialEq)]
struct State {
    /// Each file and folder: its permissions and what it holds.
    files: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    /// What must still be true of it if nothing was lost: branches with their commits, rows,
    /// tables and settings.
    facts: BTreeSet<String>,
}

impl State {
    fn of(dir: &Path) -> Self {
        let mut state = Self { files: BTreeMap::new(), facts: BTreeSet::new() };
        // The databases first: a reader may leave nothing behind, which the files then show.
        for file in ["shop.db", "reports.db"] {
            state.read_database(&dir.join(file), file);
        }
        for repository in ["origin.git", "repo"] {
            let refs = git(&dir.join(repository), &["for-each-ref", "--format=%(refname) %(objectname)"]);
            state.facts.extend(refs.lines().map(|line| format!("{repository} {line}")));
        }
        state.read_folder(dir, Path::new(""));
        state
    }

    fn read_folder(&mut self, dir: &Path, inside: &Path) {
        for entry in fs::read_dir(dir.join(inside)).unwrap() {
            let path = inside.join(entry.unwrap().file_name());
            let metadata = fs::symlink_metadata(dir.join(&path)).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
            let bytes = if metadata.is_file() { fs::read(dir.join(&path)).unwrap() } else { Vec::new() };
            self.files.insert(path.clone(), (mode, bytes));
            if metadata.is_dir() {
                self.read_folder(dir, &path);
            }
        }
    }

    fn read_database(&mut self, path: &Path, name: &str) {
        let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let mut facts = |source: &str, sql: &str| {
            let mut statement = database.prepare(sql).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                let cells: Vec<Cell> = (0..columns).map(|at| row.get(at).unwrap()).collect();
                self.facts.insert(format!("{name} {source} {cells:?}"));
            }
        };
        facts("schema", "SELECT type, name, sql FROM sqlite_schema");
        facts("settings", "SELECT * FROM pragma_user_version, pragma_application_id");
        let tables: Vec<String> = database
            .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for table in tables.iter().filter(|table| !table.starts_with("sqlite_")) {
            facts(table, &format!("SELECT * FROM \"{table}\""));
        }
    }

    /// Whether anything that was there is gone or different. Text may follow a note's text.
    fn lost(&self, after: &Self) -> bool {
        let mut notes = self.files.iter().filter(|(path, _)| path.starts_with("notes"));
        let kept = notes.all(|(path, (mode, text))| {
            after.files.get(path).is_some_and(|(now, longer)| now == mode && longer.starts_with(text))
        });
        !kept || !self.facts.is_subset(&after.facts)
    }
}

/// Answers every request, and notes what was asked for. Returns its origin.
fn listen() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let note = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let count = stream.read(&mut head).unwrap_or(0);
            note.lock().unwrap().push(String::from_utf8_lossy(&head[..count]).into_owned());
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
            );
        }
    });
    (origin, asked)
}

/// What a tool was seen to do, over all its calls.
#[derive(Default)]
struct Seen {
    changed: bool,
    lost: bool,
    changed_again: bool,
}

/// Make each call twice in a workspace of its own.
fn watch(tool: &str, demo: &Demo, origin: &str) -> Seen {
    let (mut seen, mut worked) = (Seen::default(), false);
    for arguments in calls(tool, &format!("{origin}/{tool}")) {
        let copy = tempfile::tempdir().unwrap();
        let dir = copy.path().join("w");
        assert!(Command::new("cp").arg("-a").args([demo.path(""), dir.clone()]).status().unwrap().success());
        let mut serve = candor();
        serve.current_dir(&dir); // where a relative name in a statement would lead
        serve.args(["serve", "--grant", "all", "--fetch-allow", origin, "--protect", "release/*"]);
        serve.args(["--repo", "repo", "--notes", "notes", "--database", "shop.db", "--reports", "reports.db"]);
        let mut server = Server::spawn(&mut serve, Era::Modern, User::Accepts);
        assert_eq!(server.tool_names().len(), 15); // everything is open

        let before = State::of(&dir);
        let first = server.call(tool, arguments.clone());
        let once = State::of(&dir);
        server.call(tool, arguments.clone());
        let twice = State::of(&dir);
        assert_eq!(server.finish().0.code(), Some(0));
        assert!(State::of(&dir) == twice, "`{tool}` {arguments}: something changes when the server ends");
        worked |= first.0["result"]["isError"] == false;
        seen.changed |= once != before;
        seen.lost |= before.lost(&once) || once.lost(&twice);
        seen.changed_again |= twice != once;
    }
    assert!(worked, "no call of `{tool}` worked");
    seen
}

#[test]
fn every_hint_of_every_tool_is_what_the_tool_does() {
    let demo = Demo::new();
    let (origin, asked) = listen();
    let tools = Server::start(&["--grant", "all"]).tools();
    assert_eq!(tools.len(), 15);
    std::thread::scope(|scope| {
        for tool in &tools {
            scope.spawn(|| {
                let name = tool["name"].as_str().unwrap();
                let seen = watch(name, &demo, &origin);
                let request = format!("GET /{name} ");
                let contacted = asked.lock().unwrap().iter().any(|head| head.starts_with(&request));
                for (hint, is) in [
                    ("readOnlyHint", !seen.changed),
                    ("destructiveHint", seen.lost),
                    ("idempotentHint", !seen.changed_again),
                    ("openWorldHint", contacted),
                ] {
                    assert_eq!(tool["annotations"][hint], is, "`{hint}` of `{name}` says otherwise than what it did");
                }
            });
        }
    });
    let strangers = asked.lock().unwrap().iter().filter(|head| !head.starts_with("GET /fetch_url ")).count();
    assert_eq!(strangers, 0, "somebody else went to an address");
}
