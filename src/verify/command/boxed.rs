//! What is seen of a server in a box, or under the listener of its system calls.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    thread::JoinHandle,
    time::Duration,
};

use super::rung::{Looking, Rung};
use crate::{
    verify::{
        Effect, Held, Watch,
        listener::{self, Door, Ground, Listener, Rings},
        sandbox::{Allowed, Contact, Place, Said, Sandbox, Spec, scrubbed},
    },
    wire::Target,
};

/// How long a server may take to come under its listener.
const COMES: Duration = Duration::from_secs(20);

/// Where a server in a box listens that speaks HTTP. The network is its own, so nobody is there.
pub(super) const SERVED: u16 = 8000;

const CONTACT: &str = "a contact alone changes nothing; what is sent is judged where it can be read";
const SENT: &str = "suspected: what the other side would have done with it is not seen";
const LOCAL: &str = "suspected: what another's service on this machine does with it is not seen";

/// How a server is started: what a box or a listener puts something else in the place of.
struct Server<'a> {
    command: &'a mut Vec<String>,
    env: &'a mut Vec<(String, String)>,
    dir: &'a mut Option<PathBuf>,
}

/// A copy of a world with a server in a box, or under the listener alone.
pub(super) struct Boxed {
    /// Ends the server before the copy goes.
    sandbox: Option<Arc<Sandbox>>,
    comes: Option<JoinHandle<()>>,
    listener: Arc<OnceLock<Listener>>,
    looking: Looking,
    rung: Rung,
    /// Where the server finds the copy.
    at: PathBuf,
    allow: Vec<Allowed>,
}

impl Boxed {
    /// `at` is where a box shows the copy, if not where it is.
    pub(super) fn new(looking: Looking, rung: Rung, at: Option<&Path>, allow: Vec<Allowed>) -> Self {
        let at = at.filter(|_| rung != Rung::Listener).unwrap_or_else(|| looking.copy.path()).to_owned();
        Self { sandbox: None, comes: None, listener: Arc::default(), looking, rung, at, allow }
    }

    /// Let a thread of its own wait for the listener: until that is there, the server waits.
    fn attend(&mut self, come: impl FnOnce() -> Option<Listener> + Send + 'static) -> Result<(), String> {
        let place = Arc::clone(&self.listener);
        let wait = move || {
            if let Some(listener) = come() {
                let _ = place.set(listener);
            }
        };
        let thread = std::thread::Builder::new().name("comes".into()).spawn(wait);
        self.comes = Some(thread.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Let the server start in a box; returns where it is reached if it serves at a port.
    fn in_box(&mut self, server: &mut Server<'_>, port: Option<u16>) -> Result<Option<PathBuf>, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut variables = scrubbed(std::env::vars());
        variables.append(server.env);
        variables.push((listener::MARK.into(), "box".into()));
        let spec = Spec {
            command: std::mem::take(server.command),
            env: variables,
            dir: match server.dir.take() {
                Some(dir) => dir,
                None => std::env::current_dir().map_err(|error| error.to_string())?,
            },
            worlds: vec![Place { from: self.looking.copy.path().into(), at: self.at.clone() }],
            listener: self.rung == Rung::Box { listener: true },
            allow: self.allow.clone(),
            serves: port,
            ..Spec::default()
        };
        let listens = spec.listener;
        let sandbox = Arc::new(Sandbox::prepare(&program, spec).map_err(|error| error.to_string())?);
        *server.command = sandbox.command();
        if listens {
            let sandbox = Arc::downgrade(&sandbox);
            self.attend(move || {
                let waiting = sandbox.upgrade()?.listener(COMES)?;
                Listener::new(waiting, Rings::Allowed).ok()
            })?;
        }
        let socket = sandbox.served();
        self.sandbox = Some(sandbox);
        Ok(socket)
    }

    fn under_listener(&mut self, server: &mut Server<'_>) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let door = Door::open().map_err(|error| format!("no listener: {error}"))?;
        *server.command = door.command(&program, server.command);
        self.attend(move || door.wait(COMES, Rings::Refused).ok())
    }
}

impl Watch for Boxed {
    fn path(&self) -> &Path {
        &self.at
    }

    fn seen(&mut self, mut target: Target) -> Result<Target, String> {
        let boxed = matches!(self.rung, Rung::Box { .. });
        match &mut target {
            Target::Stdio { command, env, dir } if boxed => {
                self.in_box(&mut Server { command, env, dir }, None)?;
            }
            Target::Serving { command, env, dir, socket, .. } if boxed => {
                *socket = self.in_box(&mut Server { command, env, dir }, Some(SERVED))?;
            }
            Target::Stdio { command, env, dir } | Target::Serving { command, env, dir, .. } => {
                self.under_listener(&mut Server { command, env, dir })?;
            }
            Target::Http { .. } => {}
        }
        Ok(target)
    }

    fn sees_connections(&self) -> bool {
        self.sandbox.is_some() || self.comes.is_some()
    }

    fn look(&mut self, server: &[u32]) -> Result<Vec<Effect>, String> {
        let held = match &self.sandbox {
            Some(sandbox) => sandbox.held(),
            None => Held::by(server.iter().copied()),
        };
        let mut effects = self.looking.look_at(&held.within(&self.at))?;
        if let Some(sandbox) = &self.sandbox {
            if let Some(why) = sandbox.exceeded() {
                return Err(format!("the server was ended: {why}"));
            }
            if let Some(why) = sandbox.refused() {
                return Err(format!("no box: {why}"));
            }
            effects.extend(sandbox.changes().map_err(|error| error.to_string())?);
            effects.extend(sandbox.contacts().iter().filter_map(contact));
        }
        if let Some(listener) = self.listener.get() {
            effects.extend(listener::effects(&listener.take(), self));
        }
        Ok(effects)
    }
}

impl Drop for Boxed {
    fn drop(&mut self) {
        // With the box ends what the thread waits for.
        if let Some(sandbox) = self.sandbox.take() {
            sandbox.kill();
        }
        if let Some(thread) = self.comes.take() {
            let _ = thread.join();
        }
    }
}

impl Ground for Boxed {
    fn shown(&self, path: &Path) -> String {
        let temporary = self.sandbox.as_ref().map(|sandbox| sandbox.temporary());
        let in_temporary = temporary.and_then(|dir| Some(Path::new("$TMPDIR").join(path.strip_prefix(dir).ok()?)));
        match (path.strip_prefix(&self.at), in_temporary) {
            (Ok(inside), _) if inside.as_os_str().is_empty() => ".".into(),
            (Ok(inside), _) => inside.display().to_string(),
            (_, Some(inside)) => inside.display().to_string(),
            _ => path.display().to_string(),
        }
    }

    fn exists(&self, path: &Path) -> bool {
        let inside = path.strip_prefix(&self.at).map(|inside| self.looking.copy.path().join(inside));
        let place = match (inside, &self.sandbox) {
            (Ok(inside), _) => Some(inside),
            (_, Some(sandbox)) => sandbox.root().map(|root| root.join(path.strip_prefix("/").unwrap_or(path))),
            (_, None) => Some(path.to_owned()),
        };
        place.is_some_and(|place| place.symlink_metadata().is_ok())
    }

    fn is_compared(&self, path: &Path) -> bool {
        let unseen = ["/proc", "/sys", "/dev"].iter().any(|dir| path.starts_with(dir)) && !path.starts_with("/dev/shm");
        path.starts_with(&self.at) || (self.sandbox.is_some() && !unseen)
    }

    fn excuse(&self, _: &Path) -> Option<&'static str> {
        None // in a box all is compared, and without one no place is thrown away
    }

    fn is_declared(&self, peer: SocketAddr) -> bool {
        self.allow.iter().any(|allowed| allowed.host.parse() == Ok(peer.ip()))
    }
}

/// What reached the sink counts for.
fn contact(contact: &Contact) -> Option<Effect> {
    if contact.allowed {
        return None;
    }
    let place = contact.name.clone().unwrap_or_else(|| contact.address.to_string());
    let what = contact.to_string();
    let sends = |method: &str| !["GET", "HEAD", "OPTIONS", "TRACE"].contains(&method);
    Some(match &contact.said {
        _ if contact.is_local() => Effect::excused("local", place, what, LOCAL),
        Said::Request { method, .. } if sends(method) => Effect::excused("network", place, what, SENT),
        _ => Effect::excused("network", place, what, CONTACT),
    })
}
