use std::{fs, process::Command};

use super::*;

/// What a server says that does not start.
fn refused(options: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_candor")).arg("serve").args(options).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{options:?} started: {output:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_would_let_too_many_in_does_not_start() {
    let tokens = Tokens::new();
    tokens.issue("ann", "all");
    let file = tokens.path.to_str().unwrap();
    for (options, says) in [
        (&["--http", "0.0.0.0:0"][..], "--tokens"),
        (&["--http", "[::]:0"], "--tokens"),
        (&["--http", "0.0.0.0:0", "--allow-host", "x.example"], "--tokens"),
        (&["--http", "192.0.2.1:0", "--grant", "read"], "--tokens"),
        (&["--http", "0.0.0.0:0", "--tokens", file], "--allow-host"),
        (&["--http", "127.0.0.1:0", "--grant", "all"], "--tokens"),
        (&["--http", "127.0.0.1:0", "--grant", "repo:read,repo:write"], "--tokens"),
        (&["--http", "127.0.0.1:0", "--grant", "web:fetch"], "--tokens"),
        (&["--http", "127.0.0.1:0", "--tokens", file, "--grant", "read"], "exclude each other"),
        (&["--tokens", file], "--http"),
        (&["--allow-host", "x.example"], "--http"),
        (&["--http", "127.0.0.1"], "invalid"),
        (&["--http", "127.0.0.1:0", "--allow-host", "http://x.example"], "is not a host"),
        (&["--http", "127.0.0.1:0", "--allow-host", "a@x.example"], "is not a host"),
        (&["--http", "127.0.0.1:0", "--allow-host", ""], "host"),
        (&["--http", "127.0.0.1:0", "--allow-origin", "*"], "is not an origin"),
        (&["--http", "127.0.0.1:0", "--allow-origin", "null"], "is not an origin"),
        (&["--http", "127.0.0.1:0", "--allow-origin", "x.example"], "is not an origin"),
        (&["--http", "127.0.0.1:0", "--allow-origin", "https://x.example/page"], "is not an origin"),
        (&["--http", "127.0.0.1:0", "--connections", "0"], "above 0"),
        (&["--http", "127.0.0.1:0", "--body-seconds", "0"], "above 0"),
    ] {
        let told = refused(options);
        assert!(told.contains(says), "{options:?}: {told}");
    }
}

#[test]
fn a_tokens_file_that_says_nothing_sure_does_not_start() {
    let tokens = Tokens::new();
    let file = tokens.path.to_str().unwrap();
    let http = ["--http", "127.0.0.1:0", "--tokens", file];
    assert!(refused(&http).contains("tokens file"));
    let good = Tokens::entry(&["ann", "read"]);
    for (text, says) in [
        (String::new(), "holds no"),
        (good.replace("ann", "a nn"), "no name"),
        (good.replace("repo:read", "repo:reed"), "unknown scope `repo:reed`"),
        (good.replace("sha256 = \"", "sha256 = \"0"), "64 hexadecimal digits"),
        (good.clone() + "expires = \"soon\"\n", "neither a date"),
        (good.clone() + "expires = 7\n", "write a date"),
        (good.clone() + "admin = true\n", "unknown field"),
        (good.repeat(2), "twice"),
        (good.clone() + "token = candor_secret\n", "line"),
    ] {
        fs::write(&tokens.path, &text).unwrap();
        let told = refused(&http);
        assert!(told.contains(says), "{text}: {told}");
        assert!(!told.contains("candor_"), "{told}");
    }
}

#[test]
fn a_taken_address_is_named() {
    let server = Server::start(&[]);
    let address = server.address.to_string();
    let told = refused(&["--http", &address]);
    assert!(told.contains(&format!("`{address}`")), "{told}");
}

#[test]
fn other_loopback_addresses_and_all_addresses_can_be_served() {
    let tokens = Tokens::new();
    let token = tokens.issue("ann", "read");
    let file = tokens.path.to_str().unwrap().to_owned();
    for own in ["127.0.0.2:0", "[::1]:0"] {
        let server = Server::start_at(own, &[]);
        assert_eq!(server.send(&Request::list()).status, 200, "{own}");
    }
    let mut server = Server::start_at("0.0.0.0:0", &["--tokens", &file, "--allow-host", "tools.example.com"]);
    server.address.set_ip([127, 0, 0, 1].into());
    let list = Request::list().token(&token);
    assert_eq!(server.send(&list).status, 200);
    assert_eq!(server.send(&list.clone().with("host", "tools.example.com")).status, 200);
    assert_eq!(server.send(&list.with("host", "0.0.0.0")).status, 403);
}

#[test]
fn the_line_on_standard_error_is_for_programs() {
    let server = Server::start(&[]);
    let line = format!("candor: listening on http://127.0.0.1:{}/mcp", server.port());
    assert!(server.log().lines().any(|said| said == line));
}
