//! The discs behind a cache.
//!
//! A [`Disc`] accepts requests at any time, and reports which completes next, and when. So requests
//! can wait in a queue whose order the disc chooses. A request that memory serves never waits
//! behind one that needs the medium. Modelled discs run in virtual time and never wait; real ones
//! wait. A cache in front of a disc is itself a disc, as are a meter, a delay and a fault.
//!
//! ```
//! use nbuf::disc::{Disc, named};
//! use nbuf::trace::request::{Op, Request};
//! use nbuf::units::Nanos;
//!
//! // A drive of 1970: when is a sector there?
//! let mut disc = named("rk05")?.build(0);
//! disc.submit(Nanos::ZERO, Request::new(Op::Read, 512 * 1000, 512), Vec::new());
//! let completion = disc.next_completion(Nanos::MAX).ok_or("nothing completed")?;
//! assert!(completion.at > Nanos::from_millis(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod choice;
pub(crate) mod delayed;
pub(crate) mod description;
#[cfg(feature = "paths")]
pub(crate) mod direct;
#[cfg(feature = "system")]
mod done;
pub(crate) mod faulty;
#[cfg(feature = "system")]
pub(crate) mod file;
#[cfg(feature = "system")]
pub(crate) mod holes;
pub(crate) mod latency;
pub(crate) mod measured;
pub(crate) mod model;
pub(crate) mod nbd;
pub(crate) mod null;
#[cfg(feature = "paths")]
pub(crate) mod object;
#[cfg(feature = "system")]
pub(crate) mod pool;
#[cfg(feature = "system")]
pub(crate) mod private;
pub(crate) mod ram;
pub(crate) mod recorded;
mod sheet;
pub(crate) mod table;
mod turning;

#[cfg(feature = "system")]
pub use choice::described;
pub use choice::{Choice, UnknownDisc, named};
pub use delayed::Delayed;
pub use faulty::{Faults, Faulty};
pub use ram::Ram;
pub use recorded::{Event, Recorded, after_power_cut};
pub use table::{AnyDisc, DISCS, Shape};

use crate::trace::request::Request;
use crate::units::Nanos;

/// The breakdown of a request's time. The parts add up to the time from submission to completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// The wait for other requests.
    pub queued: Nanos,
    /// The time in the controller and on the bus.
    pub overhead: Nanos,
    /// The time to move the arm and to settle.
    pub seek: Nanos,
    /// The rotational wait for the first sector, and for later ones between tracks.
    pub rotation: Nanos,
    /// The time to move data to or from the medium or the disc's own memory.
    pub transfer: Nanos,
}

impl Breakdown {
    /// The response time: all parts.
    pub fn total(&self) -> Nanos {
        self.queued + self.service()
    }

    /// The service time: all parts except the queue.
    pub fn service(&self) -> Nanos {
        self.overhead + self.seek + self.rotation + self.transfer
    }
}

/// The reason why a disc could not serve a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscError {
    /// The request runs past the end of the disc.
    #[error(
        "a request of {length_bytes} B at byte {offset_bytes} runs past the end of the disc ({size_bytes} B): choose a larger disc"
    )]
    PastTheEnd {
        /// Its first byte.
        offset_bytes: u64,
        /// Its length.
        length_bytes: u64,
        /// The size of the disc.
        size_bytes: u64,
    },
    /// The medium has no room for it.
    #[error("{what}: free some space on the file system of the disc")]
    Full {
        /// The error's text.
        what: String,
    },
    /// The medium, or the kernel in front of it, refused the request.
    #[error("{what}")]
    Failed {
        /// The refused call and the error's text.
        what: String,
    },
    /// A flush alone: the medium lacks bytes that were written before. They are kept, and a later flush may succeed.
    #[error("{what}")]
    Owed {
        /// How many bytes, or why.
        what: String,
    },
}

impl DiscError {
    /// The words, of a disc that is called so: they name the file system that is full.
    pub(crate) fn words_of(&self, name: &str) -> String {
        match self {
            Self::Full { what } => format!("{what}: free some space on the file system of {name}"),
            other => other.to_string(),
        }
    }

    /// Checks that the request ends within a disc of this size.
    pub fn check(request: &Request, size_bytes: u64) -> Result<(), Self> {
        let (offset_bytes, length_bytes) = (request.offset, request.length_bytes);
        match offset_bytes.checked_add(length_bytes) {
            Some(end) if end <= size_bytes => Ok(()),
            _ => Err(Self::PastTheEnd { offset_bytes, length_bytes, size_bytes }),
        }
    }
}

/// A completed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request; its task says whose it is.
    pub request: Request,
    /// The bytes written, or read.
    pub data: Vec<u8>,
    /// The time of completion, never before submission or an earlier completion.
    pub at: Nanos,
    /// The breakdown of its time.
    pub breakdown: Breakdown,
    /// Whether the disc served it.
    pub outcome: Result<(), DiscError>,
}

/// The interface of every disc, and of every layer in front of one.
pub trait Disc {
    /// The size of the disc.
    fn size_bytes(&self) -> u64;

    /// Accepts a request that arrives `now`, which is never earlier than in the previous call. A
    /// request that cannot be served completes with an error.
    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>);

    /// The next completion, if it comes at `until` or before. A modelled disc answers at once; a
    /// real one waits until then. `None` also if no request is in flight.
    fn next_completion(&mut self, until: Nanos) -> Option<Completion>;

    /// The number of requests in flight.
    fn under_way(&self) -> usize;
}

/// Runs one request to completion, for callers with nothing else to do meanwhile.
pub fn wait_for(
    disc: &mut impl Disc,
    now: Nanos,
    request: Request,
    data: Vec<u8>,
) -> Option<Completion> {
    let task = request.task;
    disc.submit(now, request, data);
    loop {
        let completion = disc.next_completion(Nanos::MAX)?;
        if completion.request.task == task {
            return Some(completion);
        }
    }
}

/// Whether dropping a value comes to an end, although something that it owns does not come back.
#[cfg(test)]
fn is_dropped(value: impl Send + 'static) -> bool {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    let (tell, dropped) = channel::<()>();
    std::thread::spawn(move || {
        drop(value);
        drop(tell);
    });
    let limit = std::time::Duration::from_secs(20);
    dropped.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected)
}
