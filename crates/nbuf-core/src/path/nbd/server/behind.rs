//! The discs that a server can have behind its cache: those with a descriptor to wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use crate::clock::Stopwatch;
use crate::disc::holes::Holes;
use crate::disc::nbd::client::Client;
use crate::disc::pool::Pool;
use crate::disc::{Completion, Disc};
use crate::trace::request::Request;
use crate::units::Nanos;

/// A disc behind a server.
pub(crate) enum Behind {
    /// A file or a device, by threads, and where it has holes.
    File(Pool, Option<Holes>),
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
        let pool = Pool::new(file, size_bytes, threads, clock)?;
        let holes = pool.holes()?;
        Ok(Self::File(pool, holes))
    }

    /// The default export of an NBD server at a Unix socket.
    pub(crate) fn nbd(socket: &Path, clock: Stopwatch) -> io::Result<Self> {
        Client::connect(socket, clock).map(Self::Nbd)
    }

    /// Where it has holes, if that is known of it.
    pub(super) fn holes(&self) -> Option<&Holes> {
        match self {
            Self::File(_, holes) => holes.as_ref(),
            Self::Nbd(_) => None,
        }
    }

    /// Whether it refuses writes by itself.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::File(..) => false,
            Self::Nbd(client) => client.is_read_only(),
        }
    }

    /// Whether its descriptor has ended, so that waiting for it would end at once.
    pub(super) fn is_broken(&self) -> bool {
        match self {
            Self::File(..) => false,
            Self::Nbd(client) => client.is_broken(),
        }
    }

    pub(super) fn wants_to_write(&self) -> bool {
        match self {
            Self::File(..) => false,
            Self::Nbd(client) => client.wants_to_write(),
        }
    }
}

impl AsFd for Behind {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::File(pool, _) => pool.as_fd(),
            Self::Nbd(client) => client.as_fd(),
        }
    }
}

impl Disc for Behind {
    fn size_bytes(&self) -> u64 {
        match self {
            Self::File(pool, _) => pool.size_bytes(),
            Self::Nbd(client) => client.size_bytes(),
        }
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        match self {
            Self::File(pool, _) => pool.submit(now, request, data),
            Self::Nbd(client) => client.submit(now, request, data),
        }
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        match self {
            Self::File(pool, _) => pool.next_completion(until),
            Self::Nbd(client) => client.next_completion(until),
        }
    }

    fn under_way(&self) -> usize {
        match self {
            Self::File(pool, _) => pool.under_way(),
            Self::Nbd(client) => client.under_way(),
        }
    }
}
