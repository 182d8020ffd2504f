//! What events count for. Pure: what is there afterwards is asked of the caller.
//!
//! | events | effect |
//! |---|---|
//! | contact with an address elsewhere, question to a name server | lens `network`: bears on `openWorldHint`; alone it changes nothing |
//! | contact with another's service on this machine | lens `local`: suspected, since it may lead anywhere |
//! | signal to another's process; mount; switch of the system; host name; clock | lossy, attempts count |
//! | a name that came and went | lens `transient`: none |
//! | names that came, went or changed where nothing else compares what is there | as if compared, or suspected where that takes the content |
//! | program run, signal among its own, ring, namespaces | none: noted |
//!
//! What is suspected has grade none and a rule that begins with this word: it refutes nothing, and
//! is printed.

mod files;

use std::{collections::BTreeSet, net::SocketAddr, path::Path};

use super::{Contact, Doing, Event, Whose};
use crate::verify::{Effect, Grade};

const CONTACT: &str = "a contact alone changes nothing; what is sent is judged where it can be read";
const SERVICE: &str = "suspected: what another's service on this machine does with it is not seen";
const REFUSED: &str = "nobody serves at that port of this machine";
const OWN_SIGNAL: &str = "signals among the server's own processes";
const OWN_TRACE: &str = "a debugger of the server's own processes";
const PROGRAM: &str = "a program that is run is judged by what it does";
const NAMESPACES: &str = "what is done in namespaces of one's own stays there";
const RING: &str = "calls through a ring are not seen, only what they changed";
const DEVICE: &str = "suspected: what a device does with it is not seen";
const UNSEEN: &str = "suspected: not everything could be seen";

/// What is known about the places and addresses that events name.
pub trait Ground {
    /// How the report names a path: relative to the world if it is in one.
    fn shown(&self, path: &Path) -> String;

    /// Whether something is there now.
    fn exists(&self, path: &Path) -> bool;

    /// Whether something else compares what is there before and after, so that events need not.
    fn is_compared(&self, path: &Path) -> bool;

    /// The rule by which what happens there is bookkeeping: it is temporary, a cache.
    fn excuse(&self, path: &Path) -> Option<&'static str>;

    /// Whether an address belongs to the world that the user declared.
    fn is_declared(&self, peer: SocketAddr) -> bool;
}

/// What the events of one step count for, each once, in a stable order.
#[must_use]
pub fn effects(events: &[Event], ground: &dyn Ground) -> Vec<Effect> {
    let mut effects: BTreeSet<Effect> = events.iter().filter_map(|event| effect(&event.doing, ground)).collect();
    effects.extend(files::effects(events, ground));
    effects.into_iter().collect()
}

fn effect(doing: &Doing, ground: &dyn Ground) -> Option<Effect> {
    let lossy = |lens, place: String, what: String| Some(Effect::new(Grade::Lossy, lens, place, what));
    let excused = |lens, place: String, what: String, rule| Some(Effect::excused(lens, place, what, rule));
    let somebody = |program: &Option<String>| program.clone().unwrap_or_else(|| "nobody, or many".into());
    match doing {
        Doing::Contacts { peer, how, whose } => contact(*peer, *how, *whose).filter(|_| !ground.is_declared(*peer)),
        Doing::ContactsSocket { name, whose } => {
            (*whose != Whose::Own).then(|| Effect::excused("local", name.clone(), "socket contacted", SERVICE))
        }
        Doing::ContactsOtherwise { family } => {
            excused("network", format!("address family {family}"), "contacted".into(), CONTACT)
        }
        Doing::Signals { program, own: true, signal } => {
            excused("process", somebody(program), format!("signal {signal} sent"), OWN_SIGNAL)
        }
        Doing::Signals { program, own: false, signal } => {
            lossy("process", somebody(program), format!("signal {signal} sent"))
        }
        Doing::Traces { program, own: true } => excused("process", somebody(program), "traced".into(), OWN_TRACE),
        Doing::Traces { program, own: false } => lossy("process", somebody(program), "traced".into()),
        Doing::Executes { path } => excused("process", ground.shown(path), "run".into(), PROGRAM),
        Doing::Mounts { path } => lossy("system", ground.shown(path), "to be mounted or unmounted".into()),
        Doing::Sets { path } => lossy("system", ground.shown(path), "to be set".into()),
        Doing::ChangesSystem { what } => lossy("system", (*what).into(), "to be changed".into()),
        Doing::OpensDevice { path } => excused("system", ground.shown(path), "opened for writing".into(), DEVICE),
        Doing::EntersNamespaces => excused("system", "namespaces".into(), "entered".into(), NAMESPACES),
        Doing::SetsUpRing => excused("system", "io_uring".into(), "set up".into(), RING),
        Doing::CallsForeign => excused("unseen", "system calls".into(), "of another architecture made".into(), UNSEEN),
        Doing::Unreadable { what } => excused("unseen", format!("a call that {what}"), "not readable".into(), UNSEEN),
        Doing::Unseen { why } => excused("unseen", "system calls".into(), why.clone(), UNSEEN),
        // To serve is to wait for others; files are told below, all together.
        Doing::Binds { .. }
        | Doing::Creates { .. }
        | Doing::Opens { .. }
        | Doing::OpensUnnamed { .. }
        | Doing::Removes { .. }
        | Doing::Renames { .. }
        | Doing::Changes { .. } => None,
    }
}

fn contact(peer: SocketAddr, how: Contact, whose: Whose) -> Option<Effect> {
    let place = peer.to_string();
    // A name server on this machine only passes on what it is asked.
    if peer.port() == 53 {
        return Some(Effect::excused("network", place, "name server asked", CONTACT));
    }
    let what = match how {
        Contact::Stream => "connection",
        Contact::Datagram => "datagram",
    };
    let (lens, rule) = match whose {
        Whose::Own => return None,
        Whose::Elsewhere => ("network", CONTACT),
        Whose::Foreign => ("local", SERVICE),
        Whose::Nobody => ("local", REFUSED),
    };
    Some(Effect::excused(lens, place, what, rule))
}
