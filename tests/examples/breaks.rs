//! Would anybody notice a missing guard? Each patch in `tests/breaks` removes one from a scratch
//! copy of this tree, and names in its header who must notice: a test, which then fails, a verdict of
//! `candor verify`, which then is this one, or its list of what it doesn't count, which then has this.
//!
//! The copy stands where it stood the last time and shares the compiled dependencies with the tree
//! itself, so that a patch costs the few crates that it touches.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Instant,
};

use serde_json::Value;

use crate::{Failure, WORLDS};

/// How many breaks there are, how many were noticed, and what is to be said of the others.
pub(crate) struct Noticed {
    pub(crate) killed: usize,
    pub(crate) planted: usize,
    pub(crate) survivors: String,
}

/// Plant every break, or those whose name holds `filter`.
pub(crate) fn plant(filter: &str) -> Result<Noticed, Failure> {
    let mut breaks = Vec::new();
    for entry in fs::read_dir(root().join("tests/breaks"))? {
        let patch = entry?.path();
        let name = patch.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name.contains(filter) {
            breaks.push(Break { catcher: Catcher::of(&patch)?, name, patch });
        }
    }
    breaks.sort_by(|a, b| a.name.cmp(&b.name));
    let tree = Tree::copy()?;
    tree.build()?;
    tree.is_sound(&breaks)?;
    let (mut killed, mut survivors) = (0, String::new());
    for planted in &breaks {
        let began = Instant::now();
        tree.apply(&planted.patch, &[])?;
        tree.build().map_err(|why| format!("{}: the broken tree does not build: {why}", planted.name))?;
        let seen = tree.ask(&planted.catcher)?;
        tree.apply(&planted.patch, &["--reverse"])?;
        let caught = seen == planted.catcher.alarm();
        killed += usize::from(caught);
        println!("{} {} ({} s)", if caught { "noticed" } else { "SURVIVES" }, planted.name, began.elapsed().as_secs());
        if !caught {
            let _ = writeln!(survivors, "{}: {} says `{seen}`", planted.name, planted.catcher.name());
        }
    }
    Ok(Noticed { killed, planted: breaks.len(), survivors })
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A guard that is removed, and who must notice.
struct Break {
    name: String,
    patch: PathBuf,
    catcher: Catcher,
}

enum Catcher {
    Test(String),
    Verdict {
        id: String,
        outcome: String,
    },
    /// Of a tool, what a lens saw and no verdict counts.
    Excuse(String),
}

impl Catcher {
    /// `Caught by: test NAME`, `Caught by: verdict TOOL/HINT = OUTCOME` or `Caught by: excuse
    /// TOOL/LENS = listed`.
    fn of(patch: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(patch)?;
        let named = text.lines().find_map(|line| line.strip_prefix("Caught by: "));
        let of_test = named.and_then(|named| named.strip_prefix("test "));
        let verdict = named.and_then(|named| named.strip_prefix("verdict ")?.split_once(" = "));
        let excuse = named.and_then(|named| named.strip_prefix("excuse ")?.strip_suffix(" = listed"));
        match (of_test, verdict, excuse) {
            (Some(name), ..) => Ok(Self::Test(name.to_owned())),
            (_, Some((id, outcome)), _) => Ok(Self::Verdict { id: id.to_owned(), outcome: outcome.to_owned() }),
            (.., Some(id)) => Ok(Self::Excuse(id.to_owned())),
            _ => Err(format!("`{}` names no test, verdict or excuse after `Caught by: `", patch.display()).into()),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Test(name) | Self::Verdict { id: name, .. } | Self::Excuse(name) => name,
        }
    }

    /// What it says of the broken tree.
    fn alarm(&self) -> &str {
        match self {
            Self::Test(_) => "FAILED",
            Self::Verdict { outcome, .. } => outcome,
            Self::Excuse(_) => "listed",
        }
    }

    /// What it says of the tree as it is.
    fn calm(&self) -> &'static str {
        match self {
            Self::Test(_) => "ok",
            Self::Verdict { .. } => "holds",
            Self::Excuse(_) => "nothing",
        }
    }
}

/// The scratch copy, gone with this value.
struct Tree {
    dir: PathBuf,
    target: PathBuf,
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Tree {
    fn copy() -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let target = program.ancestors().nth(3).ok_or("this program is in no target directory")?.to_owned();
        let tree = Self { dir: target.join("breaks/tree"), target };
        if tree.dir.exists() {
            fs::remove_dir_all(&tree.dir)?;
        }
        let listed = done(Command::new("git").args(["ls-files", "-z"]).current_dir(root()))?;
        for name in String::from_utf8(listed.stdout)?.split_terminator('\0') {
            let to = tree.dir.join(name);
            fs::create_dir_all(to.parent().ok_or("a file without a folder")?)?;
            fs::copy(root().join(name), to).map_err(|error| format!("`{name}`: {error}"))?;
        }
        Ok(tree)
    }

    /// All or nothing; a patch that is out of date is an error.
    fn apply(&self, patch: &Path, how: &[&str]) -> Result<(), Failure> {
        let mut git = Command::new("git");
        // The copy lies inside a repository and is none of its files.
        git.env("GIT_CEILING_DIRECTORIES", self.target.join("breaks")).current_dir(&self.dir);
        done(git.arg("apply").args(how).arg(patch)).map(drop)
    }

    fn cargo(&self) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // What cargo said of this program would make dependencies that listen to it compile anew.
        for (name, _) in std::env::vars_os() {
            if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
                cargo.env_remove(name);
            }
        }
        cargo.current_dir(&self.dir).args(["test", "--offline", "--quiet", "--test", "all"]);
        // An older cargo that knows no directory for what lies between compiles everything anew.
        cargo.env("CARGO_TARGET_DIR", self.target.join("breaks")).env("CARGO_BUILD_BUILD_DIR", &self.target);
        cargo
    }

    fn build(&self) -> Result<(), Failure> {
        done(self.cargo().arg("--no-run")).map(drop)
    }

    /// No catcher cries before there is a break.
    fn is_sound(&self, breaks: &[Break]) -> Result<(), Failure> {
        let (mut tests, mut tools) = (Vec::new(), Vec::new());
        for planted in breaks {
            match &planted.catcher {
                Catcher::Test(name) => tests.push(name.as_str()),
                Catcher::Verdict { id, .. } | Catcher::Excuse(id) => tools.extend(id.split('/').next()),
            }
        }
        let mut said = self.tests(&tests)?;
        said.extend(self.verdicts(&tools)?);
        for Break { name, catcher, .. } in breaks {
            let said = said.get(catcher.name()).map_or("nothing", String::as_str);
            if said != catcher.calm() {
                return Err(format!("{name}: without a break, {} says `{said}`", catcher.name()).into());
            }
        }
        Ok(())
    }

    fn ask(&self, catcher: &Catcher) -> Result<String, Failure> {
        let mut said = match catcher {
            Catcher::Test(name) => self.tests(&[name])?,
            Catcher::Verdict { id, .. } | Catcher::Excuse(id) => {
                self.verdicts(&[id.split('/').next().unwrap_or_default()])?
            }
        };
        Ok(said.remove(catcher.name()).unwrap_or_else(|| "nothing".into()))
    }

    /// How each of these tests ends.
    fn tests(&self, names: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let output = self.cargo().args(["--", "--exact", "--format", "pretty"]).args(names).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let ends = text.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
        Ok(ends.map(|(name, end)| (name.to_owned(), end.to_owned())).collect())
    }

    /// What `candor verify` says of these tools: the outcome of each hint, and which lenses saw what it
    /// doesn't count.
    fn verdicts(&self, tools: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
        if tools.is_empty() {
            return Ok(BTreeMap::new());
        }
        let report = self.dir.join("report.json");
        let mut candor = Command::new(self.target.join("breaks/debug/candor"));
        candor.arg("verify").arg("--json").arg(&report).args(WORLDS.iter().flat_map(|world| ["--world", world]));
        for tool in tools {
            candor.arg("--case").arg(self.dir.join(format!("tests/cases/{tool}.toml")));
        }
        let output = candor.output()?;
        let text = fs::read_to_string(&report).map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        fs::remove_file(&report)?;
        let report: Value = serde_json::from_str(&text)?;
        let list = |of: &Value, key: &str| of.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
        let verdicts = list(&report, "verdicts");
        let mut said: BTreeMap<String, String> =
            verdicts.iter().filter_map(|verdict| Some((text(verdict, "id")?, text(verdict, "outcome")?))).collect();
        for excuse in list(&report, "excuses") {
            let lens = text(&excuse, "lens").unwrap_or_default();
            let tools = list(&excuse, "tools");
            said.extend(tools.iter().filter_map(|tool| Some((format!("{}/{lens}", tool.as_str()?), "listed".into()))));
        }
        Ok(said)
    }
}

/// Run to a good end.
fn done(command: &mut Command) -> Result<Output, Failure> {
    let output = command.output().map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
}
