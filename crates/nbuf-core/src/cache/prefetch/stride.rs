//! Strides: streams of accesses that go on by equal steps, forwards or backwards.
//!
//! A stream has its last page, its stride, and a state of four: initial, transient, steady, no prediction. These and
//! their changes are the reference prediction table of J.-L. Baer and T.-F. Chen, *An Effective On-Chip Preloading
//! Scheme to Reduce Data Access Penalty*, 1991. That table finds a stream by the instruction; a trace has none. Here an
//! access belongs to the stream that predicts its page, or else to the nearest one within `reach` pages in
//! the same object. Only a steady stream fetches. Invariant: the streams do not depend on hits and misses. Cost: an
//! access looks at all streams.

use super::{PAGE_BITS, Prefetcher, Seen, further};

/// How sure a stream is of its stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Transient,
    Steady,
    NoPrediction,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    last: u64,
    stride: i64,
    state: State,
    /// The number of its last access.
    used: u64,
}

/// Streams, and what they want.
pub(super) struct Strides {
    pages: u32,
    /// Streams that are followed at most.
    most: usize,
    reach: u64,
    streams: Vec<Stream>,
    now: u64,
}

impl Strides {
    pub(super) fn new(pages: u32, streams: u32, reach: u32) -> Self {
        let most = usize::try_from(streams).unwrap_or(usize::MAX);
        Self { pages, most, reach: reach.into(), streams: Vec::new(), now: 0 }
    }

    /// The stream that an access belongs to: one that predicts it, or else the nearest; of several the one used last.
    fn find(&self, page: u64) -> Option<usize> {
        let all = || self.streams.iter().enumerate();
        let predicts = |stream: &Stream| {
            stream.stride != 0 && further(stream.last, stream.stride) == Some(page)
        };
        let predicted = all().filter(|(_, stream)| predicts(stream));
        let predicted = predicted.max_by_key(|(_, stream)| stream.used);
        let is_near = |stream: &Stream| {
            stream.last >> PAGE_BITS == page >> PAGE_BITS
                && stream.last.abs_diff(page) <= self.reach
        };
        let nearest = || {
            let near = all().filter(|(_, stream)| is_near(stream));
            near.min_by_key(|(_, stream)| (stream.last.abs_diff(page), u64::MAX - stream.used))
        };
        predicted.or_else(nearest).map(|(at, _)| at)
    }

    /// Starts a stream, in the place of the one used longest ago where there is no room.
    fn start(&mut self, page: u64) {
        let stream = Stream { last: page, stride: 0, state: State::Initial, used: self.now };
        if self.streams.len() < self.most {
            self.streams.push(stream);
        } else if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.used) {
            *oldest = stream;
        }
    }
}

impl Stream {
    /// An access to another page than the last one.
    fn step(&mut self, page: u64) {
        // Pages of one object are less than 2^40 apart.
        let step = page.cast_signed() - self.last.cast_signed();
        let is_right = step == self.stride;
        self.state = match (self.state, is_right) {
            (State::Initial | State::Transient | State::Steady, true) => State::Steady,
            (State::NoPrediction, true) | (State::Initial, false) => State::Transient,
            (State::Steady, false) => State::Initial,
            (State::Transient | State::NoPrediction, false) => State::NoPrediction,
        };
        // One step out of line does not change a stride that was steady.
        if !is_right && self.state != State::Initial {
            self.stride = step;
        }
        self.last = page;
    }
}

impl Prefetcher for Strides {
    fn access(&mut self, seen: &Seen<'_>, wanted: &mut Vec<u64>) {
        self.now += 1;
        let Some(at) = self.find(seen.page) else { return self.start(seen.page) };
        let stream = &mut self.streams[at];
        stream.used = self.now;
        if stream.last == seen.page {
            return;
        }
        stream.step(seen.page);
        if stream.state == State::Steady {
            let stride = stream.stride;
            let steps = (1..=i64::from(self.pages)).map(|step| stride * step);
            wanted.extend(steps.map_while(|by| further(seen.page, by)));
        }
    }
}
