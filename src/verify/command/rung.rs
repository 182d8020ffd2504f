//! The rungs of the ladder: how a server is started, and what is seen of it.

use std::{
    path::Path,
    process::Command,
    str::FromStr,
    sync::{Arc, OnceLock},
};

use super::{Failure, Options, boxed::Boxed, roads::Road};
use crate::{
    verify::{
        Effect, Held, Sight, Snapshot, Watch, World, WorldCopy, in_world,
        lens::network::{self, Listener},
        listener::MARK,
        ours,
        sandbox::{self, Allowed},
        world::databases::Lock,
    },
    wire::Target,
};

/// Which rung the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Box,
    Listener,
    Worlds,
}

impl FromStr for Asked {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "box" => Ok(Self::Box),
            "listener" => Ok(Self::Listener),
            "worlds" => Ok(Self::Worlds),
            _ => Err("the rungs are box, listener, worlds".into()),
        }
    }
}

/// How much is seen of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rung {
    /// In a box, with or without a listener of its system calls.
    Box { listener: bool },
    /// Copies of declared worlds, and a listener: effects outside of them are real.
    Listener,
    /// Copies of declared worlds, before and after.
    Worlds,
    /// A server elsewhere: its words alone.
    Remote,
}

/// Where a run stands, and why not higher.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) rung: Rung,
    pub(super) why: Option<String>,
}

const NO_LISTENER: &str = "this system refuses the filter by which system calls are seen";

impl Options {
    /// The highest rung that this system has, unless another is asked for.
    ///
    /// # Errors
    ///
    /// If a server of somebody else would run without a box and nobody said that it may, or if the
    /// rung that was asked for can't be reached.
    pub(super) fn climb(&self) -> Result<Standing, Failure> {
        let on = |rung, why| Ok(Standing { rung, why });
        if self.url.is_some() {
            return on(Rung::Remote, None);
        }
        let may_be_free = self.is_ours() || self.unboxed || self.lint || self.suggest;
        let free = |rung| {
            if may_be_free {
                return on(rung, None);
            }
            Err(Failure::from(
                "the server would run without a box and could reach whatever you can; leave --rung out, or add \
                 --unboxed if you trust it with that",
            ))
        };
        match self.rung {
            Some(Asked::Worlds) => return free(Rung::Worlds),
            Some(Asked::Listener) => return free(Rung::Listener),
            None if self.unboxed => return on(Rung::Worlds, Some("--unboxed".into())),
            Some(Asked::Box) | None => {}
        }
        match probed() {
            Ok(sandbox::Rung::BoxAndListener) => on(Rung::Box { listener: true }, None),
            Ok(sandbox::Rung::Box) => on(Rung::Box { listener: false }, Some(NO_LISTENER.into())),
            Err(why) if self.rung.is_none() && may_be_free => on(Rung::Worlds, Some(why.clone())),
            Err(why) => Err(format!(
                "{why}. Without a box the server could reach whatever you can; add --unboxed if you trust it with \
                 that, or --lint to call nothing"
            )
            .into()),
        }
    }
}

/// What this system allows; found out once.
fn probed() -> &'static Result<sandbox::Rung, String> {
    static PROBED: OnceLock<Result<sandbox::Rung, String>> = OnceLock::new();
    PROBED.get_or_init(|| {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        sandbox::probe(&program).map_err(|error| error.to_string())
    })
}

impl Standing {
    /// What is seen from here, and what isn't.
    pub(super) fn sight(&self) -> Sight {
        let blind = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let (rung, blind_to) = match self.rung {
            Rung::Box { listener: true } => ("box", blind(&INSIDE)),
            Rung::Box { listener: false } => {
                let unseen = "what is made and removed again within one call, signals, local sockets, odd ports";
                ("box without listener", blind(&[INSIDE.as_slice(), &[unseen]].concat()))
            }
            Rung::Listener => {
                let unseen = ["what a change outside the world was, only that it was tried", "calls through io_uring"];
                ("listener", blind(&[unseen.as_slice(), &["the memory of the server"]].concat()))
            }
            Rung::Worlds => return Sight { why: self.why.clone(), ..sight() },
            Rung::Remote => ("remote", blind(&["whatever a call changes: the server is elsewhere"])),
        };
        let is_here = self.rung != Rung::Remote;
        Sight { changes: is_here, connections: is_here, rung, blind_to, why: self.why.clone() }
    }
}

/// What nobody sees from outside of a process.
const INSIDE: [&str; 2] =
    ["the memory of the server", "what a server elsewhere would have done: every address leads to a sink"];

/// Where no system tells what a server maps: the first store alone moves the time of the file.
const STORED: Option<&str> =
    if cfg!(target_os = "linux") { None } else { Some("a store through a mapping of a file that is not the first") };

/// What before-and-after observation of a world sees.
#[must_use]
pub fn sight() -> Sight {
    let blind_to = [
        "connections, except to the listener of the case",
        "whatever lies outside the world",
        "what is made and removed again within one call",
        "the memory of the server",
    ];
    Sight {
        changes: true,
        connections: false,
        rung: "worlds",
        blind_to: blind_to.into_iter().chain(STORED).map(str::to_owned).collect(),
        why: None,
    }
}

/// The address by which a box shows the listener of a case: far from those that the sink gives to
/// names, and public, as a careful server fetches from no other.
const SHOWN_AS: &str = "1.2.4.8";

impl Rung {
    /// Where a server finds the listener of a case, and the way there out of a box.
    pub(super) fn way_to(self, listener: &Listener) -> (String, Vec<Allowed>) {
        let origin = listener.origin();
        match (self, listener.address()) {
            (Self::Box { .. }, to) => {
                let allowed = Allowed { host: SHOWN_AS.into(), port: Some(to.port()), to: Some(to) };
                (format!("http://{SHOWN_AS}:{}", to.port()), vec![allowed])
            }
            _ => (origin, Vec::new()),
        }
    }

    /// A fresh copy of a world, under observation. `allow` is what a box lets through.
    pub(super) fn watch(
        self,
        world: &World,
        listener: Option<Arc<Listener>>,
        allow: Vec<Allowed>,
    ) -> Result<Box<dyn Watch>, String> {
        let copy = world.fresh().map_err(|error| error.to_string())?;
        if self == Self::Remote {
            return Ok(Box::new(Nothing(copy)));
        }
        let copy = copy.watched();
        let looking = Looking { _lock: lock(world, &copy)?, copy, last: None, listener };
        Ok(match self {
            Self::Box { .. } | Self::Listener => Box::new(Boxed::new(looking, self, world.shown_at.as_deref(), allow)),
            Self::Worlds | Self::Remote => Box::new(looking),
        })
    }
}

/// The server's command for a copy, beside the listener of the case.
pub(super) fn target(road: &Road, copy: &Path, listener: &str) -> Target {
    ours::beside(in_world(&road.target, copy), listener)
}

/// Let another process hold the lock that a world asks for.
fn lock(world: &World, copy: &WorldCopy) -> Result<Option<Lock>, String> {
    let held = world.locked.as_ref().map(|database| {
        let mut program = Command::new(std::env::current_exe()?);
        program.arg("__hold-lock").arg(copy.path().join(database));
        Lock::held_by(program)
    });
    held.transpose().map_err(|error| format!("the database of the world can't be locked: {error}"))
}

/// A copy of a world, its last snapshot, and who may be contacted from it.
pub(super) struct Looking {
    /// Let go before the copy is removed.
    _lock: Option<Lock>,
    pub(super) copy: WorldCopy,
    last: Option<Snapshot>,
    listener: Option<Arc<Listener>>,
}

impl Looking {
    /// What is different from the last look, where processes hold files of the copy.
    pub(super) fn look_at(&mut self, held: &Held) -> Result<Vec<Effect>, String> {
        let now = Snapshot::take_held(&self.copy, self.last.as_ref(), held).map_err(|error| error.to_string())?;
        let mut effects = self.last.as_ref().map_or_else(Vec::new, |last| Snapshot::effects(last, &now));
        effects.extend(self.listener.iter().flat_map(|listener| network::effects(&listener.requests())));
        self.last = Some(now);
        Ok(effects)
    }
}

impl Watch for Looking {
    fn path(&self) -> &Path {
        self.copy.path()
    }

    fn seen(&mut self, mut target: Target) -> Result<Target, String> {
        if let Target::Stdio { env, .. } | Target::Serving { env, .. } = &mut target {
            env.push((MARK.into(), "worlds".into()));
        }
        Ok(target)
    }

    fn look(&mut self, server: &[u32]) -> Result<Vec<Effect>, String> {
        self.look_at(&Held::by(server.iter().copied()).within(self.path()))
    }
}

/// Sees nothing.
struct Nothing(WorldCopy);

impl Watch for Nothing {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn look(&mut self, _: &[u32]) -> Result<Vec<Effect>, String> {
        Ok(Vec::new())
    }
}
