//! A call that would lose something asks the user at that moment, in either era, and nothing that
//! a client sends stands in for the answer.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ERAS, Era, Reply, Server, User, candor, git};

/// Holds commits that no other branch of the demo's remote reaches.
const UNMERGED: &str = "feature/search";
/// Is merged into `main`.
const MERGED: &str = "fix/typo";

/// A demo workspace of the test's own.
pub(crate) struct Demo {
    dir: TempDir,
}

impl Demo {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let status = candor().arg("demo").arg(dir.path()).output().unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The branches of the remote, with their commits.
    pub(crate) fn refs(&self) -> String {
        git(&self.path("origin.git"), &["for-each-ref", "--format=%(refname:short) %(objectname)"])
    }

    pub(crate) fn serve(&self, era: Era, user: User, more: &[&str]) -> Server {
        let (repo, database) = (self.path("repo"), self.path("shop.db"));
        let mut options =
            vec!["--grant", "all", "--repo", repo.to_str().unwrap(), "--database", database.to_str().unwrap()];
        options.extend_from_slice(more);
        Server::start_in(era, user, &options)
    }
}

fn delete(branch: &str) -> Value {
    json!({"branch": branch})
}

#[test]
fn an_accepted_deletion_deletes_and_everything_else_changes_nothing() {
    for era in ERAS {
        let mut told = Vec::new();
        for user in [User::Declines, User::Cancels, User::SaysNo] {
            let demo = Demo::new();
            let before = demo.refs();
            let mut server = demo.serve(era, user, &[]);
            let reply = server.call("delete_branch", delete(UNMERGED));
            let text = reply.refusal();
            assert!(text.contains("nothing was changed"), "{era:?} {user:?}: {text}");
            told.push(text.to_owned());
            assert_eq!(demo.refs(), before, "{era:?} {user:?}");
            assert_eq!(server.questions.len(), 1);
            assert!(server.questions[0].contains(UNMERGED), "{:?}", server.questions);
        }
        told.dedup();
        assert_eq!(told.len(), 3, "each outcome is told apart: {told:?}");

        let demo = Demo::new();
        assert!(demo.refs().contains(UNMERGED));
        let mut server = demo.serve(era, User::Accepts, &[]);
        let reply = server.call("delete_branch", delete(UNMERGED));
        assert_eq!(reply.output()["outcome"], "deleted");
        assert!(!demo.refs().contains(UNMERGED));
        let reply = server.call("delete_branch", delete(UNMERGED));
        assert_eq!(reply.output()["outcome"], "absent");
        assert_eq!(server.questions.len(), 1);
    }
}

#[test]
fn a_client_that_cannot_ask_is_refused() {
    let demo = Demo::new();
    let before = demo.refs();
    let reply = demo.serve(Era::Modern, User::CannotBeAsked, &[]).call("delete_branch", delete(UNMERGED));
    assert_eq!(reply.code(), -32021);
    assert!(reply.0["error"]["data"]["requiredCapabilities"]["elicitation"].is_object(), "{reply:?}");
    let reply = demo.serve(Era::Legacy, User::CannotBeAsked, &[]).call("delete_branch", delete(UNMERGED));
    assert!(reply.refusal().starts_with("confirmation unavailable"), "{reply:?}");
    assert_eq!(demo.refs(), before);
}

#[test]
fn a_merged_branch_goes_without_a_question() {
    for era in ERAS {
        let demo = Demo::new();
        let mut server = demo.serve(era, User::CannotBeAsked, &[]);
        assert_eq!(server.call("delete_branch", delete(MERGED)).output()["outcome"], "deleted");
        assert!(!demo.refs().contains(MERGED));
    }
}

/// One call with whatever a client may put beside its arguments.
fn raw(server: &mut Server, tool: &str, arguments: &Value, state: Option<&Value>, answers: Option<Value>) -> Reply {
    let mut params = json!({"name": tool, "arguments": arguments});
    if let Some(state) = state {
        params["requestState"] = state.clone();
    }
    if let Some(answers) = answers {
        params["inputResponses"] = answers;
    }
    Reply(server.request("tools/call", params))
}

fn state_of(reply: &Reply) -> Value {
    assert_eq!(reply.0["result"]["resultType"], "input_required", "{reply:?}");
    reply.0["result"]["requestState"].clone()
}

fn accepted() -> Value {
    json!({"confirm": User::Accepts.answer()})
}

#[test]
fn no_forged_stale_or_misplaced_answer_counts() {
    let demo = Demo::new();
    let before = demo.refs();
    let mut server = demo.serve(Era::Modern, User::Accepts, &[]);
    let mut other = demo.serve(Era::Modern, User::Accepts, &[]);
    let foreign = state_of(&raw(&mut other, "delete_branch", &delete(UNMERGED), None, None));
    let mut texts = std::collections::BTreeSet::new();
    let mut refused = |reply: Reply| {
        texts.insert(reply.refusal().to_owned());
    };

    refused(raw(&mut server, "delete_branch", &delete(UNMERGED), None, Some(accepted())));
    for forged in [json!(""), json!("x"), json!("0".repeat(64)), foreign] {
        refused(raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&forged), Some(accepted())));
    }
    // for other arguments, and for another tool
    let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
    refused(raw(&mut server, "delete_branch", &delete("experiment/cache"), Some(&state), Some(accepted())));
    let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
    refused(raw(&mut server, "create_branch", &delete(UNMERGED), Some(&state), Some(accepted())));
    // used twice: the first answer spends it, whatever it says
    let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
    let declined = json!({"confirm": User::Declines.answer()});
    assert!(
        raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(declined))
            .refusal()
            .contains("declined")
    );
    refused(raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(accepted())));

    assert_eq!(texts.len(), 1, "one text tells nothing apart: {texts:?}");
    assert_eq!(demo.refs(), before);
}

#[test]
fn only_a_whole_and_well_formed_yes_counts() {
    let demo = Demo::new();
    let before = demo.refs();
    let mut server = demo.serve(Era::Modern, User::Accepts, &[]);
    for answer in [
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": null}),
        json!({"action": "accept", "content": {"confirm": "true"}}),
        json!({"action": "accept", "content": {"confirm": 1}}),
        json!({"action": "accept", "content": {"confirm": null}}),
        json!({"action": "accept", "content": {"confirm": true, "more": true}}),
        json!({"action": "accept", "content": [true]}),
        json!({"action": "ACCEPT", "content": {"confirm": true}}),
        json!({"action": "yes"}),
        json!({"content": {"confirm": true}}),
        json!(true),
        json!("accept"),
        Value::Null,
    ] {
        let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
        let reply =
            raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(json!({"confirm": answer})));
        assert!(reply.refusal().contains("nothing was changed"), "{answer}: {reply:?}");
        assert_eq!(demo.refs(), before, "{answer}");
    }
    // an answer to another question is none: it is asked again
    let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
    let other = json!({"other": User::Accepts.answer()});
    state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(other)));
    state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), None));
    assert_eq!(demo.refs(), before);
}

#[test]
fn a_legacy_client_cannot_bring_its_own_answer() {
    let demo = Demo::new();
    let before = demo.refs();
    let mut server = demo.serve(Era::Legacy, User::Declines, &[]);
    let reply = raw(&mut server, "delete_branch", &delete(UNMERGED), None, Some(accepted()));
    reply.refusal();
    let reply = raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&json!("0".repeat(64))), Some(accepted()));
    reply.refusal();
    assert_eq!(demo.refs(), before);
}

#[test]
fn a_question_that_stays_open_too_long_is_void() {
    let demo = Demo::new();
    let before = demo.refs();
    let mut server = demo.serve(Era::Modern, User::Accepts, &["--question-seconds", "0.2"]);
    let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
    std::thread::sleep(std::time::Duration::from_millis(300));
    let reply = raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(accepted()));
    assert!(reply.refusal().contains("not valid"), "{reply:?}");

    // A legacy client that never answers.
    let mut server = demo.serve(Era::Legacy, User::Accepts, &["--question-seconds", "0.2"]);
    let id = server.begin("tools/call", json!({"name": "delete_branch", "arguments": delete(UNMERGED)}));
    let reply = loop {
        let message = server.next().unwrap();
        if message["id"] == id && message["method"].is_null() {
            break Reply(message);
        }
    };
    assert!(reply.refusal().contains("no answer"), "{reply:?}");
    assert_eq!(demo.refs(), before);
}

#[test]
fn a_table_full_of_questions_drops_the_oldest() {
    let demo = Demo::new();
    let mut server = demo.serve(Era::Modern, User::Accepts, &["--open-questions", "2"]);
    let ask = |server: &mut Server| state_of(&raw(server, "delete_branch", &delete(UNMERGED), None, None));
    let states = [ask(&mut server), ask(&mut server), ask(&mut server)];
    let reply = raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&states[0]), Some(accepted()));
    assert!(reply.refusal().contains("not valid"));
    let reply = raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&states[2]), Some(accepted()));
    assert_eq!(reply.output()["outcome"], "deleted");
}

/// Give the branch of the remote one more commit.
fn advance(demo: &Demo) -> String {
    let origin = demo.path("origin.git");
    let reference = format!("refs/heads/{UNMERGED}");
    let tree = git(&origin, &["rev-parse", &format!("{reference}^{{tree}}")]);
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
    let commit = ["commit-tree", tree.trim(), "-p", &reference, "-m", "More"];
    let commit = git(&origin, &[&identity[..], &commit[..]].concat());
    git(&origin, &["update-ref", &reference, commit.trim()]);
    commit.trim().to_owned()
}

#[test]
fn a_branch_that_moves_while_the_user_decides_is_asked_about_anew() {
    let demo = Demo::new();
    let mut server = demo.serve(Era::Modern, User::Accepts, &[]);
    let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
    let moved = advance(&demo);
    let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(accepted())));
    assert!(demo.refs().contains(&moved));
    let reply = raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(accepted()));
    assert_eq!(reply.output()["outcome"], "deleted");
    assert_eq!(reply.output()["head"], moved);
}

#[test]
fn the_user_is_asked_three_times_at_most() {
    let demo = Demo::new();
    let mut server = demo.serve(Era::Modern, User::Accepts, &[]);
    let mut state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
    for _ in 0..2 {
        advance(&demo);
        state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(accepted())));
    }
    let last = advance(&demo);
    let reply = raw(&mut server, "delete_branch", &delete(UNMERGED), Some(&state), Some(accepted()));
    assert!(reply.refusal().contains("kept changing"), "{reply:?}");
    assert!(demo.refs().contains(&last));
}

#[test]
fn eight_answers_to_one_question_delete_once() {
    let demo = Demo::new();
    let mut server = demo.serve(Era::Modern, User::Accepts, &[]);
    let state = state_of(&raw(&mut server, "delete_branch", &delete(UNMERGED), None, None));
    for _ in 0..8 {
        let params = json!({"name": "delete_branch", "arguments": delete(UNMERGED), "requestState": state, "inputResponses": accepted()});
        server.begin("tools/call", params);
    }
    let replies: Vec<_> = (0..8).map(|_| server.next().unwrap()).collect();
    let worked = replies.iter().filter(|reply| reply["result"]["isError"] == false).count();
    assert_eq!(worked, 1, "{replies:?}");
}

#[test]
fn execute_shows_how_many_rows_change_and_counts_them_again() {
    for era in ERAS {
        let demo = Demo::new();
        let count = |server: &mut Server| {
            server.call("query", json!({"sql": "SELECT count(*) FROM order_lines"})).output()["rows"][0][0]
                .as_i64()
                .unwrap()
        };
        let statement = json!({"sql": "DELETE FROM order_lines"});
        let mut server = demo.serve(era, User::Declines, &[]);
        let rows = count(&mut server);
        assert!(rows > 0);
        server.call("execute", statement.clone()).refusal();
        assert!(server.questions[0].contains(&rows.to_string()), "{:?}", server.questions);
        assert_eq!(count(&mut server), rows);
        let mut server = demo.serve(era, User::Accepts, &[]);
        server.call("execute", statement).output();
        assert_eq!(count(&mut server), 0);
    }
}

#[test]
fn a_call_that_is_cancelled_while_the_user_decides_changes_nothing() {
    let demo = Demo::new();
    let before = demo.refs();
    let mut server = demo.serve(Era::Legacy, User::Accepts, &[]);
    let id = server.begin("tools/call", json!({"name": "delete_branch", "arguments": delete(UNMERGED)}));
    let question = loop {
        let message = server.next().unwrap();
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    server.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": User::Accepts.answer()}));
    server.call("list_branches", json!({})).output();
    assert_eq!(demo.refs(), before);
}
