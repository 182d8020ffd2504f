use std::{fs, path::Path};

use candor_tools::database::{Database, DatabaseConfig};

use super::{Bench, SHOP};

fn opening(file: &Path) -> Result<Database, String> {
    let config = DatabaseConfig { file: file.into(), ..DatabaseConfig::default() };
    Database::open(config).map_err(|error| error.to_string())
}

#[test]
fn a_path_that_is_no_database_stops_the_server_and_creates_nothing() {
    let bench = Bench::new(SHOP);
    let directory = bench.directory.path();
    fs::write(directory.join("notes.txt"), "not a database at all, but long enough".repeat(50)).unwrap();
    fs::create_dir(directory.join("folder")).unwrap();
    std::os::unix::fs::symlink(&bench.file, directory.join("link.db")).unwrap();
    std::os::unix::fs::symlink(directory.join("gone"), directory.join("dangling.db")).unwrap();
    let files = bench.files();
    let shop = bench.file.display();
    for (path, expected) in [
        (directory.join("missing.db"), "No such file"),
        (directory.join("folder"), "not a regular file"),
        (directory.join("link.db"), "symbolic link"),
        (directory.join("dangling.db"), "symbolic link"),
        (directory.join("notes.txt"), "not a database"),
        (format!("file:{shop}").into(), "plain path"),
        (format!("file:{shop}?mode=rwc").into(), "plain path"),
        (format!("{shop}?mode=rwc").into(), "No such file"),
        (":memory:".into(), "No such file"),
        ("".into(), "No such file"),
        ("/dev/null".into(), "not a regular file"),
    ] {
        let told = opening(&path).map(drop).unwrap_err();
        assert!(told.contains(expected), "{}: {told}", path.display());
        assert!(told.contains(&path.display().to_string()), "{told}");
        assert_eq!(bench.files(), files, "{}", path.display());
    }
}

#[test]
fn a_directory_in_the_path_may_be_a_link() {
    let bench = Bench::new(SHOP);
    let link = bench.directory.path().join("here");
    std::os::unix::fs::symlink(bench.directory.path(), &link).unwrap();
    assert!(opening(&link.join("shop.db")).is_ok());
}

#[test]
fn opening_changes_no_byte() {
    let bench = Bench::new(SHOP);
    let (bytes, files) = (bench.bytes(), bench.files());
    opening(&bench.file).unwrap();
    assert!(bench.bytes() == bytes);
    assert_eq!(bench.files(), files);
}
