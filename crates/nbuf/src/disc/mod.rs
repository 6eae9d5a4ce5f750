//! What is behind the cache.
//!
//! A [`Disc`] takes requests at any time and says which is done next, and when: so requests can wait
//! in a queue whose order the disc chooses, and one that is served from memory never waits behind one
//! that is not. Modelled discs live in virtual time, where nothing is waited for; real ones wait.
//! A cache in front of a disc is a disc; so is a meter, a delay, a fault.

pub mod choice;
pub mod description;
pub mod file;
pub mod latency;
pub mod measured;
pub mod model;
pub mod null;
pub mod private;
pub mod ram;
mod sheet;
pub mod table;
mod turning;

pub use choice::{Choice, UnknownDisc, named};
pub use table::{AnyDisc, DISCS, Shape};

use crate::units::Nanos;

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Bytes of the disc.
    Read,
    /// Bytes put onto it.
    Write,
    /// That what was written before survives a power cut.
    Flush,
}

/// A request to a disc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whose it is: the number comes back with the completion.
    pub tag: u64,
    /// What is wanted.
    pub operation: Operation,
    /// From this byte of the disc on.
    pub offset_bytes: u64,
    /// So many bytes of it.
    pub length_bytes: u32,
    /// What is to be written, or room for what is read: as long as the request, or empty where only
    /// time is asked of a disc that keeps none. The disc has it until the completion gives it back.
    pub data: Vec<u8>,
}

impl Request {
    /// Whether it ends where a disc of this size does, or before.
    pub fn within(&self, size_bytes: u64) -> Result<(), DiscError> {
        match self.offset_bytes.checked_add(u64::from(self.length_bytes)) {
            Some(end) if end <= size_bytes => Ok(()),
            _ => Err(DiscError::PastTheEnd {
                offset_bytes: self.offset_bytes,
                length_bytes: self.length_bytes,
                size_bytes,
            }),
        }
    }
}

/// Where the time of a request went. The parts add up to the time from submission to completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Waiting for others.
    pub queued: Nanos,
    /// In the controller and on the wire.
    pub overhead: Nanos,
    /// Moving the arm, and settling.
    pub seek: Nanos,
    /// Waiting for the first sector to come round, and for later ones between tracks.
    pub rotation: Nanos,
    /// Moving data from or to the medium, or the disc's own memory.
    pub transfer: Nanos,
}

impl Spent {
    /// All of it: the response time.
    pub fn total(&self) -> Nanos {
        self.queued + self.service()
    }

    /// Without the queue: the service time.
    pub fn service(&self) -> Nanos {
        self.overhead + self.seek + self.rotation + self.transfer
    }
}

/// A disc could not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscError {
    /// The request leaves the disc.
    #[error(
        "a request of {length_bytes} B at byte {offset_bytes} runs past the end of the disc ({size_bytes} B): choose a larger disc"
    )]
    PastTheEnd {
        /// Where it begins.
        offset_bytes: u64,
        /// How long it is.
        length_bytes: u32,
        /// Where the disc ends.
        size_bytes: u64,
    },
    /// The medium, or the kernel in front of it, refused.
    #[error("{what}")]
    Failed {
        /// In whose words, and what was asked.
        what: String,
    },
}

/// A request is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request, with its bytes.
    pub request: Request,
    /// When: never before it was submitted, nor before an earlier completion.
    pub at: Nanos,
    /// What took how long.
    pub spent: Spent,
    /// Whether it was done.
    pub outcome: Result<(), DiscError>,
}

/// See the module.
pub trait Disc {
    /// Where it ends.
    fn size_bytes(&self) -> u64;

    /// Takes a request that comes `now`, which is never earlier than at the call before. One that
    /// cannot be done completes with an error.
    fn submit(&mut self, now: Nanos, request: Request);

    /// The next completion, if it comes at `until` or before. A modelled disc answers at once; a
    /// real one waits for as long. Nothing also where nothing is under way.
    fn next_completion(&mut self, until: Nanos) -> Option<Completion>;

    /// Requests that were submitted and are not complete.
    fn under_way(&self) -> usize;
}

/// Does one request from beginning to end: for those who have nothing else to do meanwhile.
pub fn wait_for(disc: &mut impl Disc, now: Nanos, request: Request) -> Option<Completion> {
    let tag = request.tag;
    disc.submit(now, request);
    loop {
        let completion = disc.next_completion(Nanos::MAX)?;
        if completion.request.tag == tag {
            return Some(completion);
        }
    }
}
