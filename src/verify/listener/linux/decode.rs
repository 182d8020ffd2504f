//! From a waiting call to what it is about to do.

use std::path::{Path, PathBuf};

use super::{
    Doing, New, Part,
    calls::{self, Call, Flags},
    family::Family,
    filter::{ARCHITECTURE, FOREIGN, WRITES},
    place::{self, Kind, Nowhere, Place, handle},
    signal::{self, To, receiver},
    socket::{self, Use},
    sys::Notification,
    task::Task,
};

/// The two ways in which a debugger takes hold of a process that it did not start.
const ATTACH: u64 = 16;
const SEIZE: u64 = 0x4206;

/// What a call is about to do: nothing that counts, one thing, or with several datagrams more.
pub(super) fn decode(call: &Notification, task: &Task, family: &Family) -> Vec<Doing> {
    // Another architecture numbers its calls otherwise, and so does another table of this one.
    if call.architecture != ARCHITECTURE || u32::try_from(call.number).is_ok_and(|number| number >= FOREIGN) {
        return vec![Doing::CallsForeign];
    }
    let Some(kind) = calls::find(call.number) else { return vec![Doing::CallsForeign] };
    let reading = Reading { call, task, family };
    match reading.doings(kind) {
        Ok(doings) => doings,
        Err(Nowhere::Missing) => Vec::new(),
        Err(Nowhere::Unreadable) => vec![Doing::Unreadable { what: name(kind) }],
    }
}

struct Reading<'a> {
    call: &'a Notification,
    task: &'a Task,
    family: &'a Family,
}

impl Reading<'_> {
    fn argument(&self, index: usize) -> u64 {
        self.call.arguments.get(index).copied().unwrap_or_default()
    }

    fn place(&self, named: calls::Named, follow: bool) -> Result<Place, Nowhere> {
        place::find(self.task, named, &self.call.arguments, follow)
    }

    fn doings(&self, call: Call) -> Result<Vec<Doing>, Nowhere> {
        let Self { task, family, .. } = self;
        let unread = |()| Nowhere::Unreadable;
        let one = |doing: Option<Doing>| doing.into_iter().collect();
        let (first, second, third) = (self.argument(0), self.argument(1), self.argument(2));
        Ok(match call {
            Call::Connect => {
                one(socket::contact(task, family, Use::Connects, handle(first), second, low(third)).map_err(unread)?)
            }
            Call::SendTo => {
                let (address, length) = (self.argument(4), low(self.argument(5)));
                one(socket::contact(task, family, Use::Sends, handle(first), address, length).map_err(unread)?)
            }
            Call::SendMessage => socket::messages(task, family, handle(first), second, 1).map_err(unread)?,
            Call::SendMessages => socket::messages(task, family, handle(first), second, low(third)).map_err(unread)?,
            Call::Bind => one(socket::bound(task, second, low(third))),
            Call::Kill => one(signal::signal(task, family, &To::Kill(handle(first)), self.signal(1))),
            Call::KillThread { process, thread, signal } => {
                let to = To::Thread(handle(self.argument(process.unwrap_or(thread))).unsigned_abs());
                one(signal::signal(task, family, &to, self.signal(signal)))
            }
            Call::KillOpen => one(signal::signal(task, family, &To::Open(handle(first)), self.signal(1))),
            Call::Trace if matches!(first, ATTACH | SEIZE) => {
                let traced = receiver(task, family, &To::Thread(handle(second).unsigned_abs()));
                one(traced.map(|(program, own)| Doing::Traces { program, own }))
            }
            // What is done to a process that is held already, and being held by one's parent.
            Call::Trace => Vec::new(),
            Call::System(what) => vec![Doing::ChangesSystem { what }],
            Call::Namespaces => vec![Doing::EntersNamespaces],
            Call::Ring => vec![Doing::SetsUpRing],
            Call::Queue { opens } => one(self.queue(opens)?),
            file => one(self.file(file)?),
        })
    }

    fn signal(&self, index: usize) -> i32 {
        handle(self.argument(index))
    }

    fn file(&self, call: Call) -> Result<Option<Doing>, Nowhere> {
        let creates = |place: Place, what| (!place.is_there()).then_some(Doing::Creates { path: place.path, what });
        let changes = |named, part| {
            let place = self.place(named, calls::follows(self.call.number))?;
            Ok(existing(place, |path| Doing::Changes { path, part }))
        };
        match call {
            Call::Open(named, flags) => self.open(named, flags),
            Call::Directory(named) => Ok(creates(self.place(named, false)?, New::Directory)),
            Call::Node(named) => Ok(creates(self.place(named, false)?, New::Node)),
            Call::SymbolicLink(named) => Ok(creates(self.place(named, false)?, New::SymbolicLink)),
            Call::Link(to) => Ok(creates(self.place(to, false)?, New::HardLink)),
            Call::Remove(named) => Ok(existing(self.place(named, false)?, |path| Doing::Removes { path })),
            Call::Rename { from, to, flags } => self.rename(from, to, flags),
            Call::Size(named) => changes(named, Part::Size),
            Call::Mode(named) => changes(named, Part::Mode),
            Call::Owner(named) => changes(named, Part::Owner),
            Call::Times(named) => changes(named, Part::Times),
            Call::Attribute(named) => changes(named, Part::Attribute),
            // Programs are looked for by trying.
            Call::Execute(named) => {
                let place = self.place(named, true)?;
                Ok((place.is_there() && place.kind != Kind::Directory).then_some(Doing::Executes { path: place.path }))
            }
            Call::Mount(index) => {
                let path = self.task.text(self.argument(index)).ok_or(Nowhere::Unreadable)?;
                Ok(Some(Doing::Mounts { path: String::from_utf8_lossy(&path).into_owned().into() }))
            }
            _ => Ok(None),
        }
    }

    fn open(&self, named: calls::Named, flags: Flags) -> Result<Option<Doing>, Nowhere> {
        let flags = match flags {
            Flags::In(index) => handle(self.argument(index)),
            Flags::Behind(index) => handle(self.task.word(self.argument(index)).ok_or(Nowhere::Unreadable)?),
            #[cfg(target_arch = "x86_64")]
            Flags::Fixed(flags) => flags,
        };
        let has = |flag| flags & flag == flag;
        if flags & WRITES == 0 || has(libc::O_PATH) {
            return Ok(None);
        }
        let creates = has(libc::O_CREAT);
        let is_last = has(libc::O_NOFOLLOW) || (creates && has(libc::O_EXCL));
        let Place { path, kind } = self.place(named, !is_last)?;
        let writes = flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC) != 0;
        Ok(match kind {
            _ if has(libc::O_TMPFILE) => Some(Doing::OpensUnnamed { directory: path }),
            Kind::Nothing => creates.then_some(Doing::Creates { path, what: New::File }),
            Kind::Directory | Kind::Link | Kind::Harmless | Kind::Own => None,
            _ if !writes || (creates && has(libc::O_EXCL)) => None,
            Kind::Device => Some(Doing::OpensDevice { path }),
            Kind::File | Kind::Hidden => self.written(path, has(libc::O_TRUNC)),
        })
    }

    /// A file below `/proc` or `/sys` is a switch of the system, unless it is one of the server's own.
    fn written(&self, path: PathBuf, truncates: bool) -> Option<Doing> {
        if !is_switch(&path) {
            return Some(Doing::Opens { path, truncates });
        }
        let process = path.strip_prefix("/proc").ok().and_then(|path| path.iter().next()?.to_str()?.parse().ok());
        let own = process.and_then(|number| self.task.neighbour(number)).is_some_and(|at| self.family.has(at));
        (!own).then_some(Doing::Sets { path })
    }

    fn rename(&self, from: calls::Named, to: calls::Named, flags: Option<usize>) -> Result<Option<Doing>, Nowhere> {
        let (from, to) = (self.place(from, false)?, self.place(to, false)?);
        let flags = flags.map_or(0, |index| low(self.argument(index)));
        let refused = flags & u64::from(libc::RENAME_NOREPLACE) != 0 && to.is_there();
        if !from.is_there() || refused || from.path == to.path {
            return Ok(None);
        }
        // An exchange of two names loses neither.
        let replaces = to.is_there() && flags & u64::from(libc::RENAME_EXCHANGE) == 0;
        Ok(Some(Doing::Renames { from: from.path, to: to.path, replaces }))
    }

    fn queue(&self, opens: bool) -> Result<Option<Doing>, Nowhere> {
        let name = self.task.text(self.argument(0)).ok_or(Nowhere::Unreadable)?;
        let path = Path::new("/dev/mqueue").join(String::from_utf8_lossy(&name).trim_start_matches('/'));
        let creates = handle(self.argument(1)) & libc::O_CREAT != 0;
        Ok(match (opens, creates) {
            (true, true) => Some(Doing::Creates { path, what: New::Queue }),
            (true, false) => None,
            (false, _) => Some(Doing::Removes { path }),
        })
    }
}

/// Something that is there and keeps what is done to it.
fn existing(place: Place, doing: impl Fn(PathBuf) -> Doing) -> Option<Doing> {
    match place.kind {
        Kind::Nothing | Kind::Harmless | Kind::Own => None,
        _ if is_switch(&place.path) => Some(Doing::Sets { path: place.path }),
        _ => Some(doing(place.path)),
    }
}

fn is_switch(path: &Path) -> bool {
    path.starts_with("/proc") || path.starts_with("/sys")
}

/// A length is a number of four bytes, whatever stands above them.
fn low(argument: u64) -> u64 {
    argument & u64::from(u32::MAX)
}

const fn name(call: Call) -> &'static str {
    match call {
        Call::Open(..) => "opens a file for writing",
        Call::Directory(_) | Call::Node(_) | Call::Link(_) | Call::SymbolicLink(_) => "makes a name",
        Call::Remove(_) => "removes a name",
        Call::Rename { .. } => "renames",
        Call::Size(_) | Call::Mode(_) | Call::Owner(_) | Call::Times(_) | Call::Attribute(_) => "changes a file",
        Call::Execute(_) => "runs a program",
        Call::Connect | Call::Bind | Call::SendTo | Call::SendMessage | Call::SendMessages => "uses a socket",
        _ => "acts on the system",
    }
}
