//! The rungs of the ladder: how a server is started, and what is seen of it.

use std::{path::Path, process::Command, str::FromStr, sync::Arc};

use super::roads::Road;
use crate::{
    verify::{
        Effect, Sight, Snapshot, Watch, World, WorldCopy, in_world,
        lens::network::{self, Listener},
        ours,
        world::databases::Lock,
    },
    wire::Target,
};

/// How much is seen of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rung {
    /// Copies of declared worlds, before and after.
    Worlds,
    /// A server elsewhere: its words alone.
    Remote,
}

impl FromStr for Rung {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "worlds" => Ok(Self::Worlds),
            "box" | "listener" => Err("this version of candor does not reach that rung; `worlds` is there".into()),
            _ => Err("the rungs are box, listener, worlds".into()),
        }
    }
}

impl Rung {
    /// What it sees, and what it is blind to.
    pub(super) fn sight(self) -> Sight {
        match self {
            Self::Worlds => sight(),
            Self::Remote => Sight {
                changes: false,
                connections: false,
                rung: "remote",
                blind_to: vec!["whatever a call changes: the server is elsewhere"],
            },
        }
    }

    /// A fresh copy of a world, under observation.
    pub(super) fn watch(self, world: &World, listener: Option<Arc<Listener>>) -> Result<Box<dyn Watch>, String> {
        let copy = world.fresh().map_err(|error| error.to_string())?.watched();
        Ok(match self {
            Self::Worlds => Box::new(Looking { _lock: lock(world, &copy)?, copy, last: None, listener }),
            Self::Remote => Box::new(Nothing(copy)),
        })
    }

    /// How a server is started that works in a copy and may reach an origin.
    #[expect(clippy::unused_self, reason = "a box is one way of starting it")]
    pub(super) fn target(self, road: &Road, copy: &Path, listener: &str) -> Target {
        ours::beside(in_world(&road.target, copy), listener)
    }
}

/// What before-and-after observation of a world sees.
#[must_use]
pub fn sight() -> Sight {
    Sight {
        changes: true,
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
struct Looking {
    /// Let go before the copy is removed.
    _lock: Option<Lock>,
    copy: WorldCopy,
    last: Option<Snapshot>,
    listener: Option<Arc<Listener>>,
}

impl Watch for Looking {
    fn path(&self) -> &Path {
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

/// Sees nothing.
struct Nothing(WorldCopy);

impl Watch for Nothing {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn look(&mut self) -> Result<Vec<Effect>, String> {
        Ok(Vec::new())
    }
}
