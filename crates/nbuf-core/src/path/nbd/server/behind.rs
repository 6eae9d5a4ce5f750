//! The discs that a server can have behind its cache: those with a descriptor to wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use crate::clock::Stopwatch;
use crate::disc::nbd::client::Client;
use crate::disc::pool::Pool;
use crate::disc::{Completion, Disc};
use crate::trace::request::Request;
use crate::units::Nanos;

/// A disc behind a server.
pub(crate) enum Behind {
    /// A file, by threads.
    File(Pool),
    /// Another NBD server.
    Nbd(Client),
}

impl Behind {
    /// An open file of this size, by this many threads.
    pub(crate) fn file(
        file: std::fs::File,
        size_bytes: u64,
        threads: usize,
        clock: Stopwatch,
    ) -> io::Result<Self> {
        Pool::new(file, size_bytes, threads, clock).map(Self::File)
    }

    /// The default export of an NBD server at a Unix socket.
    pub(crate) fn nbd(socket: &Path, clock: Stopwatch) -> io::Result<Self> {
        let mut client = Client::connect(socket, clock)?;
        client.wait_for_notice();
        Ok(Self::Nbd(client))
    }

    /// Whether it refuses writes by itself.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Nbd(client) => client.is_read_only(),
        }
    }

    /// Whether its descriptor has ended, so that waiting for it would end at once.
    pub(super) fn is_broken(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Nbd(client) => client.is_broken(),
        }
    }

    /// Its descriptor is ready: something may have come.
    pub(super) fn notice(&mut self) {
        if let Self::Nbd(client) = self {
            client.notice();
        }
    }

    /// Sends what was asked of it after the last look at what is complete.
    pub(super) fn send(&mut self) {
        match self {
            Self::File(pool) => pool.send(),
            Self::Nbd(client) => client.send(),
        }
    }

    pub(super) fn wants_to_write(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Nbd(client) => client.wants_to_write(),
        }
    }
}

impl AsFd for Behind {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::File(pool) => pool.as_fd(),
            Self::Nbd(client) => client.as_fd(),
        }
    }
}

impl Disc for Behind {
    fn size_bytes(&self) -> u64 {
        match self {
            Self::File(pool) => pool.size_bytes(),
            Self::Nbd(client) => client.size_bytes(),
        }
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        match self {
            Self::File(pool) => pool.submit(now, request, data),
            Self::Nbd(client) => client.submit(now, request, data),
        }
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        match self {
            Self::File(pool) => pool.next_completion(until),
            Self::Nbd(client) => client.next_completion(until),
        }
    }

    fn under_way(&self) -> usize {
        match self {
            Self::File(pool) => pool.under_way(),
            Self::Nbd(client) => client.under_way(),
        }
    }
}
