use candor_tools::repo::{BranchName, CommitId, Start};

use super::world::{World, assert_refused};

#[test]
fn a_name_that_another_program_could_read_differently_is_invalid() {
    let long = "a".repeat(201);
    let deep = "a/".repeat(3000) + "a";
    let names = [
        "-x",
        "-D",
        "--output=x",
        "HEAD",
        "head",
        "a..b",
        "../../HEAD",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "a?b",
        "a*b",
        "a[b",
        "a\\b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a.",
        "a./b",
        "a/",
        "@{-1}",
        "a@{b",
        "main^{commit}",
        "a\nb",
        "a\u{7f}",
        "\u{1b}[31m",
        "",
        "/a",
        "a//b",
        "@",
        "+main",
        "refs/heads/main",
        "Refs/heads/main",
        "heads/zz",
        "tags/v1",
        "remotes/origin/x",
        "FETCH_HEAD",
        "Orig_Head",
        "deadbeef",
        "0123456789abcdef0123456789abcdef01234567",
        "0123456789ABCDEF0123456789ABCDEF01234567",
        "{a}",
        "$(id)",
        ";id",
        "`id`",
        "%2e%2e/x",
        "con",
        "CON.txt",
        "a/nul",
        "lpt1",
        "com9.x",
        "é",
        "e\u{301}",
        "a\u{202e}b",
        "a\u{200b}b",
        "a\u{a0}b",
        "a\0b",
        " a",
        "a ",
        &long,
        &deep,
        "ext::sh -c x",
        "file:///x",
        "a,b",
        "#a",
        "!a",
    ];
    for name in names {
        let error = BranchName::try_from(name.to_owned()).expect_err(name);
        assert!(error.starts_with("invalid branch name `"), "{error}");
        assert!(error.len() < 400, "{error}");
        assert!(error.chars().all(|c| !c.is_control()), "{error}");
        // The same on the way in from a client.
        serde_json::from_value::<BranchName>(name.into()).expect_err(name);
    }
    let longest = "a".repeat(200);
    for name in [
        "a",
        "main",
        "release/1.0",
        "fix/a_b-c.d",
        "1",
        "v2",
        "2024-10",
        "header",
        "a/b/c",
        "console",
        "headsup",
        &longest,
    ] {
        assert_eq!(BranchName::try_from(name.to_owned()).unwrap().as_str(), name);
    }
}

#[test]
fn a_start_is_a_branch_or_a_whole_commit_id_and_no_expression() {
    for start in [
        "--x",
        "HEAD",
        "HEAD~1",
        "main~1",
        "main^{commit}",
        "@",
        "@{-1}",
        ":/first",
        "main:a",
        "deadbeef",
        "v1^0",
        "refs/tags/v1",
        "",
    ] {
        let error = Start::try_from(start.to_owned()).expect_err(start);
        assert!(error.starts_with("invalid start `"), "{error}");
    }
    for commit in [
        "",
        "abc",
        "0123456789abcdef0123456789abcdef0123456",
        "0000000000000000000000000000000000000000",
        "0123456789abcdef0123456789abcdef012345678",
        "main",
        "0123456789abcdef0123456789abcdef0123456é",
    ] {
        CommitId::try_from(commit.to_owned()).expect_err(commit);
    }
    assert!(matches!(Start::try_from("0123456789ABCDEF0123456789abcdef01234567".to_owned()), Ok(Start::Commit(_))));
    assert!(matches!(Start::try_from("release/1".to_owned()), Ok(Start::Branch(_))));
}

#[test]
fn the_schemas_tell_which_names_are_taken() {
    let (_, tools) = candor_tools::inventory();
    let pattern = |tool: &str, argument: &str| {
        let tool = tools.iter().find(|listed| listed.name == tool).unwrap();
        let schema = serde_json::Value::Object((*tool.input_schema).clone());
        schema.pointer(&format!("/properties/{argument}/pattern")).unwrap().as_str().unwrap().to_owned()
    };
    for (tool, argument) in [("create_branch", "branch"), ("create_branch", "from"), ("delete_branch", "branch")] {
        assert_eq!(pattern(tool, argument), "^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$");
    }
    assert_eq!(pattern("delete_branch", "expected_head"), "^[0-9a-fA-F]{40}$");
}

#[tokio::test]
async fn odd_names_that_git_made_are_listed_escaped() {
    let world = World::new();
    let main = world.head("main");
    for name in ["é", "e\u{301}x", "a\u{202e}b", "a\u{200b}b", "-x", "FETCH_HEAD", "n\u{a0}b"] {
        world.set(name, &main);
    }
    let names = world.open().names().await;
    for name in ["é", "e\u{301}x", "a\\u{202e}b", "a\\u{200b}b", "-x", "FETCH_HEAD", "n\\u{a0}b"] {
        assert!(names.iter().any(|listed| listed == name), "{name} is not in {names:?}");
    }
}

#[tokio::test]
async fn a_name_that_clashes_with_a_branch_is_refused_and_nothing_changes() {
    let world = World::new();
    world.set("dd/x", &world.head("main"));
    world.set("packed/y", &world.head("main"));
    world.at_origin(&["pack-refs", "--all"]);
    world.set("loose/z", &world.head("main"));
    let before = world.refs();
    let tools = world.open();
    for name in ["MAIN", "main/x", "Main/x/y", "dd", "DD", "dd/X", "dd/x/deep", "Dd/x/y", "packed", "loose", "LOOSE/Z"]
    {
        assert_refused(tools.create(name, None).await, "conflicts with existing branch");
    }
    for name in ["main", "dd/x", "loose/z"] {
        assert_refused(tools.create(name, None).await, "already exists");
    }
    assert_eq!(world.refs(), before);
    // Names that only begin alike are no clash.
    for name in ["mainx", "dd2", "dd/xy"] {
        tools.create(name, None).await.unwrap();
    }
}
