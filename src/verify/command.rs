//! `candor verify`: from options to a report.

use std::{
    fs,
    io::{IsTerminal, Write},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use futures::{StreamExt, stream};
use tempfile::TempDir;

use super::{
    Case, Definition, Effect, Observation, Plan, Sight, Snapshot, Watch, World, WorldCopy, builders, in_world,
    lens::network::{self, Listener},
    ours,
    report::{self, Report, Server},
    run,
    synthesis::{self, Inventory},
};
use crate::{
    hints::DeclaredTool,
    serve::{Grant, mislabel::Lie, tokens::New},
    wire::{Connection, Era, Limits, Target},
};

/// The options of `candor verify`.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub struct Options {
    /// A case file, whose calls alone are made; without any, our own cases, or arguments made from
    /// the schemas
    #[arg(long, value_name = "FILE")]
    case: Vec<PathBuf>,

    /// A world: a directory to copy, or the name of one of ours; for a server of yours, a directory
    #[arg(long, value_name = "DIR|NAME")]
    world: Vec<String>,

    /// Print a case file to start from, and call nothing
    #[arg(long)]
    suggest: bool,

    /// Only read the tools, and call nothing
    #[arg(long)]
    lint: bool,

    /// Fail for what is untested, undeclared or overstated, too
    #[arg(long)]
    strict: bool,

    /// Whose definition of the hints counts: mcp, openai-directory, anthropic-directory
    #[arg(long, value_name = "NAME", default_value = "mcp", value_parser = definition)]
    definition: Definition,

    /// Call the tools of a server of yours without a box around it: it can reach whatever you can
    #[arg(long)]
    unboxed: bool,

    /// Write the report as JSON (schema `candor-verify/1`)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the report as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write the report as one HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Plant a lie in what our own server's tools/list says
    #[arg(long, value_name = "TOOL.HINT=VALUE", conflicts_with = "command", value_parser = lie)]
    mislabel: Vec<String>,

    /// A server of yours, on stdio; `{world}` stands for the copy of the world
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

fn definition(name: &str) -> Result<Definition, String> {
    let known = Definition::ALL.into_iter().find(|definition| definition.name() == name);
    known.ok_or_else(|| format!("the definitions are {}", Definition::ALL.map(Definition::name).join(", ")))
}

fn lie(text: &str) -> Result<String, String> {
    text.parse::<Lie>().map(|_| text.to_owned())
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Where nobody listens.
const NOBODY: &str = "http://127.0.0.1:9";

/// How long a server is left alone as a control, and after each call.
const IDLE: Duration = Duration::from_millis(150);
const QUIET: Duration = Duration::from_millis(60);

/// Run the trials and report. Returns the exit status.
///
/// # Errors
///
/// Whatever keeps the run from starting, naming the option, file or server.
pub fn verify(options: &Options) -> Result<u8, Failure> {
    crate::serve::isolate_git(IDLE)?; // worlds are read with libgit2, by nobody's own settings
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(options.run())
}

/// What was seen of a server.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it calls itself.
    pub server: Server,
    /// Its tools.
    pub tools: Vec<DeclaredTool>,
    /// The trials.
    pub observations: Vec<Observation>,
    /// Tools that nothing was called with, and why.
    pub uncalled: Vec<(String, String)>,
}

fn plain(worlds: &[World]) -> Result<&World, Failure> {
    worlds.first().ok_or_else(|| "no world: name a directory with --world".into())
}

/// Tools that nothing is called with, and why.
type Uncalled = Vec<(String, String)>;

/// One way to reach the server.
struct Road {
    transport: &'static str,
    era: Era,
    target: Target,
}

impl Options {
    async fn run(&self) -> Result<u8, Failure> {
        let began = Instant::now();
        if self.suggest {
            let (_, tools) = self.list().await?;
            let worlds = self.worlds()?;
            let copy = plain(&worlds)?.fresh()?;
            print(&super::case::suggest(&tools, &Inventory::of(copy.path())?))?;
            return Ok(0);
        }
        let Run { server, tools, observations, uncalled } = self.observe().await?;
        let seconds = began.elapsed().as_secs_f64();
        let report = Report::new(server, sight(), self.definition, tools, observations, uncalled, seconds);
        self.deliver(&report)?;
        Ok(report::exit_status(&report, self.strict))
    }

    /// The server's name and its tools, without a call.
    ///
    /// # Errors
    ///
    /// If the server can't be started or listed.
    pub async fn list(&self) -> Result<(Server, Vec<DeclaredTool>), Failure> {
        let tokens = tempfile::tempdir()?;
        let worlds = self.worlds()?;
        introduce(&self.roads(&tokens)?, plain(&worlds)?).await
    }

    /// All trials, and no judgement.
    ///
    /// # Errors
    ///
    /// Whatever keeps the trials from starting.
    pub async fn observe(&self) -> Result<Run, Failure> {
        let tokens = tempfile::tempdir()?;
        let roads = self.roads(&tokens)?;
        let worlds = self.worlds()?;
        let (server, tools) = introduce(&roads, plain(&worlds)?).await?;
        let (cases, uncalled) = if self.lint { (Vec::new(), Vec::new()) } else { self.cases(&tools, &worlds)? };
        let observations = self.trials(&cases, &worlds, &roads).await;
        Ok(Run { server, tools, observations, uncalled })
    }

    fn roads(&self, tokens: &TempDir) -> Result<Vec<Road>, Failure> {
        if !self.command.is_empty() {
            if !self.unboxed && !self.lint && !self.suggest {
                return Err(
                    "the server would run without a box and could reach whatever you can; add --unboxed if you \
                            trust it with that, or --lint to call nothing"
                        .into(),
                );
            }
            let target = Target::Stdio { command: self.command.clone(), env: Vec::new(), dir: None };
            return Ok(vec![Road { transport: "stdio", era: Era::Legacy, target }]);
        }
        let candor = std::env::current_exe()?.to_string_lossy().into_owned();
        let file = tokens.path().join("tokens.toml");
        let token = New::lasting("verify", Grant::all()).make()?;
        fs::write(&file, &token)?;
        let secret = token.lines().find_map(|line| line.strip_prefix("# candor_")).ok_or("no token")?;
        let lies: Vec<String> = self.mislabel.iter().flat_map(|lie| ["--mislabel".to_owned(), lie.clone()]).collect();
        let stdio = |era| Road { transport: "stdio", era, target: ours::target(&candor, false, &lies) };
        let mut http = ours::target(&candor, true, &lies);
        if let Target::Serving { command, headers, .. } = &mut http {
            let place = file.to_string_lossy();
            for word in command.iter_mut() {
                *word = word.replace("{tokens}", &place);
            }
            headers.push(("authorization".into(), format!("Bearer candor_{secret}")));
        }
        let http = Road { transport: "http", era: Era::Modern, target: http };
        Ok(vec![stdio(Era::Modern), http, stdio(Era::Legacy)])
    }

    fn worlds(&self) -> Result<Vec<World>, Failure> {
        if self.world.is_empty() {
            return if self.command.is_empty() {
                Ok(builders::builders())
            } else {
                Err("a server of yours needs a world to run in: name a directory with --world DIR, and write {world} \
                     where its command takes that directory"
                    .into())
            };
        }
        let world = |name: &String| {
            let path = PathBuf::from(name);
            if path.is_dir() {
                return Ok(World::directory(name.clone(), &path));
            }
            let ours = builders::builders().into_iter().find(|world| world.name == *name);
            ours.ok_or_else(|| {
                let names: Vec<_> = builders::builders().into_iter().map(|world| world.name).collect();
                format!("--world `{name}` is no directory, and our worlds are {}", names.join(", ")).into()
            })
        };
        self.world.iter().map(world).collect()
    }

    /// What to call, and the tools that nothing can be called with.
    fn cases(&self, tools: &[DeclaredTool], worlds: &[World]) -> Result<(Vec<Case>, Uncalled), Failure> {
        let names: Vec<&str> = worlds.iter().map(|world| world.name.as_str()).collect();
        let mut cases = Vec::new();
        for path in &self.case {
            let file = super::case::read(path)?;
            file.check(tools, &names)?;
            cases.extend(file.cases);
        }
        if self.case.is_empty() && self.command.is_empty() {
            cases = ours::cases()?;
        }
        let mut uncalled = Vec::new();
        let plain = worlds.first().ok_or("no world")?.fresh()?;
        let inventory = Inventory::of(plain.path())?;
        for at in synthesis::order(tools) {
            let Some(tool) = tools.get(at).filter(|tool| !cases.iter().any(|case| case.tool == tool.name)) else {
                continue;
            };
            if !self.case.is_empty() {
                uncalled.push((tool.name.clone(), "no case names it".to_owned()));
                continue;
            }
            match synthesis::synthesise(tool, &inventory, &[]) {
                Ok(made) => cases.extend(made),
                Err(why) => uncalled.push((tool.name.clone(), why)),
            }
        }
        Ok((cases, uncalled))
    }

    /// Every case in every world that it is meant for: over each road in the first of them, over
    /// one after the other in the rest.
    async fn trials(&self, cases: &[Case], worlds: &[World], roads: &[Road]) -> Vec<Observation> {
        let mut plans = Vec::new();
        for case in cases {
            let mut first = true;
            for (at, world) in worlds.iter().enumerate().filter(|(_, world)| case.runs_in(&world.name)) {
                if std::mem::take(&mut first) {
                    plans.extend(roads.iter().map(|road| (case, world, road)));
                } else {
                    plans.extend(roads.get(at % roads.len()).map(|road| (case, world, road)));
                }
            }
        }
        let progress = Progress::new(plans.len());
        let at_once = std::thread::available_parallelism().map_or(2, usize::from) * 4;
        let limits = Limits::default();
        let trials = plans.into_iter().map(|(case, world, road)| {
            let (progress, limits) = (&progress, &limits);
            async move {
                // A listener of its own, so that a contact is blamed on the call that made it.
                let listener = case.needs_listener().then(Listener::start).transpose();
                let listener = listener.inspect_err(|error| tracing::error!(%error, "no listener for a case"));
                let listener = listener.ok().flatten().map(Arc::new);
                let origin = listener.as_ref().map_or_else(|| NOBODY.to_owned(), |listener| listener.origin());
                let fresh = || Ok(Box::new(Looking::new(world, listener.clone())?) as Box<dyn Watch>);
                let target = |copy: &std::path::Path| ours::beside(in_world(&road.target, copy), &origin);
                let plan = Plan {
                    case,
                    world: &world.name,
                    listener: &origin,
                    fresh: &fresh,
                    target: &target,
                    concurrent: road.transport == "stdio" && road.era == Era::Modern,
                    era: road.era,
                    transport: road.transport,
                    limits,
                    idle: IDLE,
                    quiet: QUIET,
                };
                let observation = run(&plan).await;
                progress.one();
                observation
            }
        });
        let observations = stream::iter(trials).buffered(at_once).collect().await;
        progress.done();
        observations
    }

    fn deliver(&self, report: &Report) -> Result<(), Failure> {
        let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
            Some(path) => fs::write(path, text()).map_err(|error| format!("`{}`: {error}", path.display())),
            None => Ok(()),
        };
        write(&self.json, &|| report::safe_text(&report::json(report)))?;
        write(&self.sarif, &|| report::safe_text(&report::sarif(report)))?;
        write(&self.junit, &|| report::junit(report))?;
        write(&self.html, &|| report::html(report))?;
        let terminal = std::io::stdout().is_terminal();
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        print(&report::terminal(report, 80, colour))
    }
}

/// Start the server once, to learn its name and its tools.
async fn introduce(roads: &[Road], world: &World) -> Result<(Server, Vec<DeclaredTool>), Failure> {
    let road = roads.first().ok_or("no way to the server")?;
    let copy = world.fresh()?;
    let target = ours::beside(in_world(&road.target, copy.path()), NOBODY);
    let mut connection = Connection::open(&target, road.era, &Limits::default()).await?;
    let tools = connection.list().await?;
    let name = connection.server().clone();
    connection.close().await;
    let command = match &road.target {
        Target::Stdio { command, .. } | Target::Serving { command, .. } => command.join(" "),
        Target::Http { url, .. } => url.clone(),
    };
    let known = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok((Server { name: known(name.name), version: known(name.version), command }, tools))
}

/// What before-and-after observation of a world sees.
#[must_use]
pub fn sight() -> Sight {
    Sight {
        connections: false,
        rung: "worlds",
        blind_to: vec![
            "connections, except to the listener of the case",
            "whatever lies outside the world",
            "what is made and removed again within one call",
            "the memory of the server",
        ],
    }
}

/// A copy of a world, its last snapshot, and who may be contacted from it.
struct Looking {
    copy: WorldCopy,
    last: Option<Snapshot>,
    listener: Option<Arc<Listener>>,
}

impl Looking {
    fn new(world: &World, listener: Option<Arc<Listener>>) -> Result<Self, String> {
        Ok(Self { copy: world.fresh().map_err(|error| error.to_string())?.watched(), last: None, listener })
    }
}

impl Watch for Looking {
    fn path(&self) -> &std::path::Path {
        self.copy.path()
    }

    fn look(&mut self) -> Result<Vec<Effect>, String> {
        let now = Snapshot::take(&self.copy, self.last.as_ref()).map_err(|error| error.to_string())?;
        let mut effects = self.last.as_ref().map_or_else(Vec::new, |last| Snapshot::effects(last, &now));
        effects.extend(self.listener.iter().flat_map(|listener| network::effects(&listener.requests())));
        self.last = Some(now);
        Ok(effects)
    }
}

/// A line on a terminal while the trials run.
struct Progress {
    all: usize,
    done: std::sync::atomic::AtomicUsize,
    shown: bool,
}

impl Progress {
    fn new(all: usize) -> Self {
        Self { all, done: 0.into(), shown: std::io::stderr().is_terminal() }
    }

    fn one(&self) {
        let done = self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        if self.shown {
            let _ = write!(std::io::stderr(), "\r{done} of {} trials", self.all);
        }
    }

    fn done(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r{:30}\r", "");
        }
    }
}

fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
