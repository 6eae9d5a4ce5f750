//! Servers that a command is connected to and that are no part of it: what they do is not recorded, and a limit on
//! the command does not hold them.
//!
//! Looks at the sockets of all descendants, every 20 ms: by TCP on this machine, and by connected Unix sockets. A
//! connection that begins and ends in between is missed, and a server in another network namespace. Each Unix
//! socket is open here for some microseconds once. Cost: some tens of microseconds a process and look, ten
//! milliseconds a new connection by TCP, and at most a fiftieth of a processor.

mod tables;
mod work;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use tables::{Socket, Tables};
use work::Work;

use crate::sys::{process, socket};
use crate::trace::Peer;

/// The least time between two looks, and a longer one: this many times the processor time of a look.
const EVERY_NS: u64 = 20_000_000;
const REST: u64 = 50;
/// What is not connected after this many looks counts as no client.
const LOOKS_MAX: u8 = 8;

/// A descriptor of a process that is a socket.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    pid: i32,
    number: i32,
    inode: u64,
}

/// A server that was found.
#[derive(Debug)]
struct Server {
    address: String,
    name: String,
    pid: Option<i32>,
    work: Option<Work>,
}

/// The watch for them.
#[derive(Debug, Default)]
pub(super) struct Peers {
    is_on: bool,
    due_ns: u64,
    /// Inodes of sockets that need no other look.
    settled: HashSet<u64>,
    /// How often others were looked at.
    looks: HashMap<u64, u8>,
    servers: Vec<Server>,
}

impl Peers {
    /// A command begins. What it inherits is ours.
    pub(super) fn start(&mut self) {
        self.is_on = true;
        let ours = i32::try_from(std::process::id()).unwrap_or(-1);
        self.settled.extend(sockets(ours).map(|socket| socket.inode));
    }

    /// Looks, if it is time to.
    pub(super) fn look(&mut self, supervisor: i32, now_ns: u64) {
        if !self.is_on || now_ns < self.due_ns {
            return;
        }
        let begun_ns = process::thread_time_ns();
        let command = process::descendants(&[supervisor]);
        let others = command.iter().copied().filter(|&pid| pid != supervisor);
        let mut new: Vec<Descriptor> = others.flat_map(sockets).collect();
        new.retain(|socket| !self.settled.contains(&socket.inode));
        if !new.is_empty() {
            self.meet(&new, &command);
        }
        self.measure();
        let took_ns = process::thread_time_ns().saturating_sub(begun_ns);
        self.due_ns = now_ns + EVERY_NS.max(took_ns.saturating_mul(REST));
    }

    /// Those until now, the one that did most first.
    pub(super) fn found(&mut self) -> Vec<Peer> {
        self.measure();
        let mut found: Vec<Peer> = self.servers.drain(..).map(Server::into_peer).collect();
        found.sort_by_key(|peer| std::cmp::Reverse(peer.cpu_ns));
        found
    }

    fn measure(&mut self) {
        self.servers.iter_mut().filter_map(|server| server.work.as_mut()).for_each(Work::look);
    }

    /// Takes in sockets that were not met before.
    fn meet(&mut self, new: &[Descriptor], command: &[i32]) {
        let mut namespaces: HashMap<Option<PathBuf>, Vec<&Descriptor>> = HashMap::new();
        for descriptor in new {
            let namespace = fs::read_link(format!("/proc/{}/ns/net", descriptor.pid)).ok();
            namespaces.entry(namespace).or_default().push(descriptor);
        }
        for descriptors in namespaces.values() {
            let inodes: Vec<u64> = descriptors.iter().map(|socket| socket.inode).collect();
            let tables = Tables::of(descriptors[0].pid, &inodes);
            for descriptor in descriptors {
                self.meet_one(descriptor, &tables, command);
            }
        }
    }

    fn meet_one(&mut self, descriptor: &Descriptor, tables: &Tables, command: &[i32]) {
        let inode = descriptor.inode;
        let Some(socket) = tables.socket(inode) else {
            // It may be connected later, or never.
            let looks = self.looks.entry(inode).or_default();
            *looks += 1;
            if *looks == LOOKS_MAX {
                self.looks.remove(&inode);
                self.settled.insert(inode);
            }
            return;
        };
        self.looks.remove(&inode);
        self.settled.insert(inode);
        let Some((address, pid)) = self.server_of(descriptor, socket, tables) else { return };
        let is_ours = |pid: i32| command.contains(&pid) || is_this_process(pid);
        if !pid.is_some_and(is_ours) {
            self.add(address, pid);
        }
    }

    /// Where the other end listens, and its process; nothing if it is not on this machine, or was found before.
    fn server_of(
        &self,
        descriptor: &Descriptor,
        socket: &Socket,
        tables: &Tables,
    ) -> Option<(String, Option<i32>)> {
        let is_new = |address: &str| !self.servers.iter().any(|server| server.address == address);
        match *socket {
            Socket::Tcp { local, remote } => {
                let address = remote.to_string();
                let listener = tables.listener(local, remote).filter(|_| is_new(&address))?;
                Some((address, holder(listener)))
            }
            Socket::Unix => {
                let end = socket::other_end(descriptor.pid, descriptor.number).ok()?;
                if end.name.is_empty() || !is_new(&end.name) {
                    return None;
                }
                // The first process may listen for those that it starts as they are needed.
                let holds = || tables.unix_listener(&end.name).and_then(holder);
                Some((end.name.clone(), end.pid.filter(|&pid| pid != 1).or_else(holds)))
            }
        }
    }

    fn add(&mut self, address: String, pid: Option<i32>) {
        let name = pid.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        let name = name.unwrap_or_default().trim_end().to_owned();
        if pid.is_none() || self.servers.iter().all(|server| server.pid != pid) {
            self.servers.push(Server { address, name, pid, work: pid.map(Work::of) });
        }
    }
}

impl Server {
    fn into_peer(self) -> Peer {
        Peer {
            pid: self.pid.and_then(|pid| pid.try_into().ok()),
            name: self.name,
            address: self.address,
            cpu_ns: self.work.map(|work| work.ns()),
        }
    }
}

fn is_this_process(pid: i32) -> bool {
    u32::try_from(pid).is_ok_and(|pid| pid == std::process::id())
}

/// The sockets that a process has open, as far as we may see them.
fn sockets(pid: i32) -> impl Iterator<Item = Descriptor> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    files.filter_map(move |file| {
        let number = file.file_name().to_str()?.parse().ok()?;
        let inode = inode(fs::read_link(file.path()).ok()?.to_str()?)?;
        Some(Descriptor { pid, number, inode })
    })
}

fn inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The process that has a socket open: the oldest of several, but not the first of the machine, which may
/// listen for others.
fn holder(wanted: u64) -> Option<i32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|&pid| pid != 1)
        .filter(|&pid| sockets(pid).any(|socket| socket.inode == wanted))
        .min_by_key(|&pid| process::start_ticks(pid))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_socket_is_known_by_its_link() {
        assert_eq!(inode("socket:[123]"), Some(123));
        assert_eq!(inode("pipe:[123]"), None);
        assert_eq!(inode("/tmp/socket:[1]"), None);
    }

    #[test]
    fn the_listener_behind_a_connection_is_held_by_its_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let ours = i32::try_from(std::process::id()).unwrap();
        let tables = Tables::of(ours, &[0]);
        let descriptor = sockets(ours).find(|it| it.number == client.as_raw_fd()).unwrap();
        let Some(&Socket::Tcp { local, remote }) = tables.socket(descriptor.inode) else {
            panic!("{descriptor:?} of {tables:?}")
        };
        assert_eq!(remote, listener.local_addr().unwrap());
        assert_eq!(tables.listener(local, remote).and_then(holder), Some(ours));
        // It is no server for a command: it is ours.
        let mut peers = Peers::default();
        peers.meet(&[descriptor], &[]);
        assert!(peers.settled.contains(&descriptor.inode) && peers.found().is_empty());
        // With the right to see it, and of another process, it would be.
        let (address, pid) =
            peers.server_of(&descriptor, &Socket::Tcp { local, remote }, &tables).unwrap();
        assert_eq!((address, pid), (remote.to_string(), Some(ours)));
    }

    #[test]
    fn a_server_is_named_once_and_the_busiest_first() {
        let mut peers = Peers::default();
        peers.add("127.0.0.1:1".into(), None);
        peers.add("127.0.0.1:2".into(), Some(i32::MAX));
        peers.add("[::1]:2".into(), Some(i32::MAX));
        let found = peers.found();
        let shown: Vec<_> = found.iter().map(|peer| (peer.address.as_str(), peer.cpu_ns)).collect();
        assert_eq!(shown, [("127.0.0.1:2", Some(0)), ("127.0.0.1:1", None)]);
    }
}
