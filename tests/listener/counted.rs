//! What events count for, without any process.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Instant,
};

use candor::verify::{
    Effect, Grade,
    listener::{self, Contact, Doing, Event, New, Part, Whose, effects},
};

/// Everything below `/world` is compared, and what is below `/cache` is a cache.
#[derive(Default)]
struct Ground {
    there: BTreeSet<PathBuf>,
    declared: Option<SocketAddr>,
}

impl listener::Ground for Ground {
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix("/world").unwrap_or(path).display().to_string()
    }

    fn exists(&self, path: &Path) -> bool {
        self.there.contains(path)
    }

    fn is_compared(&self, path: &Path) -> bool {
        path.starts_with("/world")
    }

    fn excuse(&self, path: &Path) -> Option<&'static str> {
        path.starts_with("/cache").then_some("a cache")
    }

    fn is_declared(&self, peer: SocketAddr) -> bool {
        self.declared == Some(peer)
    }
}

fn counted(doings: &[Doing], there: &[&str]) -> Vec<Effect> {
    let event = |doing: &Doing| Event { at: Instant::now(), process: 1, doing: doing.clone() };
    let events: Vec<Event> = doings.iter().map(event).collect();
    effects(&events, &Ground { there: there.iter().map(Into::into).collect(), declared: None })
}

/// Grade, lens, place, and the words.
fn told(doings: &[Doing], there: &[&str]) -> Vec<(Grade, &'static str, String, String)> {
    counted(doings, there).into_iter().map(|effect| (effect.grade, effect.lens, effect.place, effect.what)).collect()
}

fn creates(path: &str) -> Doing {
    Doing::Creates { path: path.into(), what: New::File }
}

fn removes(path: &str) -> Doing {
    Doing::Removes { path: path.into() }
}

fn renames(from: &str, to: &str, replaces: bool) -> Doing {
    Doing::Renames { from: from.into(), to: to.into(), replaces }
}

fn contacts(peer: &str, how: Contact, whose: Whose) -> Doing {
    Doing::Contacts { peer: peer.parse().unwrap(), how, whose }
}

#[test]
fn a_contact_elsewhere_bears_on_the_open_world_and_changes_nothing() {
    for (doing, place) in [
        (contacts("192.0.2.7:9999", Contact::Stream, Whose::Elsewhere), "192.0.2.7:9999"),
        (contacts("192.0.2.8:514", Contact::Datagram, Whose::Elsewhere), "192.0.2.8:514"),
        (contacts("127.0.0.53:53", Contact::Datagram, Whose::Foreign), "127.0.0.53:53"),
        (contacts("127.0.0.1:53", Contact::Datagram, Whose::Nobody), "127.0.0.1:53"),
        (Doing::ContactsOtherwise { family: 40 }, "address family 40"),
    ] {
        let effects = counted(std::slice::from_ref(&doing), &[]);
        let [Effect { grade: Grade::None, lens: "network", place: at, excuse: Some(_), .. }] = effects.as_slice()
        else {
            panic!("{doing:?}: {effects:?}")
        };
        assert_eq!(at, place);
    }
}

#[test]
fn services_of_this_machine_are_suspected_and_ones_own_are_nothing() {
    let suspected = |doing: Doing| {
        let effects = counted(std::slice::from_ref(&doing), &[]);
        let [effect] = effects.as_slice() else { panic!("{doing:?}: {effects:?}") };
        assert_eq!((effect.grade, effect.lens), (Grade::None, "local"), "{doing:?}");
        effect.excuse.unwrap().starts_with("suspected")
    };
    assert!(suspected(contacts("127.0.0.1:80", Contact::Stream, Whose::Foreign)));
    assert!(suspected(Doing::ContactsSocket { name: "/run/docker.sock".into(), whose: Whose::Foreign }));
    assert!(!suspected(contacts("127.0.0.1:80", Contact::Stream, Whose::Nobody)));
    let own = [
        contacts("127.0.0.1:80", Contact::Stream, Whose::Own),
        Doing::ContactsSocket { name: "/own".into(), whose: Whose::Own },
        Doing::Binds { address: "127.0.0.1:80".parse().unwrap() },
    ];
    assert_eq!(counted(&own, &[]), []);
}

#[test]
fn a_declared_address_is_part_of_the_world() {
    let peer: SocketAddr = "192.0.2.7:443".parse().unwrap();
    let doing = Doing::Contacts { peer, how: Contact::Stream, whose: Whose::Elsewhere };
    let events = [Event { at: Instant::now(), process: 1, doing }];
    assert_eq!(effects(&events, &Ground { declared: Some(peer), ..Ground::default() }), []);
}

#[test]
fn what_reaches_over_the_world_is_lossy_even_as_an_attempt() {
    for doing in [
        Doing::Signals { program: Some("init".into()), own: false, signal: 15 },
        Doing::Signals { program: None, own: false, signal: 9 },
        Doing::Traces { program: None, own: false },
        Doing::Mounts { path: "/mnt".into() },
        Doing::Sets { path: "/proc/sys/kernel/hostname".into() },
        Doing::ChangesSystem { what: "the clock" },
    ] {
        let effects = counted(std::slice::from_ref(&doing), &[]);
        assert!(matches!(effects.as_slice(), [Effect { grade: Grade::Lossy, .. }]), "{doing:?}: {effects:?}");
    }
}

#[test]
fn what_is_only_noted_has_a_rule() {
    for doing in [
        Doing::Signals { program: Some("git".into()), own: true, signal: 15 },
        Doing::Traces { program: None, own: true },
        Doing::Executes { path: "/usr/bin/git".into() },
        Doing::EntersNamespaces,
        Doing::SetsUpRing,
        Doing::OpensDevice { path: "/dev/kvm".into() },
        Doing::OpensUnnamed { directory: "/world".into() },
        Doing::CallsForeign,
        Doing::Unreadable { what: "renames" },
        Doing::Unseen { why: "3 more".into() },
    ] {
        let effects = counted(std::slice::from_ref(&doing), &[]);
        let excused = matches!(effects.as_slice(), [Effect { grade: Grade::None, excuse: Some(_), .. }]);
        assert!(excused, "{doing:?}: {effects:?}");
    }
}

#[test]
fn what_came_and_went_is_told_once_by_its_directory() {
    let transient = |doings: &[Doing], place: &str, what: &str| {
        assert_eq!(told(doings, &["/world"]), [(Grade::None, "transient", place.into(), what.into())], "{doings:?}");
    };
    transient(&[creates("/world/a/lock"), removes("/world/a/lock")], "a", "`lock` came and went");
    transient(&[creates("/world/1"), removes("/world/1"), creates("/world/2")], "", "2 names came and went");
    let dir = Doing::Creates { path: "/world/dir".into(), what: New::Directory };
    transient(&[dir, creates("/world/dir/x"), creates("/world/dir/y")], "", "`dir` came and went");
    transient(&[creates("/tmp/a"), renames("/tmp/a", "/tmp/b", false), removes("/tmp/b")], "/tmp", "`b` came and went");
    transient(&[creates("/world/a"), creates("/world/a"), removes("/world/a")], "", "`a` came and went");
}

#[test]
fn what_is_compared_is_left_to_the_comparison() {
    let doings = [
        creates("/world/new"),
        removes("/world/gone"),
        renames("/world/a", "/world/b", true),
        Doing::Opens { path: "/world/c".into(), truncates: true },
        Doing::Changes { path: "/world/c".into(), part: Part::Mode },
    ];
    assert_eq!(told(&doings, &["/world/new", "/world/b", "/world/c"]), []);
}

#[test]
fn what_nobody_compares_is_told_from_the_names() {
    use Grade::{Additive, Lossy, None, Recoverable};
    let opens = |truncates| Doing::Opens { path: "/etc/x".into(), truncates };
    let changes = |part| Doing::Changes { path: "/etc/x".into(), part };
    for (doings, there, grade, place, what) in [
        (vec![creates("/etc/new")], vec!["/etc/new"], Additive, "/etc/new", "created"),
        (vec![creates("/etc/new"), opens(false)], vec!["/etc/new", "/etc/x"], None, "/etc/x", "opened for writing"),
        (vec![creates("/etc/d"), creates("/etc/d/e")], vec!["/etc/d", "/etc/d/e"], Additive, "/etc/d", "created"),
        (vec![removes("/etc/x")], vec![], Lossy, "/etc/x", "removed"),
        (vec![removes("/etc/x"), creates("/etc/x")], vec!["/etc/x"], Lossy, "/etc/x", "removed and made anew"),
        (vec![renames("/etc/x", "/etc/y", false)], vec!["/etc/y"], Recoverable, "/etc/x", "renamed to /etc/y"),
        (vec![renames("/etc/x", "/etc/y", true)], vec!["/etc/y"], Lossy, "/etc/y", "replaced"),
        (vec![creates("/etc/t"), renames("/etc/t", "/etc/y", true)], vec!["/etc/y"], Lossy, "/etc/y", "replaced"),
        (vec![creates("/etc/t"), renames("/etc/t", "/etc/y", false)], vec!["/etc/y"], Additive, "/etc/y", "created"),
        (vec![opens(true)], vec!["/etc/x"], Lossy, "/etc/x", "emptied to be written"),
        (vec![changes(Part::Times)], vec!["/etc/x"], None, "/etc/x", "times set"),
        (vec![changes(Part::Mode)], vec!["/etc/x"], None, "/etc/x", "mode set"),
        (vec![creates("/cache/new")], vec!["/cache/new"], None, "/cache/new", "created"),
    ] {
        let seen = told(&doings, &there);
        let counts: Vec<_> = seen.iter().filter(|effect| effect.2 == place).collect();
        assert_eq!(counts, [&(grade, "files", place.to_owned(), what.to_owned())], "{doings:?}: {seen:?}");
    }
}

#[test]
fn what_failed_counts_for_nothing_where_it_left_no_trace() {
    for doings in
        [vec![removes("/etc/x")], vec![renames("/etc/x", "/etc/y", false)], vec![renames("/etc/x", "/etc/y", true)]]
    {
        assert_eq!(told(&doings, &["/etc/x", "/etc/y"]), [], "{doings:?}");
    }
}

#[test]
fn the_same_effect_is_told_once() {
    let contact = contacts("192.0.2.7:9999", Contact::Stream, Whose::Elsewhere);
    assert_eq!(counted(&[contact.clone(), contact], &[]).len(), 1);
}
