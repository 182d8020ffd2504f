use std::{net::SocketAddr, path::PathBuf, time::Instant};

/// One system call that can have an effect, as it was about to happen. Whether it succeeded shows
/// only in the state afterwards; what could not succeed, since the name was taken or missing, is no
/// event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// The process, as this system's `/proc` numbers it.
    pub process: u32,
    /// What it was about to do.
    pub doing: Doing,
}

/// What a call was about to do. Paths are those that the server's root directory has, with
/// symbolic links followed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// Make a name that was not there.
    Creates {
        /// The name.
        path: PathBuf,
        /// For what.
        what: New,
    },
    /// Open a file for writing that is there.
    Opens {
        /// The file.
        path: PathBuf,
        /// Whether that empties it.
        truncates: bool,
    },
    /// Open a file that has no name and is gone when it is closed.
    OpensUnnamed {
        /// The directory whose disk it takes room on.
        directory: PathBuf,
    },
    /// Open a device for writing; null, terminals and such are none.
    OpensDevice {
        /// Its name.
        path: PathBuf,
    },
    /// Remove a name that is there.
    Removes {
        /// The name.
        path: PathBuf,
    },
    /// Give a file or directory another name.
    Renames {
        /// The name that it had.
        from: PathBuf,
        /// The name that it gets.
        to: PathBuf,
        /// Whether that name is taken.
        replaces: bool,
    },
    /// Change a file otherwise than by writing.
    Changes {
        /// The file.
        path: PathBuf,
        /// What of it.
        part: Part,
    },
    /// Connect, or send a datagram, to another machine or to this one.
    Contacts {
        /// Where to.
        peer: SocketAddr,
        /// How.
        how: Contact,
        /// Whose service that is, on this machine.
        whose: Whose,
    },
    /// Connect, or send a datagram, to a socket with a name on this machine.
    ContactsSocket {
        /// The path, or `@` and the name of one without.
        name: String,
        /// Whose socket that is.
        whose: Whose,
    },
    /// Connect by an address family that is neither internet nor local.
    ContactsOtherwise {
        /// Its number.
        family: u16,
    },
    /// Take an internet address to serve at.
    Binds {
        /// The address.
        address: SocketAddr,
    },
    /// Send a signal.
    Signals {
        /// Name of the program that gets it; none if there is no such process, or if it is many.
        program: Option<String>,
        /// Whether the server started that process.
        own: bool,
        /// Number of the signal.
        signal: i32,
    },
    /// Control another process as a debugger does.
    Traces {
        /// Name of that program.
        program: Option<String>,
        /// Whether the server started it.
        own: bool,
    },
    /// Run a program that is there.
    Executes {
        /// Its file.
        path: PathBuf,
    },
    /// Mount or unmount something.
    Mounts {
        /// Where.
        path: PathBuf,
    },
    /// Set something by a file below `/proc` or `/sys` that isn't the process's own.
    Sets {
        /// The file.
        path: PathBuf,
    },
    /// Change something of the system as a whole.
    ChangesSystem {
        /// What.
        what: &'static str,
    },
    /// Make or enter namespaces: where later changes stay inside.
    EntersNamespaces,
    /// Set up a ring for calls that are not seen.
    SetsUpRing,
    /// Make a call of another architecture or table, which can't be read.
    CallsForeign,
    /// A call whose arguments could not be read.
    Unreadable {
        /// What it does.
        what: &'static str,
    },
    /// Something was not seen at all.
    Unseen {
        /// Why, in a few words.
        why: String,
    },
}

/// What a name is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum New {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    SymbolicLink,
    /// Another name of a file that is there.
    HardLink,
    /// A pipe, socket or device.
    Node,
    /// A message queue.
    Queue,
}

/// What of a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Permissions and flags.
    Mode,
    /// Owner or group.
    Owner,
    /// Extended attributes.
    Attribute,
    /// Times.
    Times,
    /// Size.
    Size,
}

/// How a contact is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contact {
    /// A connection.
    Stream,
    /// A datagram, or a socket that is to send them there.
    Datagram,
}

/// Whose service it is that is contacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Whose {
    /// One of the server's processes.
    Own,
    /// Another process of this machine.
    Foreign,
    /// None listens on this machine.
    Nobody,
    /// It is not on this machine.
    Elsewhere,
}
