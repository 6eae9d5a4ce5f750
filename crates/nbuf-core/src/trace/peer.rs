//! Processes that were not recorded and did work for the command.

use serde::{Deserialize, Serialize};

/// A server on this machine that the command was connected to, and that is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its process; nothing if the recorder had no right to see it.
    pub pid: Option<u32>,
    /// The name of that process; empty if unknown.
    pub name: String,
    /// Where it listens: an address with a port, or the name of a Unix socket.
    pub address: String,
    /// Processor time that it and its children took while the command was connected, also for other clients.
    /// Nothing if the process is unknown.
    pub cpu_ns: Option<u64>,
}
