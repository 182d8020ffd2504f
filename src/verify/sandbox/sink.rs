//! Where everything leads that a box sends out: answers as the world would, and notes who was meant.

mod dns;
mod talk;

use std::{
    collections::{BTreeMap, HashMap},
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6},
    os::fd::{AsFd as _, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use rustix::net::{SocketType, sockopt};
use tokio::{
    io::Interest,
    net::{TcpListener, UdpSocket},
    runtime::{Builder, Handle},
    sync::{Semaphore, oneshot},
    task,
};

use super::{Allowed, Contact, Said, sys};

/// What is kept between two looks.
const MAX_CONTACTS: usize = 10_000;
/// The most connections that are talked to at one time.
const MAX_TALKS: usize = 256;
/// The most names that get an address.
const MAX_NAMES: usize = 60_000;

/// A thread that serves the sockets of a box until it is dropped.
#[derive(Debug)]
pub(super) struct Sink {
    world: Arc<World>,
    handle: Handle,
    open: Mutex<BTreeMap<u16, Vec<task::JoinHandle<()>>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the sink pretends there is, and what it saw.
#[derive(Debug)]
struct World {
    allow: Vec<Allowed>,
    /// What this machine calls itself: no question to the world.
    own_name: String,
    names: Mutex<Names>,
    contacts: Mutex<Vec<Contact>>,
    talks: Semaphore,
}

/// Addresses that were given for names.
#[derive(Debug, Default)]
struct Names {
    addresses: HashMap<String, Ipv4Addr>,
    names: HashMap<Ipv4Addr, String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sink {
    pub(super) fn start(allow: Vec<Allowed>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let own_name = rustix::system::uname().nodename().to_string_lossy().to_lowercase();
        let world = World {
            allow,
            own_name,
            names: Mutex::default(),
            contacts: Mutex::default(),
            talks: Semaphore::new(MAX_TALKS),
        };
        let thread = std::thread::Builder::new().name("sink".into()).spawn(move || {
            let _ = runtime.block_on(stopped);
            // Not to wait for the name server of a host that may be reached.
            runtime.shutdown_background();
        })?;
        Ok(Self { world: Arc::new(world), handle, open: Mutex::default(), stop: Some(stop), thread: Some(thread) })
    }

    /// Serve a socket of the box.
    pub(super) fn add(&self, socket: OwnedFd) -> io::Result<()> {
        let kind = sockopt::socket_type(&socket)?;
        let address = SocketAddr::try_from(rustix::net::getsockname(&socket)?)?;
        let world = Arc::clone(&self.world);
        let task = if kind == SocketType::STREAM {
            self.handle.spawn(accept(std::net::TcpListener::from(socket), world))
        } else {
            self.handle.spawn(datagrams(socket, address.port(), world))
        };
        lock(&self.open).entry(address.port()).or_default().push(task);
        Ok(())
    }

    /// Do something beside, until the sink ends.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(work);
    }

    /// Close the sockets of a port, because a server of the box wants it.
    pub(super) fn release(&self, port: u16) {
        let tasks = lock(&self.open).remove(&port).unwrap_or_default();
        let (done, wait) = mpsc::channel::<()>();
        self.handle.spawn(async move {
            for task in tasks {
                task.abort();
                let _ = task.await;
            }
            drop(done);
        });
        let _ = wait.recv_timeout(Duration::from_millis(200));
    }

    pub(super) fn is_open(&self, port: u16) -> bool {
        lock(&self.open).contains_key(&port)
    }

    /// What was seen since the last look.
    pub(super) fn contacts(&self) -> Vec<Contact> {
        std::mem::take(&mut *lock(&self.world.contacts))
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl World {
    fn note(&self, contact: Contact) {
        let mut contacts = lock(&self.contacts);
        if contacts.len() < MAX_CONTACTS {
            contacts.push(contact);
        }
    }

    /// The address for a name, always the same one; none when there are too many.
    fn address_of(&self, name: &str) -> Option<Ipv4Addr> {
        let mut names = lock(&self.names);
        if let Some(address) = names.addresses.get(name) {
            return Some(*address);
        }
        let number = u32::try_from(names.addresses.len()).ok().filter(|number| (*number as usize) < MAX_NAMES)?;
        // Out of what looks like the open world: a server may refuse addresses that don't.
        let address = Ipv4Addr::from_bits(Ipv4Addr::new(1, 2, 3, 1).to_bits() + number);
        names.addresses.insert(name.into(), address);
        names.names.insert(address, name.into());
        Some(address)
    }

    fn name_of(&self, address: IpAddr) -> Option<String> {
        let IpAddr::V4(address) = address else { return None };
        lock(&self.names).names.get(&address).cloned()
    }

    /// Whether a host may be reached, by name or by address.
    fn allowed(&self, address: IpAddr, name: Option<&str>) -> Option<&Allowed> {
        let literal = address.to_string();
        self.allow.iter().find(|allowed| match name {
            Some(name) => allowed.host == name,
            None => allowed.host == literal,
        })
    }

    /// Answer a question to a name server, and note it.
    fn resolve(&self, question: &[u8], server: SocketAddr) -> Option<Vec<u8>> {
        let asked = dns::Question::read(question)?;
        let allowed = self.allow.iter().any(|allowed| allowed.host == asked.name);
        if asked.name != self.own_name && !asked.name.is_empty() {
            let said = Said::Question { record: asked.record() };
            self.note(Contact { address: server, name: Some(asked.name.clone()), said, allowed });
        }
        let address = asked.wants_ipv4().then(|| self.address_of(&asked.name)).flatten();
        Some(asked.answer(question, address))
    }
}

/// An IPv4 address as such.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

async fn accept(listener: std::net::TcpListener, world: Arc<World>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut talks = task::JoinSet::new();
    loop {
        let accepted = tokio::select! {
            Some(_) = talks.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let world = Arc::clone(&world);
                talks.spawn(async move {
                    let Ok(_permit) = world.talks.acquire().await else { return };
                    talk::talk(stream, &world).await;
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn datagrams(socket: OwnedFd, port: u16, world: Arc<World>) {
    let Ok(socket) = UdpSocket::from_std(socket.into()) else { return };
    let mut buffer = vec![0; 64 << 10];
    loop {
        let take = || sys::receive(socket.as_fd(), &mut buffer);
        let Ok(datagram) = socket.async_io(Interest::READABLE, take).await else { continue };
        let to = plain(SocketAddrV6::new(datagram.to, port, 0, 0).into());
        let bytes = buffer.get(..datagram.bytes).unwrap_or_default();
        let answer = (port == 53).then(|| world.resolve(bytes, to)).flatten();
        if let Some(mut answer) = answer {
            let _ = sys::answer(socket.as_fd(), &datagram, &mut answer);
        } else {
            let said = Said::Datagram { bytes: bytes.len() };
            world.note(Contact { address: to, name: world.name_of(to.ip()), said, allowed: false });
        }
    }
}
