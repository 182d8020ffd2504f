//! The demo workspace, as git and the database judge it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use candor::serve::demo::{DemoWorkspace, lay_out};
use candor_tools::{
    database::{Database, DatabaseConfig, DatabaseReader},
    notes::{Notes, NotesConfig, NotesReader},
    repo::{Repo, RepoConfig, RepoReader},
    reports::{ReportName, Reports, ReportsAdder, ReportsConfig},
};
use rusqlite::Connection;
use tempfile::TempDir;

fn fresh() -> (TempDir, DemoWorkspace) {
    let dir = tempfile::tempdir().unwrap();
    let workspace = lay_out(&dir.path().join("demo")).unwrap();
    (dir, workspace)
}

/// What git says in a directory, without the configuration of whoever runs the test.
fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(dir)
        .args(args)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {stderr}");
    assert!(stderr.is_empty(), "git {args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn refs(dir: &Path, pattern: &str) -> Vec<String> {
    let list = git(dir, &["for-each-ref", "--format=%(refname:short)", pattern]);
    list.lines().map(str::to_owned).collect()
}

const BRANCHES: [&str; 7] =
    ["docs/readme", "experiment/cache", "feature/search", "fix/rounding", "fix/typo", "main", "release/1.0"];

#[test]
fn both_repositories_are_healthy_to_git() {
    let (_dir, workspace) = fresh();
    for repo in [&workspace.repo, &workspace.origin] {
        assert_eq!(git(repo, &["fsck", "--full", "--strict", "--no-dangling"]), "");
        assert_eq!(refs(repo, "refs/tags"), ["v1.0.0"]);
    }
    assert_eq!(refs(&workspace.origin, "refs/heads"), BRANCHES);
    assert_eq!(git(&workspace.origin, &["symbolic-ref", "HEAD"]), "refs/heads/main\n");
    assert_eq!(git(&workspace.origin, &["rev-parse", "--is-bare-repository"]), "true\n");
}

#[test]
fn the_clone_is_clean_and_up_to_date_with_its_origin() {
    let (_dir, workspace) = fresh();
    let repo = &workspace.repo;
    assert_eq!(git(repo, &["status", "--porcelain=v1", "--branch"]), "## docs/readme...origin/docs/readme\n");
    assert_eq!(refs(repo, "refs/heads"), ["docs/readme", "main"]);
    let remote: Vec<_> = BRANCHES.iter().map(|branch| format!("origin/{branch}")).collect();
    let followed = refs(repo, "refs/remotes");
    assert_eq!(
        followed.iter().filter(|name| *name != "origin" && *name != "origin/HEAD").collect::<Vec<_>>(),
        remote.iter().collect::<Vec<_>>()
    );
    let before = git(repo, &["for-each-ref"]);
    git(repo, &["fetch", "--quiet", "--prune"]);
    assert_eq!(git(repo, &["for-each-ref"]), before, "the remote-tracking refs were stale");
    git(repo, &["push", "--quiet", "origin", "HEAD:refs/heads/from-the-clone"]);
    assert!(refs(&workspace.origin, "refs/heads").contains(&"from-the-clone".to_owned()));
    assert_eq!(fs::read_to_string(repo.join("README.md")).unwrap(), git(repo, &["show", "HEAD:README.md"]));
}

#[test]
fn branches_are_merged_or_hold_commits_of_their_own() {
    let (_dir, workspace) = fresh();
    let own = |branch: &str| -> u32 {
        let range = format!("main..{branch}");
        git(&workspace.origin, &["rev-list", "--count", &range]).trim().parse().unwrap()
    };
    let counts = BRANCHES.map(own);
    assert_eq!(counts, [1, 2, 2, 0, 0, 0, 1]);
    let main = git(&workspace.origin, &["rev-list", "--count", "--first-parent", "main"]);
    assert_eq!(main.trim(), "11");
    let dates = git(&workspace.origin, &["log", "--all", "--format=%cI %an <%ae>"]);
    let mut seen = std::collections::HashSet::new();
    for line in dates.lines() {
        assert!(line.starts_with("2026-03-") && line.ends_with("@example.com>"), "{line}");
        assert!(seen.insert(line.split(' ').next()), "two commits of one moment: {line}");
    }
}

#[test]
fn a_copied_workspace_works_on_its_own_origin() {
    let (dir, workspace) = fresh();
    let copy = dir.path().join("copy");
    copy_tree(&dir.path().join("demo"), &copy);
    let copy = DemoWorkspace::at(&copy);
    git(&copy.repo, &["push", "--quiet", "origin", "--delete", "fix/typo"]);
    assert!(!refs(&copy.origin, "refs/heads").contains(&"fix/typo".to_owned()));
    assert!(refs(&workspace.origin, "refs/heads").contains(&"fix/typo".to_owned()));
}

#[test]
fn the_shop_is_sound_and_plausible() {
    let (_dir, workspace) = fresh();
    let shop = Connection::open(&workspace.database).unwrap();
    let one = |sql: &str| shop.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    for path in [&workspace.database, &workspace.reports] {
        let file = Connection::open(path).unwrap();
        let check: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
        let mut violations = file.prepare("PRAGMA foreign_key_check").unwrap();
        assert!(!violations.exists([]).unwrap());
    }
    assert_eq!(one("SELECT count(*) FROM customers"), 10);
    assert_eq!(one("SELECT count(*) FROM products"), 14);
    assert_eq!(one("SELECT count(*) FROM orders"), 36);
    assert_eq!(one("SELECT count(*) FROM order_lines"), 87);
    assert_eq!(one("SELECT count(*) FROM order_totals"), 36);
    assert_eq!(one("SELECT sum(total) - (SELECT sum(quantity * price) FROM order_lines) FROM order_totals"), 0);
    assert_eq!(
        one("SELECT count(*) FROM order_lines JOIN products ON products.id = product_id
        WHERE products.price <> order_lines.price"),
        0
    );
    assert_eq!(one("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"), 0);
    assert_eq!(one("SELECT count(*) FROM pragma_table_xinfo('order_lines') WHERE hidden <> 0"), 1);
}

#[tokio::test]
async fn every_part_is_there_for_the_tools() {
    let (_dir, workspace) = fresh();
    let repo = Repo::open(RepoConfig { dir: workspace.repo, ..RepoConfig::default() }).unwrap();
    let page = RepoReader::new(Arc::new(repo)).list(20, None).await.unwrap();
    assert_eq!(page.default_branch.as_deref(), Some("main"));
    let branches: Vec<_> = page.branches.iter().map(|branch| branch.name.as_str()).collect();
    let newest_first =
        ["main", "docs/readme", "feature/search", "release/1.0", "experiment/cache", "fix/rounding", "fix/typo"];
    assert_eq!(branches, newest_first);
    let shop = Database::open(DatabaseConfig { file: workspace.database, ..DatabaseConfig::default() }).unwrap();
    let described = DatabaseReader::new(Arc::new(shop)).describe().await.unwrap();
    let tables: Vec<_> = described.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(tables, ["customers", "order_lines", "order_totals", "orders", "products"]);
    let notes = Notes::open(NotesConfig { dir: workspace.notes, ..NotesConfig::default() }).unwrap();
    let listed = NotesReader::new(Arc::new(notes)).list(None).await.unwrap();
    let names: Vec<_> =
        listed.notes.iter().map(|note| (note.name.as_str(), note.modified.as_deref().unwrap())).collect();
    let expected = [
        ("ideas.md", "2026-03-05T08:30:00Z"),
        ("release-checklist.md", "2026-03-04T08:30:00Z"),
        ("standup.md", "2026-03-06T08:30:00Z"),
        ("welcome.md", "2026-03-03T08:30:00Z"),
    ];
    assert_eq!(names, expected);
    assert_eq!(listed.other_entries, 0);
    let config = ReportsConfig { file: workspace.reports, ..ReportsConfig::default() };
    let reports = ReportsAdder::new(Arc::new(Reports::open(config).unwrap()));
    for name in ["2026-03-sales", "2026-03-stock", "label-incident"] {
        let view = reports.view(ReportName(name.to_owned())).await.unwrap();
        assert_eq!((view.number, view.comment_count), (1, 0), "{name}");
        assert!(view.text.starts_with(&format!("# {}\n", view.title)), "{name}");
    }
}

#[test]
fn a_workspace_says_where_everything_is_and_how_to_serve_it() {
    let text = DemoWorkspace::at(Path::new("it's here")).to_string();
    let command = text.lines().last().unwrap();
    let words = Command::new("sh").args(["-c", &format!("printf '%s\\n' {command}")]).output().unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    let expected = [
        "candor",
        "serve",
        "--repo",
        "it's here/repo",
        "--protect",
        "release/*",
        "--notes",
        "it's here/notes",
        "--database",
        "it's here/shop.db",
        "--reports",
        "it's here/reports.db",
    ];
    assert_eq!(words.lines().collect::<Vec<_>>(), expected);
    assert!(DemoWorkspace::at(Path::new("/a-b/c_d.e")).to_string().contains(" --repo /a-b/c_d.e/repo --protect "));
}

#[test]
fn two_layouts_are_equal_file_by_file() {
    let (first, _) = fresh();
    let (second, _) = fresh();
    // Only times of files in the repositories and of the databases differ; they are not compared.
    let (first, second) = (files(first.path()), files(second.path()));
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    for (path, bytes) in &first {
        assert!(second[path] == *bytes, "{} differs", path.display());
    }
    let locked = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock" || end == "db-journal");
    assert!(!first.keys().any(locked));
}

/// The objects are known, so that documentation can name them.
#[test]
fn the_object_ids_stay_what_they_are() {
    let (_dir, workspace) = fresh();
    let heads =
        git(&workspace.origin, &["for-each-ref", "--format=%(objectname:short=10) %(refname:short)", "refs/heads"]);
    assert_eq!(heads, include_str!("demo/heads.txt"));
}

#[test]
fn the_configuration_of_the_user_changes_nothing() {
    // Runs this test binary again with a configuration that would change line ends and more.
    let home = tempfile::tempdir().unwrap();
    let hooks = home.path().join("template/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::write(hooks.join("post-checkout"), "#!/bin/sh\nexit 1\n").unwrap();
    fs::write(home.path().join("attributes"), "* text eol=crlf\n").unwrap();
    let config = format!(
        "[user]\n\tname = Somebody\n[core]\n\tautocrlf = true\n\teol = crlf\n\tattributesFile = {0}/attributes\n\
         \tlogAllRefUpdates = always\n\tbigFileThreshold = 1\n\tcompression = 0\n[init]\n\tdefaultBranch = trunk\n\
         \ttemplateDir = {0}/template\n[url \"https://evil.example/\"]\n\tinsteadOf = ../\n",
        home.path().display()
    );
    fs::write(home.path().join(".gitconfig"), config).unwrap();
    let laid_out = home.path().join("demo");
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "demo::child_that_lays_out_a_workspace"])
        .env("HOME", home.path())
        .env("CANDOR_TEST_DIR", &laid_out)
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    let (plain, _) = fresh();
    assert!(files(&laid_out) == files(&plain.path().join("demo")));
}

#[test]
#[ignore = "run by the test above, which sets the environment"]
fn child_that_lays_out_a_workspace() {
    lay_out(Path::new(&std::env::var_os("CANDOR_TEST_DIR").unwrap())).unwrap();
}

#[test]
fn a_directory_with_something_in_it_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mine"), "x").unwrap();
    let error = lay_out(dir.path()).unwrap_err().to_string();
    assert!(error.contains("is not empty; name a new or empty directory"), "{error}");
    assert_eq!(files(dir.path()).len(), 1);
    let file = dir.path().join("mine");
    for path in [file.clone(), file.join("below")] {
        let error = lay_out(&path).unwrap_err().to_string();
        assert!(error.starts_with("cannot lay out `"), "{error}");
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "x");
    // An empty one is taken as it is, and one with missing parents is made.
    let empty = tempfile::tempdir().unwrap();
    lay_out(empty.path()).unwrap();
    lay_out(&dir.path().join("a/b/c")).unwrap();
}

/// Every file below a directory, by relative path.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_tree(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
