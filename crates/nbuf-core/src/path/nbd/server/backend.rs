//! The backends that a server can have: discs with a descriptor to wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::super::files;
use super::journal::JournaledBackend;
use super::tier::TieredBackend;
use crate::clock::Stopwatch;
use crate::disc::direct::{Direct, Mover, Ring, Threads};
use crate::disc::holes::{Found, Holes, Look};
use crate::disc::nbd::address::Remote;
use crate::disc::nbd::client::Client;
use crate::disc::nbd::tls::Trust;
use crate::disc::object::ObjectDisc;
use crate::disc::pool::Pool;
use crate::disc::{Completion, Disc};
use crate::trace::request::Request;
use crate::units::Nanos;

/// The backend of a server.
pub(crate) enum Backend {
    /// A file or a device, by threads, and where it has holes.
    File(Pool, Option<Holes>),
    /// A file or a device without the page cache.
    Direct(Box<Direct>, Option<Holes>),
    /// Another NBD server.
    Nbd(Client),
    /// Objects of a web server or an object store.
    Object(Box<ObjectDisc>),
    /// One of these with a second tier in front of it.
    Tiered(Box<TieredBackend>),
    /// One of these except the tier with a journal in front of it.
    Journaled(Box<JournaledBackend>),
}

/// What a disc does instead of what it was asked for.
#[derive(Debug)]
pub(crate) enum Instead {
    /// It goes through the page cache.
    ThroughCache(io::Error),
    /// Threads move the blocks, and no ring of the kernel.
    Threads(io::Error),
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backend").finish_non_exhaustive()
    }
}

impl Backend {
    /// An open file of this size, by this many threads.
    pub(crate) fn file(
        file: std::fs::File,
        size_bytes: u64,
        threads: usize,
        clock: Stopwatch,
    ) -> io::Result<Self> {
        let mut pool = Pool::new(file, size_bytes, threads, clock)?;
        pool.wait_for_notice();
        let holes = pool.holes()?;
        Ok(Self::File(pool, holes))
    }

    /// The same without the page cache, with as many calls at once; or else what can be had.
    pub(crate) fn direct(
        file: std::fs::File,
        size_bytes: u64,
        threads: usize,
        is_read_only: bool,
        clock: Stopwatch,
    ) -> io::Result<(Self, Option<Instead>)> {
        let (direct, unit_bytes) = match files::without_cache(&file, is_read_only) {
            Ok(opened) => opened,
            Err(error) => {
                let through = Self::file(file, size_bytes, threads, clock)?;
                return Ok((through, Some(Instead::ThroughCache(error))));
            }
        };
        let slots = u32::try_from(threads.max(1)).unwrap_or(1);
        let (mover, instead): (Box<dyn Mover>, _) = match Ring::new(direct.try_clone()?, slots) {
            Ok(ring) => (Box::new(ring), None),
            Err(error) => (Box::new(Threads::new(direct, slots)?), Some(Instead::Threads(error))),
        };
        let disc = Direct::new((mover, slots), file, (unit_bytes, size_bytes), clock)?;
        let holes = disc.holes()?;
        Ok((Self::Direct(Box::new(disc), holes), instead))
    }

    /// An export of another NBD server.
    pub(crate) fn nbd(
        remote: &Remote,
        trust: Option<&Trust>,
        clock: Stopwatch,
    ) -> io::Result<Self> {
        let mut client = Client::connect(remote, trust, clock)?;
        client.wait_for_notice();
        Ok(Self::Nbd(client))
    }

    /// An open object.
    pub(crate) fn object(mut object: ObjectDisc) -> Self {
        object.wait_for_notice();
        Self::Object(Box::new(object))
    }

    /// Waits for no request when it is dropped. Those that the kernel has keep their memory.
    pub(crate) fn abandon(&mut self) {
        match self {
            Self::File(pool, _) => pool.abandon(),
            Self::Direct(disc, _) => disc.abandon(),
            // A connection is closed, and a tier is let go of where it is dropped.
            Self::Nbd(_) | Self::Object(_) | Self::Tiered(_) | Self::Journaled(_) => {}
        }
    }

    /// What has an open file of it, for another thread to close; nothing if there is none.
    pub(super) fn into_open_file(self) -> Option<Box<dyn Send>> {
        match self {
            Self::File(pool, holes) => Some(Box::new((pool, holes))),
            Self::Direct(disc, holes) => Some(Box::new((disc, holes))),
            Self::Nbd(_) | Self::Object(_) | Self::Tiered(_) | Self::Journaled(_) => None,
        }
    }

    /// Whether it is known where it has holes.
    pub(super) fn has_holes(&self) -> bool {
        match self {
            Self::File(_, holes) | Self::Direct(_, holes) => holes.is_some(),
            Self::Nbd(client) => client.has_holes(),
            Self::Object(_) => false,
            Self::Tiered(tiered) => tiered.disc.backing().has_holes(),
            Self::Journaled(journaled) => journaled.disc.backing().has_holes(),
        }
    }

    /// Begins to look for holes.
    pub(super) fn look(&mut self, look: Look) {
        match self {
            Self::File(_, holes) | Self::Direct(_, holes) => {
                if let Some(holes) = holes {
                    holes.ask(look);
                }
            }
            Self::Nbd(client) => client.look(look),
            // It has no holes to look for.
            Self::Object(_) => {}
            Self::Tiered(tiered) => tiered.disc.backing_mut().look(look),
            Self::Journaled(journaled) => journaled.disc.backing_mut().look(look),
        }
    }

    /// The next look that is done.
    pub(super) fn found(&mut self) -> Option<Found> {
        match self {
            Self::File(_, holes) | Self::Direct(_, holes) => holes.as_ref()?.next(),
            Self::Nbd(client) => client.found(),
            Self::Object(_) => None,
            Self::Tiered(tiered) => tiered.disc.backing_mut().found(),
            Self::Journaled(journaled) => journaled.disc.backing_mut().found(),
        }
    }

    /// Whether it refuses writes by itself.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::File(..) | Self::Direct(..) => false,
            Self::Nbd(client) => client.is_read_only(),
            Self::Object(object) => object.is_read_only(),
            Self::Tiered(tiered) => tiered.disc.backing().is_read_only(),
            Self::Journaled(journaled) => journaled.disc.backing().is_read_only(),
        }
    }

    /// Whether its descriptor has ended, so that waiting for it would end at once.
    pub(super) fn is_broken(&self) -> bool {
        match self {
            Self::Nbd(client) => client.is_broken(),
            // What is broken behind a tier or a journal is not waited for.
            _ => false,
        }
    }

    /// Its descriptor is ready: something may have come.
    pub(super) fn notice(&mut self) {
        match self {
            Self::File(pool, _) => pool.notice(),
            Self::Direct(disc, _) => disc.notice(),
            Self::Nbd(client) => client.notice(),
            Self::Object(object) => object.notice(),
            Self::Tiered(tiered) => tiered.notice(),
            Self::Journaled(journaled) => journaled.notice(),
        }
    }

    /// Sends what was asked of it after the last look at what is complete.
    pub(super) fn send(&mut self) {
        match self {
            Self::File(pool, _) => pool.send(),
            Self::Direct(disc, _) => disc.send(),
            Self::Nbd(client) => client.send(),
            // Its requests are with its runtime already.
            Self::Object(_) => {}
            Self::Tiered(tiered) => tiered.send(),
            Self::Journaled(journaled) => journaled.send(),
        }
    }

    /// Whether it has answered already what no descriptor wakes for.
    pub(super) fn has_done(&self) -> bool {
        match self {
            Self::File(..) | Self::Direct(..) | Self::Object(_) => false,
            Self::Nbd(client) => client.has_done(),
            Self::Tiered(tiered) => tiered.has_done(),
            Self::Journaled(journaled) => journaled.has_done(),
        }
    }

    pub(super) fn wants_to_write(&self) -> bool {
        match self {
            Self::Nbd(client) => client.wants_to_write(),
            _ => false,
        }
    }
}

impl AsFd for Backend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::File(pool, _) => pool.as_fd(),
            Self::Direct(disc, _) => disc.as_fd(),
            Self::Nbd(client) => client.as_fd(),
            Self::Object(object) => object.as_fd(),
            Self::Tiered(tiered) => tiered.as_fd(),
            Self::Journaled(journaled) => journaled.as_fd(),
        }
    }
}

impl Disc for Backend {
    fn size_bytes(&self) -> u64 {
        match self {
            Self::File(pool, _) => pool.size_bytes(),
            Self::Direct(disc, _) => disc.size_bytes(),
            Self::Nbd(client) => client.size_bytes(),
            Self::Object(object) => object.size_bytes(),
            Self::Tiered(tiered) => tiered.disc.size_bytes(),
            Self::Journaled(journaled) => journaled.disc.size_bytes(),
        }
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        match self {
            Self::File(pool, _) => pool.submit(now, request, data),
            Self::Direct(disc, _) => disc.submit(now, request, data),
            Self::Nbd(client) => client.submit(now, request, data),
            Self::Object(object) => object.submit(now, request, data),
            Self::Tiered(tiered) => tiered.disc.submit(now, request, data),
            Self::Journaled(journaled) => journaled.disc.submit(now, request, data),
        }
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        match self {
            Self::File(pool, _) => pool.next_completion(until),
            Self::Direct(disc, _) => disc.next_completion(until),
            Self::Nbd(client) => client.next_completion(until),
            Self::Object(object) => object.next_completion(until),
            Self::Tiered(tiered) => tiered.next_completion(until),
            Self::Journaled(journaled) => journaled.disc.next_completion(until),
        }
    }

    fn under_way(&self) -> usize {
        match self {
            Self::File(pool, _) => pool.under_way(),
            Self::Direct(disc, _) => disc.under_way(),
            Self::Nbd(client) => client.under_way(),
            Self::Object(object) => object.under_way(),
            Self::Tiered(tiered) => tiered.disc.under_way(),
            Self::Journaled(journaled) => journaled.disc.under_way(),
        }
    }
}
