//! What a snapshot costs, by the size of the world: `cargo test --test all cost -- --ignored --nocapture`.

use std::{
    fs,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use candor::verify::{Snapshot, World, WorldError};

use crate::support::git;

fn files(dir: &Path, count: usize) -> Result<(), WorldError> {
    for number in 0..count {
        let folder = dir.join(format!("{}", number / 500));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{number}.txt")), format!("text {number}\n"))?;
    }
    Ok(())
}

fn branches(dir: &Path, count: usize) -> Result<(), WorldError> {
    git(dir, &["init", "-q", "--bare", "-b", "main", "repo"]);
    let repo = dir.join("repo");
    let tree = git(&repo, &["hash-object", "-t", "tree", "-w", "/dev/null"]);
    let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    let commit = git(&repo, &[&who[..], &["commit-tree", tree.trim(), "-m", "x"]].concat());
    for number in 0..count {
        fs::write(repo.join(format!("refs/heads/b{number}")), &commit)?;
    }
    Ok(())
}

fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").unwrap();
}

/// The median of five looks after one small change each.
fn step(world: &World, change: &str) -> (Duration, Duration) {
    let began = Instant::now();
    let copy = world.fresh().unwrap().watched();
    let built = began.elapsed();
    let began = Instant::now();
    drop(world.fresh().unwrap());
    let fresh = began.elapsed();
    let commit = fs::read(copy.path().join("repo/refs/heads/b0")).unwrap_or_default();
    std::thread::sleep(Duration::from_millis(50));
    let mut last = Snapshot::take(&copy, None).unwrap();
    let mut times = Vec::new();
    for round in 0..5 {
        fs::write(copy.path().join(format!("{change}{round}")), &commit).unwrap();
        let began = Instant::now();
        let now = Snapshot::take(&copy, Some(&last)).unwrap();
        let effects = Snapshot::effects(&last, &now);
        times.push(began.elapsed());
        assert_eq!(effects.len(), 1, "{effects:?}");
        last = now;
    }
    times.sort();
    say(&format!("  built and copied in {built:?}, copied again in {fresh:?}, {:?} a step", times[2]));
    (fresh, times[2])
}

#[test]
#[ignore = "a measurement"]
fn cost_of_a_step_by_the_size_of_the_world() {
    for (name, change, build, small, large) in [
        ("files", "new", files as fn(&Path, usize) -> Result<(), WorldError>, 100, 50_000),
        ("branches", "repo/refs/heads/new", branches, 10, 10_000),
    ] {
        let measure = |count: usize| {
            say(&format!("{count} {name}"));
            step(&World::builder(name, move |dir| build(dir, count)), change).1
        };
        let (small, large) = (measure(small), measure(large));
        say(&format!("  ratio {:.1}", large.as_secs_f64() / small.as_secs_f64()));
    }
}
