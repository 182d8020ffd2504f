//! A server elsewhere.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use tempfile::TempDir;

use super::verify;
use crate::support::candor;

/// Our own server over HTTP, with its log of calls.
struct Elsewhere {
    child: Child,
    dir: TempDir,
    url: String,
}

impl Elsewhere {
    fn start(options: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let audit = dir.path().join("audit");
        let mut command = candor();
        command.args(["serve", "--http", "127.0.0.1:0", "--audit", audit.to_str().unwrap()]).args(options);
        let mut child = command.env("TMPDIR", dir.path()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.split_once("listening on ").map(|(_, url)| url.to_owned())).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, dir, url }
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.dir.path().join("audit")).unwrap_or_default()
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn token(dir: &TempDir) -> (String, String) {
    let made = candor().args(["token", "new", "tester", "all"]).output().unwrap();
    let made = String::from_utf8(made.stdout).unwrap();
    let file = dir.path().join("tokens.toml");
    fs::write(&file, &made).unwrap();
    let secret = made.lines().find_map(|line| line.strip_prefix("# candor_")).unwrap();
    (file.to_str().unwrap().to_owned(), format!("candor_{secret}"))
}

#[test]
fn only_its_words_are_judged_and_no_tool_is_called() {
    let dir = tempfile::tempdir().unwrap();
    let (file, secret) = token(&dir);
    let lie = "write_note.readOnlyHint=null";
    let server = Elsewhere::start(&["--tokens", &file, "--mislabel", lie]);
    let url = format!("{}?key=secret", server.url);
    let told = verify(&["--url", &url, "--header", &format!("Authorization: Bearer {secret}")]);
    assert_eq!(told.status, Some(1), "{told:?}");
    assert_eq!(told.outcome("write_note/readOnlyHint"), "malformed");
    assert_eq!(told.outcome("list_notes/readOnlyHint"), "untested");
    assert_eq!(told.report["uncalled"].as_array().unwrap().len(), 15);
    let asked = told.finding("server/authentication");
    assert!(asked.contains("status 401") && asked.contains("`Bearer"), "{asked}");
    assert!(told.output.contains("Rung `remote`; blind to whatever a call changes"), "{}", told.output);
    assert_eq!(server.calls(), "");
    let all = format!("{told:?} {}", told.report);
    assert!(["key=secret", &secret].iter().all(|word| !all.contains(word)), "{all}");
    assert_eq!(told.report["server"]["command"], server.url);
}

#[test]
fn without_what_it_asks_for_the_challenge_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (file, _) = token(&dir);
    let server = Elsewhere::start(&["--tokens", &file]);
    let told = verify(&["--url", &server.url]);
    assert_eq!(told.status, Some(2), "{told:?}");
    assert!(told.errors.contains("401") && told.errors.contains("challenge `Bearer"), "{}", told.errors);
}

#[test]
fn a_tool_is_called_that_a_case_names_and_its_hints_stay_untested() {
    let dir = tempfile::tempdir().unwrap();
    let case = dir.path().join("case.toml");
    fs::write(&case, "tool = \"list_notes\"\n[[case]]\nname = \"all\"\nexpect = \"refused\"\n").unwrap();
    let server = Elsewhere::start(&[]);
    let told = verify(&["--url", &server.url, "--case", case.to_str().unwrap()]);
    assert!(told.finding("server/authentication").contains("answers without authentication"), "{told:?}");
    assert_eq!(told.outcome("list_notes/readOnlyHint"), "untested");
    let note = told.verdict("list_notes/readOnlyHint")["note"].as_str().unwrap();
    assert!(note.contains("sees no changes"), "{note}");
    assert!(told.finding("list_notes/unexpected-reply/all").contains("and succeeded"), "{told:?}");
    let calls = server.calls();
    assert!(calls.contains("list_notes") && !calls.contains("read_note"), "{calls}");
}
