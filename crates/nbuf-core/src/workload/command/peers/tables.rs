//! The sockets of a network namespace, from `/proc/PID/net`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// States in these tables.
const TCP_ESTABLISHED: &str = "01";
const TCP_LISTEN: &str = "0A";
const UNIX_CONNECTED: &str = "03";
/// A flag of a Unix socket: connections are accepted.
const UNIX_LISTENS: &str = "00010000";

/// What a socket is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Socket {
    /// Connected by TCP.
    Tcp {
        /// Our end.
        local: SocketAddr,
        /// The other end.
        remote: SocketAddr,
    },
    /// A connected Unix socket without a name, as the side that connects has none.
    Unix,
}

/// The sockets of one namespace.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// By inode.
    connected: HashMap<u64, Socket>,
    /// The other ends of TCP connections: local and remote address, for each that is here.
    ends: HashSet<(SocketAddr, SocketAddr)>,
    /// Inodes of what listens, by address or by name.
    tcp: HashMap<SocketAddr, u64>,
    unix: HashMap<String, u64>,
}

impl Tables {
    /// As a process sees them; those of TCP only if one of these inodes may be of them. The kernel walks through
    /// the whole table of possible connections, some milliseconds.
    pub(super) fn of(pid: i32, inodes: &[u64]) -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/net/{name}"));
        let read = |name: &str| read(name).unwrap_or_default();
        let mut tables = Self::default();
        let unix = tables.take_unix(&read("unix"));
        if inodes.iter().any(|inode| !unix.contains(inode)) {
            tables.take_tcp(&read("tcp"));
            tables.take_tcp(&read("tcp6"));
        }
        tables
    }

    fn take_tcp(&mut self, text: &str) {
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [_, local, remote, state, ..] = fields[..] else { continue };
            let Some((local, remote)) = address(local).zip(address(remote)) else { continue };
            let Some(inode) = fields.get(9).and_then(|inode| inode.parse().ok()) else { continue };
            match state {
                TCP_LISTEN => {
                    self.tcp.insert(local, inode);
                }
                TCP_ESTABLISHED => {
                    self.ends.insert((local, remote));
                    self.connected.insert(inode, Socket::Tcp { local, remote });
                }
                // It may have been closed at one end.
                _ => {
                    self.ends.insert((local, remote));
                }
            }
        }
    }

    /// Gives the inodes of all.
    fn take_unix(&mut self, text: &str) -> HashSet<u64> {
        let mut all = HashSet::new();
        for line in text.lines().skip(1) {
            let mut fields = line.split_whitespace();
            let flags = fields.nth(3);
            let (state, inode) = (fields.nth(1), fields.next());
            let Some(inode) = inode.and_then(|inode| inode.parse().ok()) else { continue };
            let name = fields.collect::<Vec<_>>().join(" ");
            all.insert(inode);
            if flags == Some(UNIX_LISTENS) {
                self.unix.insert(name, inode);
            } else if state == Some(UNIX_CONNECTED) && name.is_empty() {
                self.connected.insert(inode, Socket::Unix);
            }
        }
        all
    }

    /// What the socket with this inode is; nothing unless it is connected as a client.
    pub(super) fn socket(&self, inode: u64) -> Option<&Socket> {
        self.connected.get(&inode)
    }

    /// The inode of the socket on this machine that listens at the other end of a connection.
    pub(super) fn listener(&self, local: SocketAddr, remote: SocketAddr) -> Option<u64> {
        if !self.ends.contains(&(remote, local)) {
            return None;
        }
        let any: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
        let places = [remote.ip()].into_iter().chain(any);
        let mut places = places.map(|place| SocketAddr::new(place, remote.port()));
        places.find_map(|place| self.tcp.get(&place)).copied()
    }

    /// The inode of the Unix socket of this name that listens.
    pub(super) fn unix_listener(&self, name: &str) -> Option<u64> {
        self.unix.get(name).copied()
    }
}

/// Reads an address and a port as the kernel writes them: words in hexadecimal, in the order of this machine.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let word = address.get(at * 8..at * 8 + 8)?;
        u32::from_str_radix(word, 16).ok().map(u32::to_ne_bytes)
    };
    let ip: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            // A server for both kinds of addresses sees a client of the older kind so.
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1 0 100 0 0 10 0
   1: 0100007F:D490 0100007F:18EB 01 00000000:00000000 00:00000000 00000000     0        0 101 1 0 20 4 30 10 -1
   2: 0100007F:18EB 0100007F:D490 01 00000000:00000000 00:00000000 00000000     0        0 102 1 0 20 4 30 10 -1
   3: 020200C0:D490 507100CB:0050 01 00000000:00000000 00:00000000 00000000     0        0 103 1 0 20 4 30 10 -1
   4: 0100007F:D491 0100007F:0050 06 00000000:00000000 03:00001744 00000000     0        0 0 3 0
";
    const TCP6: &str = "  sl  local_address                         remote_address
   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 110 1 0
   1: 00000000000000000000000001000000:D000 00000000000000000000000001000000:0050 01 0:0 0:0 0 0 0 111 1 0
   2: 00000000000000000000000001000000:0050 00000000000000000000000001000000:D000 01 0:0 0:0 0 0 0 112 1 0
   3: 0000000000000000FFFF00000100007F:0050 0000000000000000FFFF00000100007F:D001 01 0:0 0:0 0 0 0 113 1 0
";
    const TCP_TO_6: &str = "  sl
   0: 0100007F:D001 0100007F:0050 01 0:0 0:0 0 0 0 114 1 0
";
    const UNIX: &str = "Num       RefCount Protocol Flags    Type St Inode Path
00000000b1da0f85: 00000002 00000000 00010000 0001 01 200 /run/a b.sock
000000005d1a9864: 00000003 00000000 00000000 0001 03 201
00000000afd45756: 00000003 00000000 00000000 0001 03 202 /run/a b.sock
00000000eec414bb: 00000002 00000000 00000000 0002 01 203
0000000000000000: 00000002 00000000 00010000 0001 01 204 @bus
";

    fn tables() -> Tables {
        let mut tables = Tables::default();
        // Numbers are in the order of this machine: the examples are of a little-endian one.
        for text in [TCP, TCP6, TCP_TO_6] {
            tables.take_tcp(text);
        }
        assert_eq!(tables.take_unix(UNIX), HashSet::from([200, 201, 202, 203, 204]));
        tables
    }

    fn listener(tables: &Tables, inode: u64) -> Option<u64> {
        match tables.socket(inode)? {
            Socket::Tcp { local, remote } => tables.listener(*local, *remote),
            Socket::Unix => None,
        }
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_server_on_this_machine_is_found_from_its_client() {
        let tables = tables();
        assert_eq!(listener(&tables, 101), Some(100));
        assert_eq!(listener(&tables, 111), Some(110));
        assert_eq!(listener(&tables, 114), Some(110), "by the older kind of address");
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn neither_its_own_clients_nor_a_server_elsewhere_are_servers() {
        let tables = tables();
        assert_eq!(listener(&tables, 102), None, "the client is at the other end");
        assert_eq!(listener(&tables, 103), None, "the server is on another machine");
        assert_eq!(tables.socket(100), None);
        assert_eq!(tables.socket(0), None);
    }

    #[test]
    fn of_unix_sockets_only_the_client_has_no_name() {
        let tables = tables();
        assert_eq!(tables.socket(201), Some(&Socket::Unix));
        assert_eq!([200, 202, 203, 204].map(|inode| tables.socket(inode)), [None; 4]);
        assert_eq!(tables.unix_listener("/run/a b.sock"), Some(200));
        assert_eq!(tables.unix_listener("@bus"), Some(204));
        assert_eq!(tables.unix_listener(""), None);
    }
}
