//! The real server.

use std::{fs, path::PathBuf};

use candor::{
    hints::{Hint, HintName},
    verify::Reply,
    wire::{Limits, Target},
};

use super::*;
use crate::{confirm::Demo, support::candor};

/// Deleted only when the user agrees: its commits are on no other branch.
const UNMERGED: &str = "feature/search";

pub(super) fn binary() -> String {
    env!("CARGO_BIN_EXE_candor").to_owned()
}

/// `candor serve` for a demo workspace, with everything allowed.
pub(super) struct Served {
    pub(super) demo: Demo,
    options: Vec<String>,
}

impl Served {
    pub(super) fn new() -> Self {
        let demo = Demo::new();
        let path = |name: &str| demo.path(name).to_str().unwrap().to_owned();
        let options = ["--repo", &path("repo"), "--database", &path("shop.db"), "--notes", &path("notes")];
        Self { options: options.map(str::to_owned).to_vec(), demo }
    }

    pub(super) fn stdio(&self) -> Target {
        let command = [&["serve".to_owned(), "--grant".into(), "all".into()], &self.options[..]].concat();
        Target::Stdio { command: [vec![binary()], command].concat(), env: Vec::new(), dir: None }
    }

    pub(super) fn http(&self) -> Target {
        let entry = candor().args(["token", "new", "verifier", "all"]).output().unwrap();
        let entry = String::from_utf8(entry.stdout).unwrap();
        let token = &entry[entry.find("candor_").unwrap()..][..71];
        let file: PathBuf = self.demo.path("tokens.toml");
        fs::write(&file, &entry).unwrap();
        let options = ["--http", "127.0.0.1:0", "--tokens", file.to_str().unwrap()].map(str::to_owned);
        let command = [vec![binary(), "serve".to_owned()], options.to_vec(), self.options.clone()].concat();
        let headers = vec![("authorization".to_owned(), format!("Bearer {token}"))];
        Target::Serving { command, env: Vec::new(), dir: None, headers, socket: None }
    }

    fn targets(&self) -> [Target; 2] {
        [self.stdio(), self.http()]
    }
}

#[tokio::test]
async fn every_tool_is_listed_and_called_in_both_eras_over_both_transports() {
    for era in Era::ALL {
        let served = Served::new();
        for target in served.targets() {
            let mut connection = Connection::open(&target, era, &Limits::default()).await.unwrap();
            assert_eq!(connection.server().name, "candor");
            let tools = connection.list().await.unwrap();
            let names: BTreeSet<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            assert!(names.contains("list_branches") && names.contains("execute"), "{names:?}");
            let list = tools.iter().find(|tool| tool.name == "list_branches").unwrap();
            assert_eq!(*list.hint(HintName::ReadOnly), Hint::Is(true));

            let (called, asked) = call(&mut connection, "list_branches", json!({}), Answer::Accept).await.unwrap();
            assert_eq!((called.reply, asked), (Reply::Success, 0));
            assert!(called.result["structuredContent"]["branches"].is_array(), "{}", called.result);

            let (called, _) =
                call(&mut connection, "read_note", json!({"name": "none.md"}), Answer::Accept).await.unwrap();
            assert!(matches!(&called.reply, Reply::Refused { text } if text.contains("none.md")), "{called:?}");
            let (called, _) = call(&mut connection, "no_such_tool", json!({}), Answer::Accept).await.unwrap();
            assert!(matches!(called.reply, Reply::Error { code: -32602, .. }), "{called:?}");
            connection.close().await;
        }
    }
}

#[tokio::test]
async fn a_question_is_answered_as_the_case_says_and_is_part_of_one_call() {
    for era in Era::ALL {
        let served = Served::new();
        for target in served.targets() {
            let before = served.demo.refs();
            let mut connection = Connection::open(&target, era, &Limits::default()).await.unwrap();
            for (answer, word) in [(Answer::Decline, "declined"), (Answer::Cancel, "cancelled")] {
                let (called, asked) =
                    call(&mut connection, "delete_branch", json!({"branch": UNMERGED}), answer).await.unwrap();
                assert!(matches!(&called.reply, Reply::Refused { text } if text.contains(word)), "{called:?}");
                assert_eq!((asked, called.questions.len()), (1, 1));
                assert!(called.questions[0].message.contains(UNMERGED), "{called:?}");
                assert_eq!(served.demo.refs(), before);
            }
            let mut while_open = None;
            let arguments = json!({"branch": UNMERGED});
            let asked = |_: &Question| {
                while_open = Some(served.demo.refs());
                std::future::ready(())
            };
            let called = connection.call("delete_branch", arguments.as_object().unwrap(), Answer::Accept, asked).await;
            let called = called.unwrap();
            assert_eq!(called.reply, Reply::Success, "{era:?} {called:?}");
            assert_eq!(while_open.unwrap(), before, "nothing happens while the question is open");
            assert!(!served.demo.refs().contains(UNMERGED));
            connection.close().await;
            let commit = before.lines().find_map(|line| line.strip_prefix(UNMERGED)).unwrap().trim();
            crate::support::git(&served.demo.path("origin.git"), &["branch", UNMERGED, commit]);
        }
    }
}

#[tokio::test]
async fn two_calls_at_once_both_get_their_answers() {
    for era in Era::ALL {
        let served = Served::new();
        for target in served.targets() {
            let mut connection = Connection::open(&target, era, &Limits::default()).await.unwrap();
            let arguments = json!({"name": "welcome.md", "text": "again\n"}).as_object().unwrap().clone();
            let both = connection.call_concurrently("append_note", &arguments, Answer::Accept).await.unwrap();
            assert!(both.iter().all(|called| called.reply == Reply::Success), "{both:?}");
            let note = fs::read_to_string(served.demo.path("notes/welcome.md")).unwrap();
            assert!(note.ends_with("again\nagain\n"), "{note}");
            fs::write(served.demo.path("notes/welcome.md"), "").unwrap();
            let arguments = json!({"branch": UNMERGED}).as_object().unwrap().clone();
            let both = connection.call_concurrently("delete_branch", &arguments, Answer::Decline).await.unwrap();
            assert!(both.iter().all(|called| matches!(called.reply, Reply::Refused { .. })), "{both:?}");
            assert!(both.iter().all(|called| !called.questions.is_empty()), "{both:?}");
            connection.close().await;
        }
    }
}

#[tokio::test]
async fn a_closed_server_ends_by_itself_and_its_words_are_kept() {
    for era in Era::ALL {
        let served = Served::new();
        let connection = Connection::open(&served.stdio(), era, &Limits::default()).await.unwrap();
        let closed = connection.close().await;
        assert!(closed.status.unwrap().success(), "{closed:?}");
        let connection = Connection::open(&served.http(), era, &Limits::default()).await.unwrap();
        let closed = connection.close().await;
        assert!(closed.status.unwrap().success(), "{closed:?}");
        assert!(closed.stderr.contains("listening on http://127.0.0.1:"), "{closed:?}");
    }
}

#[tokio::test]
async fn an_era_that_the_server_refuses_is_named() {
    let served = Served::new();
    let Target::Stdio { mut command, .. } = served.stdio() else { unreachable!() };
    command.push("--modern-only".into());
    let target = Target::Stdio { command, env: Vec::new(), dir: None };
    let error = Connection::open(&target, Era::Legacy, &Limits::default()).await.unwrap_err();
    assert!(matches!(error, WireError::Era { era: Era::Legacy, .. }), "{error}");
    assert!(error.to_string().contains("2025-11-25"), "{error}");
}
