//! Clients that do nothing, crash, hang, flood, answer unasked, speak another version, or leave
//! something behind: told in bounded time, and no process is left.

use std::{
    fs,
    time::{Duration, Instant},
};

use super::{Told, client, conform};

fn run(how: &str) -> Told {
    let bad = client("bad-client");
    let limit = if how == "hangs" { "2000" } else { "30000" };
    let options = ["--scenario", "trusted-honest", "--timeout", limit];
    conform(&options, &[bad.to_str().unwrap(), how])
}

/// Whether a process with these words runs.
fn runs(words: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(words))
}

#[test]
fn a_client_that_misbehaves_is_told_in_bounded_time_and_leaves_nothing() {
    for (how, check, words) in [
        ("does-nothing", "protocol", "never spoke to the server"),
        ("crashes", "ends", "signal"),
        ("hangs", "ends", "did not end within 2 s"),
        ("floods", "ends", "flooded the server"),
        ("answers-unasked", "protocol", "which nobody asked"),
        ("speaks-another-version", "protocol", ""),
        ("leaves-a-process", "", ""),
    ] {
        let began = Instant::now();
        let told = run(how);
        assert!(began.elapsed() < Duration::from_secs(60), "{how} took {:?}", began.elapsed());
        assert!(told.output.contains(words), "{how}: {}", told.output);
        let failed = told.checks("FAILURE");
        let expected = check.is_empty() || failed.contains(&format!("trusted-honest/{check}"));
        assert!(expected, "{how}: {failed:?}\n{}", told.output);
        assert_eq!(told.status, Some(i32::from(!check.is_empty())), "{how}: {}{}", told.output, told.errors);
        assert!(!runs(&format!("bad-client {how}")) && !runs("sleep 1000 "), "{how} left a process");
    }
}
