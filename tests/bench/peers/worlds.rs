//! What is served: the same bytes to everybody.

use std::{fmt::Write as _, fs, path::Path};

use git2::{Commit, Repository, RepositoryInitOptions, Signature, Time};
use rusqlite::Connection;

use super::Failure;

/// A thousand rows to look one up in, and to scan.
pub(crate) fn database(file: &Path) -> Result<(), Failure> {
    let database = Connection::open(file)?;
    database.execute_batch(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL, stock INTEGER NOT NULL);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
         INSERT INTO items (name, price, stock) SELECT 'item number ' || i, i * 1.25, i % 50 FROM n;",
    )?;
    Ok(())
}

/// How branches are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Packed,
    Loose,
}

/// A repository with this many branches, each with a commit of its own.
pub(crate) fn branches(dir: &Path, count: usize, kept: Kept) -> Result<(), Failure> {
    let repository = Repository::init_opts(dir, RepositoryInitOptions::new().bare(true).initial_head("main"))?;
    let tree = repository.find_tree(repository.treebuilder(None)?.write()?)?;
    let mut pack = repository.packbuilder()?;
    pack.insert_tree(tree.id())?;
    let mut refs = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    let store = repository.odb()?;
    let memory = store.add_new_mempack_backend(1000)?;
    let parents: [&Commit<'_>; 0] = [];
    for number in 0..count {
        let when = Time::new(1_700_000_000 + i64::try_from(number)? * 60, 0);
        let who = Signature::new("Ada", "ada@example.org", &when)?;
        let commit = repository.commit(None, &who, &who, &format!("commit {number}"), &tree, &parents)?;
        pack.insert_commit(commit)?;
        match kept {
            Kept::Packed => writeln!(refs, "{commit} refs/heads/b{number:05}")?,
            Kept::Loose => fs::write(dir.join(format!("refs/heads/b{number:05}")), format!("{commit}\n"))?,
        }
        if number == 0 {
            fs::write(dir.join("refs/heads/main"), format!("{commit}\n"))?;
        }
    }
    pack.write(&dir.join("objects/pack"), 0o644)?;
    memory.reset()?;
    if kept == Kept::Packed {
        fs::write(dir.join("packed-refs"), refs)?;
    }
    Ok(())
}
