//! Trials of the real server.

use candor::serve::demo;

use super::*;

fn workspace() -> Result<Box<dyn Watch>, String> {
    let folder = Folder::new();
    demo::lay_out(folder.path()).map_err(|error| error.to_string())?;
    Ok(Box::new(folder))
}

/// `{world}` stands for the path of the copy.
fn command(more: &[&str]) -> Vec<String> {
    let options = ["serve", "--repo", "{world}/repo", "--notes", "{world}/notes"];
    [&[env!("CARGO_BIN_EXE_candor")], &options[..], more].concat().into_iter().map(str::to_owned).collect()
}

async fn observe(era: Era, target: &Target, tool: &str, arguments: Value) -> Observation {
    let case = case(tool, arguments);
    let limits = Limits::default();
    run(&plan(&case, &workspace, &|world| candor::verify::in_world(target, world), era, &limits)).await
}

fn phases(observation: &Observation) -> Vec<Phase> {
    observation.steps.iter().map(|step| step.phase).collect()
}

#[tokio::test]
async fn a_tool_that_asks_goes_through_every_phase_in_both_eras() {
    use Phase::*;
    let stdio = Target::Stdio { command: command(&["--grant", "all"]), env: Vec::new(), dir: Some("{world}".into()) };
    for era in Era::ALL {
        let observation = observe(era, &stdio, "delete_branch", json!({"branch": "feature/search"})).await;
        assert_eq!(observation.problem, None);
        let expected = [Start, Idle, Asking, Declined, Asking, Cancelled, Asking, First, Second, Shutdown, Concurrent];
        assert_eq!(phases(&observation), expected, "{era:?}");
        for step in &observation.steps {
            let grade = if matches!(step.phase, First | Concurrent) { Grade::Lossy } else { Grade::None };
            assert_eq!(step.grade(), grade, "{era:?} {step:?}");
        }
    }
}

#[tokio::test]
async fn a_read_only_tool_over_http_has_no_effects_in_either_era() {
    let command = command(&["--http", "127.0.0.1:0"]);
    let http = Target::Serving { command, env: Vec::new(), dir: None, headers: Vec::new(), socket: None };
    for era in Era::ALL {
        let observation = observe(era, &http, "read_note", json!({"name": "welcome.md"})).await;
        assert_eq!(observation.problem, None);
        assert_eq!(told(&observation), QUIET);
        assert_eq!(observation.steps[2].reply, Some(Reply::Success));
    }
}
