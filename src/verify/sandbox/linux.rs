//! The owner's side of a box.

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use super::{
    Contact, Rung, SandboxError, Spec, WORD, control, keeper::Keeper, places, processes, served::Served, sink::Sink,
    spec::Orders,
};
use crate::verify::{Effect, Held, world::Folder};

/// The file system that nothing can be written above.
const OVERLAY: u64 = 0x794c_7630;
/// How long a box may take to stand.
const BUILT: Duration = Duration::from_secs(20);

/// A box: built when its [`command`](Self::command) is run, gone with everything in it when this is
/// dropped.
#[derive(Debug)]
pub struct Sandbox {
    program: PathBuf,
    keeper: Arc<Keeper>,
    thread: Option<JoinHandle<()>>,
    served: Option<Served>,
    /// Last: removed when nothing uses it any more.
    base: Folder,
}

impl Sandbox {
    /// Get everything ready outside. `program` is the file of this very program, which becomes the
    /// box when it is run.
    ///
    /// # Errors
    ///
    /// If a world lies where no box can show it, or if there is no place for the changes.
    pub fn prepare(program: &Path, spec: Spec) -> Result<Self, SandboxError> {
        let base = base()?;
        spec.check(base.path())?;
        let orders = Orders { base: base.path().into(), spec };
        let text = serde_json::to_vec(&orders).map_err(io::Error::from)?;
        fs::write(base.path().join("orders"), text)?;
        let door = control::open(base.path())?;
        let sink = Sink::start(orders.spec.allow.clone())?;
        let keeper = Arc::new(Keeper::new(orders.base, orders.spec, sink));
        let serve = |port| Served::start(base.path(), port, &keeper);
        let served = keeper.spec.serves.map(serve).transpose()?;
        let thread = {
            let keeper = Arc::clone(&keeper);
            std::thread::Builder::new().name("box".into()).spawn(move || keeper.run(&door))?
        };
        Ok(Self { program: program.into(), keeper, thread: Some(thread), served, base })
    }

    /// The command that builds the box and starts the server in it, once. Its standard streams are
    /// the server's, and so is its exit status; 125 if there is no box.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        let orders = self.base.path().join("orders");
        vec![self.program.to_string_lossy().into(), WORD.into(), orders.to_string_lossy().into()]
    }

    /// Wait until the box stands; the server starts then.
    ///
    /// # Errors
    ///
    /// Why it doesn't.
    pub fn wait(&self, most: Duration) -> Result<(), SandboxError> {
        let known = self.keeper.wait(most, |known| known.took.is_some() || known.refused.is_some() || known.over);
        match &known.refused {
            Some(why) => Err(SandboxError::Refused(why.clone())),
            None if known.took.is_some() => Ok(()),
            None => Err(SandboxError::Refused(format!("it does not stand after {most:?}"))),
        }
    }

    /// How long it took to build; none if it doesn't stand.
    #[must_use]
    pub fn took(&self) -> Option<Duration> {
        self.keeper.known().took
    }

    /// What changed outside of the worlds since the last look, or since the server started. Places
    /// are absolute.
    ///
    /// # Errors
    ///
    /// If there is no box, or if its layers cannot be read.
    pub fn changes(&self) -> Result<Vec<Effect>, SandboxError> {
        let held = self.held();
        let mut known = self.keeper.known();
        let changes = known.changes.as_mut().ok_or_else(|| SandboxError::Refused("it does not stand".into()))?;
        Ok(changes.look(&held)?)
    }

    /// What the processes of the box hold so that they can write to it. Paths are as in the box.
    #[must_use]
    pub fn held(&self) -> Held {
        Held::by(self.processes().into_iter().map(i32::cast_unsigned))
    }

    /// The processes in the box, as this system numbers them, without those of the box itself.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        let first = self.keeper.known().first.as_ref().map(|(id, _)| *id);
        first.map(|first| processes::tree(first).into_iter().skip(1).collect()).unwrap_or_default()
    }

    /// The root directory of the box, as this system can look into it; none if there is no box.
    #[must_use]
    pub fn root(&self) -> Option<PathBuf> {
        let first = self.keeper.known().first.as_ref().map(|(id, _)| *id)?;
        Some(format!("/proc/{first}/root").into())
    }

    /// What the server tried to reach since the last look.
    #[must_use]
    pub fn contacts(&self) -> Vec<Contact> {
        self.keeper.sink.contacts()
    }

    /// Have connections and datagrams to a port answered as those to 53, 80 and 443 are. Returns
    /// whether they will be.
    #[must_use]
    pub fn open_port(&self, port: u16) -> bool {
        self.keeper.open_port(port)
    }

    /// Let the server have a port for itself.
    pub fn release_port(&self, port: u16) {
        self.keeper.sink.release(port);
    }

    /// The listener of the server's system calls, if the spec asks for one; to be taken once, and
    /// answered at once: the server waits. None if it doesn't come within that time.
    #[must_use]
    pub fn listener(&self, most: Duration) -> Option<OwnedFd> {
        let mut known =
            self.keeper.wait(most, |known| known.listener.is_some() || known.refused.is_some() || known.over);
        known.listener.take()
    }

    /// The server's directory for temporary files, as it sees it.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        places::temporary(self.base.path())
    }

    /// A Unix socket of this process by which the port is reached at which the server serves; none
    /// if the spec names no port.
    #[must_use]
    pub fn served(&self) -> Option<PathBuf> {
        self.served.as_ref().map(Served::path)
    }

    /// What of the box is not as it should be: places that could not be made writable, say.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.keeper.known().problems.clone()
    }

    /// Why the box was killed, if it used too much.
    #[must_use]
    pub fn exceeded(&self) -> Option<String> {
        self.keeper.known().exceeded.clone()
    }

    /// Why there is no box, or no server in it.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        self.keeper.known().refused.clone()
    }

    /// End everything in the box, at once.
    pub fn kill(&self) {
        self.keeper.kill();
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.keeper.kill();
        self.keeper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // Told of too late to be killed above.
        self.keeper.kill();
    }
}

/// A directory for the changes, on a disk that takes them.
fn base() -> Result<Folder, SandboxError> {
    let mut why = Vec::new();
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let places = [std::env::temp_dir(), "/var/tmp".into(), "/dev/shm".into()];
    for place in places.into_iter().chain(own) {
        match rustix::fs::statfs(&place) {
            Ok(disk) if u64::try_from(disk.f_type).is_ok_and(|kind| kind == OVERLAY) => {
                why.push(format!("`{}` is an overlay itself", place.display()));
            }
            Ok(_) => match Folder::within(&place, "candor-box-") {
                Ok(folder) => return Ok(folder),
                Err(error) => why.push(format!("`{}`: {error}", place.display())),
            },
            Err(error) => why.push(format!("`{}`: {error}", place.display())),
        }
    }
    Err(SandboxError::NoPlace(why.join("; ")))
}

/// Find out, by building one, whether this system lets us have a box, and a listener in it.
///
/// # Errors
///
/// Why not.
pub fn probe(program: &Path) -> Result<Rung, SandboxError> {
    let attempt = |listener| {
        let command = vec!["true".to_owned()];
        let env = super::scrubbed(std::env::vars());
        let sandbox = Sandbox::prepare(program, Spec { command, env, dir: "/".into(), listener, ..Spec::default() })?;
        let words = sandbox.command();
        let (name, arguments) = words.split_first().map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
        let mut command = Command::new(name);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let stands = sandbox.wait(BUILT);
        let listens = listener && stands.is_ok() && sandbox.listener(BUILT).is_some();
        let _ = child.kill();
        let _ = child.wait();
        stands.map(|()| listens)
    };
    let listens = attempt(true)?;
    Ok(if listens { Rung::BoxAndListener } else { Rung::Box })
}
