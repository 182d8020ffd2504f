//! One trial: a fresh copy of a world, a server in it, one case's calls, and what each step changed.
//!
//! The steps are the same whatever the hints say.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::time::sleep;

use super::{Case, Effect, Observation, Phase, Reply, Step, case::Places};
use crate::wire::{Answer, Called, Connection, Era, Limits, Question, Target, WireError};

/// How long processes that a call started may go on before its effects are read.
const SETTLING: Duration = Duration::from_secs(3);
/// Stands for the world's path in the arguments of a case and in a server's command.
const WORLD: &str = "{world}";

const BACKGROUND: &str = "background: happens while nothing is called, too";

/// A fresh copy of a world, removed when dropped, and what sees its changes.
pub trait Watch: Send {
    /// Where the copy is, as the server sees it.
    fn path(&self) -> &Path;

    /// How the server is started so that it is seen; itself, where nothing has to be done.
    ///
    /// # Errors
    ///
    /// If what would see it can't be made ready.
    fn seen(&mut self, target: Target) -> Result<Target, String> {
        Ok(target)
    }

    /// Whether the server's connections are seen wherever they lead.
    fn sees_connections(&self) -> bool {
        false
    }

    /// What is different from the last look; nothing at the first. `server` are the server's
    /// processes: what they hold open or mapped is looked at whatever anybody tells of it.
    ///
    /// # Errors
    ///
    /// If the world can't be read.
    fn look(&mut self, server: &[u32]) -> Result<Vec<Effect>, String>;
}

/// Everything that a trial needs.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// What is called.
    pub case: &'a Case,
    /// Name of the world.
    pub world: &'a str,
    /// Origin of the server on loopback that notes which requests reach it.
    pub listener: &'a str,
    /// Makes a fresh copy of it.
    pub fresh: &'a (dyn Fn() -> Result<Box<dyn Watch>, String> + Sync),
    /// The server for a copy.
    pub target: &'a (dyn Fn(&Path) -> Target + Sync),
    /// Whether the call is also made twice at the same time, in a copy of its own.
    pub concurrent: bool,
    /// The protocol era.
    pub era: Era,
    /// `stdio` or `http`, for the report.
    pub transport: &'static str,
    /// The time and size limits of the conversation.
    pub limits: &'a Limits,
    /// How long the server is left alone before the calls, as a control.
    pub idle: Duration,
    /// How long to wait after each call before its effects are read.
    pub quiet: Duration,
}

/// Run a trial. Whatever goes wrong ends up in the observation, and neither a process nor a
/// directory is left.
pub async fn run(plan: &Plan<'_>) -> Observation {
    let mut trial = Trial { plan, steps: Vec::new(), background: BTreeSet::new(), sees_connections: false };
    let mut problem = trial.in_sequence().await.err();
    if problem.is_none() && plan.concurrent {
        problem = trial.at_once().await.err();
    }
    Observation {
        tool: plan.case.tool.clone(),
        case: plan.case.name.clone(),
        world: plan.world.to_owned(),
        expect: plan.case.expect,
        transport: plan.transport,
        era: plan.era.name(),
        sees_connections: trial.sees_connections,
        steps: trial.steps,
        problem,
    }
}

/// The target with `{world}` replaced by the path of the copy.
#[must_use]
pub fn in_world(target: &Target, world: &Path) -> Target {
    let world = world.to_string_lossy();
    let place = |text: &String| text.replace(WORLD, &world);
    let words = |words: &[String]| words.iter().map(place).collect();
    let pairs = |pairs: &[(String, String)]| pairs.iter().map(|(name, value)| (name.clone(), place(value))).collect();
    let folder = |dir: &Option<PathBuf>| dir.as_ref().map(|dir| place(&dir.to_string_lossy().into_owned()).into());
    match target {
        Target::Stdio { command, env, dir } => {
            Target::Stdio { command: words(command), env: pairs(env), dir: folder(dir) }
        }
        Target::Http { url, headers } => Target::Http { url: place(url), headers: headers.clone() },
        Target::Serving { command, env, dir, headers, socket } => Target::Serving {
            command: words(command),
            env: pairs(env),
            dir: folder(dir),
            headers: headers.clone(),
            socket: socket.clone(),
        },
    }
}

struct Trial<'a> {
    plan: &'a Plan<'a>,
    steps: Vec<Step>,
    /// What changes by itself: the place and the kind of change.
    background: BTreeSet<(&'static str, String, String)>,
    sees_connections: bool,
}

/// A copy of the world with the server at work in it. The server goes first.
struct Scene {
    connection: Connection,
    /// Its processes while it does nothing.
    at_rest: Vec<u32>,
    copy: Box<dyn Watch>,
    arguments: Map<String, Value>,
}

impl Trial<'_> {
    async fn in_sequence(&mut self) -> Result<(), String> {
        let mut scene = self.open(true).await?;
        let outcome = self.calls(&mut scene).await;
        let Scene { connection, mut copy, .. } = scene;
        connection.close().await;
        let effects = copy.look(&[]);
        self.record(Phase::Shutdown, None, effects)?;
        outcome
    }

    /// Start a server in a fresh copy. With the control: what changes without any call, recorded.
    async fn open(&mut self, control: bool) -> Result<Scene, String> {
        let Plan { case, era, limits, .. } = self.plan;
        let mut copy = (self.plan.fresh)()?;
        copy.look(&[])?;
        let target = copy.seen((self.plan.target)(copy.path()))?;
        self.sees_connections = copy.sees_connections();
        let opened = async {
            let mut connection = Connection::open(&target, *era, limits).await?;
            let tools = connection.list().await?;
            Ok((connection, tools))
        };
        let opened: Result<_, WireError> = opened.await;
        let at_rest = opened.as_ref().map(|(connection, _)| connection.processes()).unwrap_or_default();
        let effects = copy.look(&at_rest);
        if control {
            self.record(Phase::Start, None, effects)?;
        }
        let (connection, tools) = opened.map_err(|error| error.to_string())?;
        if !tools.iter().any(|tool| tool.name == case.tool) {
            return Err(format!("the server lists no tool `{}`", case.tool));
        }
        // A world of its own begins its background anew.
        if control || !self.background.is_empty() {
            sleep(self.plan.idle).await;
            let effects = copy.look(&at_rest);
            self.background.extend(effects.iter().flatten().map(kind));
            if control {
                self.record(Phase::Idle, None, effects)?;
            }
        }
        let at_rest = connection.processes();
        let arguments =
            case.arguments_at(&Places { world: &copy.path().to_string_lossy(), listener: self.plan.listener });
        Ok(Scene { connection, at_rest, copy, arguments })
    }

    /// Refusals of the user first: whatever they change would be hidden by the call itself.
    async fn calls(&mut self, scene: &mut Scene) -> Result<(), String> {
        let mut answers = self.plan.case.answers.clone();
        answers.sort_by_key(|answer| *answer == Answer::Accept);
        answers.dedup();
        for answer in answers {
            let phase = match answer {
                Answer::Decline => Phase::Declined,
                Answer::Cancel => Phase::Cancelled,
                Answer::Accept => Phase::First,
            };
            let asked = self.call(scene, phase, answer).await?;
            // Nobody was asked, so nobody declined: that was the call.
            if !asked || answer == Answer::Accept {
                self.call(scene, Phase::Second, Answer::Accept).await?;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Make one call and record what it changed, question by question. Returns whether it asked.
    async fn call(&mut self, scene: &mut Scene, phase: Phase, answer: Answer) -> Result<bool, String> {
        let Scene { connection, at_rest, copy, arguments } = scene;
        let quiet = self.plan.quiet;
        let watch = Mutex::new((copy, Vec::new()));
        let asked = |_: &Question| async {
            sleep(quiet).await;
            let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
            let effects = watch.0.look(at_rest);
            watch.1.push(effects);
        };
        let called = connection.call(&self.plan.case.tool, arguments, answer, asked).await;
        let (copy, looks) = watch.into_inner().unwrap_or_else(PoisonError::into_inner);
        let has_asked = !looks.is_empty();
        for effects in looks {
            self.record(Phase::Asking, None, effects)?;
        }
        let phase = if has_asked || phase == Phase::Second { phase } else { Phase::First };
        self.settle(connection, at_rest).await;
        let effects = copy.look(at_rest);
        // What a call did that was never answered counts as well.
        let reply = called.as_ref().ok().map(|called| called.reply.clone());
        self.record(phase, reply, effects)?;
        called.map_err(|error| format!("{phase:?}: {error}"))?;
        Ok(has_asked)
    }

    /// The same call twice at the same time, in a world of its own.
    async fn at_once(&mut self) -> Result<(), String> {
        let Scene { mut connection, mut at_rest, mut copy, arguments } = self.open(false).await?;
        let called = connection.call_concurrently(&self.plan.case.tool, &arguments, Answer::Accept).await;
        self.settle(&connection, &mut at_rest).await;
        connection.close().await;
        let effects = copy.look(&[]);
        let reply = called.as_ref().ok().map(|[one, other]| if succeeded(other) { &other.reply } else { &one.reply });
        let reply = reply.cloned();
        self.record(Phase::Concurrent, reply, effects)?;
        called.map_err(|error| format!("{:?}: {error}", Phase::Concurrent))?;
        Ok(())
    }

    /// Wait until what the call started has ended, so that its effects are seen as its own. What
    /// does not end belongs to the server from now on.
    async fn settle(&self, connection: &Connection, at_rest: &mut Vec<u32>) {
        sleep(self.plan.quiet).await;
        if !connection.settles(at_rest, SETTLING).await {
            *at_rest = connection.processes();
        }
    }

    fn record(
        &mut self,
        phase: Phase,
        reply: Option<Reply>,
        effects: Result<Vec<Effect>, String>,
    ) -> Result<(), String> {
        let effects = effects.map_err(|error| format!("{phase:?}: the world can't be read: {error}"))?;
        let excused = |effect: Effect| {
            let is_background =
                !matches!(phase, Phase::Start | Phase::Idle) && self.background.contains(&kind(&effect));
            if is_background { Effect::excused(effect.lens, effect.place, effect.what, BACKGROUND) } else { effect }
        };
        let effects = effects.into_iter().map(excused).collect();
        self.steps.push(Step { phase, reply, effects });
        Ok(())
    }
}

fn succeeded(called: &Called) -> bool {
    called.reply == Reply::Success
}

/// Where an effect is and what kind of change it is: its words without counts and digests.
fn kind(effect: &Effect) -> (&'static str, String, String) {
    let words = effect.what.split_whitespace().filter(|word| !word.contains(|char: char| char.is_ascii_digit()));
    (effect.lens, effect.place.clone(), words.collect::<Vec<_>>().join(" "))
}
