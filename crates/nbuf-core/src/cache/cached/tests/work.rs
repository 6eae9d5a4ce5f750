//! Random work on a small cache, and what its clients see.

use super::super::{Cached, Settings, Writes};
use super::history::{History, Write};
use crate::cache::policy::{AnyPolicy, POLICIES};
use crate::clock::Random;
use crate::disc::{Completion, Delayed, Disc};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Bytes of the disc: no whole number of pages, or of sectors.
pub(super) const SIZE: u64 = 13 * 2048 + 700;

/// The cache in most tests: its policy is chosen at run time.
pub(super) type Small<D> = Cached<dyn AnyPolicy, D>;

/// A small cache of this seed: policy, ways to write and sizes are drawn.
pub(super) fn small<D: Disc>(disc: D, random: &mut Random) -> Small<D> {
    let policies: Vec<_> = POLICIES.iter().filter(|row| row.name != "opt").collect();
    let draw = |random: &mut Random, bound| u32::try_from(random.below(bound)).unwrap();
    let row = policies[draw(random, policies.len() as u64) as usize];
    let pages = 1 + draw(random, 9);
    // With readahead in two of three caches.
    let readahead_bytes = draw(random, 3) * 6000;
    let writes = [Writes::Back, Writes::Back, Writes::Through, Writes::Around];
    let settings = Settings {
        page_bytes: 2048,
        dirty_low_pages: draw(random, u64::from(pages)),
        dirty_high_pages: 1 + draw(random, u64::from(pages)),
        backs_max: 1 + draw(random, 3),
        request_bytes_max: 2048 << draw(random, 3),
        ids_min: 0,
        readahead_bytes,
        readahead_part: 1 + draw(random, 4),
        disc_requests: 2 + 2 * draw(random, 8),
        ..Settings::new(pages, writes[draw(random, 4) as usize])
    };
    let mut cache = Cached::new(disc, (row.build)(pages, 1), settings);
    // Every other one is warm, or is to be.
    if random.below(2) == 0 {
        let held: Vec<u64> = (0..random.below(12)).map(|_| random.below(16)).collect();
        cache.expect(&held);
    }
    cache
}

/// A delay in front of a disc.
pub(super) fn delayed<D: Disc>(disc: D, random: &mut Random) -> Delayed<D> {
    Delayed::new(disc, Nanos(10), Nanos(1000), random.next())
}

/// What has been asked for and is not complete.
#[derive(Clone, Copy, Debug)]
struct Pending {
    began: u64,
    /// The write in the history.
    write: Option<usize>,
}

/// A client of a cache that keeps several requests under way.
pub(super) struct Work {
    pub(super) history: History,
    /// Flushes that were served: when they began and ended.
    pub(super) flushes: Vec<(u64, u64)>,
    pub(super) random: Random,
    pub(super) now: Nanos,
    pub(super) errors: u64,
    pending: Vec<Option<Pending>>,
    /// Where the last reads ended, some of which go on from there.
    ends: [u64; 2],
    /// Counts what happens at the clients.
    pub(super) moment: u64,
}

impl Work {
    pub(super) fn new(random: Random) -> Self {
        Self {
            history: History::default(),
            flushes: Vec::new(),
            random,
            now: Nanos(0),
            errors: 0,
            pending: Vec::new(),
            ends: [0; 2],
            moment: 0,
        }
    }

    /// Asks for something by chance; `moment` is when.
    pub(super) fn ask<D: Disc>(&mut self, cache: &mut Small<D>, moment: u64) {
        self.now += Nanos(self.random.below(300));
        if self.random.below(4) == 0 {
            cache.warm(self.now);
        }
        let kind = self.random.below(20);
        let (offset, length_bytes) = if kind < 5 { self.next_place() } else { self.place() };
        let task = self.free();
        let op = match kind {
            0..=6 => Op::Read,
            7..=15 => Op::Write,
            16 => Op::Flush,
            _ => Op::Discard,
        };
        let zeros = op == Op::Discard;
        let mut request =
            Request { task, object: task % 2, zeros, ..Request::new(op, offset, length_bytes) };
        request.durable = op == Op::Write && self.random.below(5) == 0;
        let value = u8::try_from(self.history.writes.len() % 255 + 1).unwrap();
        let value = if zeros { 0 } else { value };
        let mut pending = Pending { began: moment, write: None };
        let mut data = Vec::new();
        match op {
            Op::Read if kind == 0 => {
                self.pending[task as usize] = Some(pending);
                return cache.fetch(self.now, request);
            }
            Op::Read => data = vec![0xEE; usize::try_from(length_bytes).unwrap()],
            Op::Write | Op::Discard => {
                pending.write = Some(self.history.writes.len());
                let durable = request.durable;
                let (began, ended) = (moment, None);
                let write = Write { offset, length_bytes, value, durable, began, ended };
                self.history.writes.push(write);
                if op == Op::Write {
                    data = vec![value; usize::try_from(length_bytes).unwrap()];
                }
            }
            Op::Flush => {}
        }
        self.pending[task as usize] = Some(pending);
        cache.submit(self.now, request, data);
    }

    /// A place on the disc: often whole pages or sectors, sometimes neither.
    fn place(&mut self) -> (u64, u64) {
        let unit = [2048, 2048, 512, 1][usize::try_from(self.random.below(4)).unwrap()];
        let offset = self.random.below(SIZE / unit) * unit;
        let most = [1, 4][usize::try_from(self.random.below(2)).unwrap()] * 2048 / unit;
        let length = (1 + self.random.below(most)) * unit;
        (offset, length.min(SIZE - offset))
    }

    /// A place that goes on where a read ended.
    fn next_place(&mut self) -> (u64, u64) {
        let stream = usize::try_from(self.random.below(2)).unwrap();
        if self.ends[stream] == SIZE || self.random.below(12) == 0 {
            self.ends[stream] = self.random.below(SIZE / 2048) * 2048;
        }
        let offset = self.ends[stream];
        let length = ((1 + self.random.below(2)) * 2048).min(SIZE - offset);
        self.ends[stream] += length;
        (offset, length)
    }

    fn free(&mut self) -> u32 {
        let free = self.pending.iter().position(Option::is_none);
        let task = free.unwrap_or_else(|| {
            self.pending.push(None);
            self.pending.len() - 1
        });
        u32::try_from(task).unwrap()
    }

    /// How many requests are under way.
    pub(super) fn under_way(&self) -> usize {
        self.pending.iter().flatten().count()
    }

    /// Takes in what is complete by then; `moment` is when. Checks what reads have seen.
    pub(super) fn take(&mut self, completion: &Completion, moment: u64) {
        let Completion { request, data, outcome, .. } = completion;
        let pending = self.pending[request.task as usize].take().expect("it was asked for");
        self.errors += u64::from(outcome.is_err());
        if let Some(write) = pending.write {
            self.history.writes[write].ended = Some((moment, outcome.is_ok()));
        }
        if outcome.is_err() {
            return;
        }
        match request.op {
            Op::Flush => self.flushes.push((pending.began, moment)),
            Op::Read => {
                for (at, &value) in data.iter().enumerate() {
                    // Every byte at the edges of sectors, and some others.
                    let byte = request.offset + at as u64;
                    if !matches!(byte % 512, 0 | 511 | 100 | 333) && at > 0 && at + 1 < data.len() {
                        continue;
                    }
                    let permitted = self.history.permits(byte, value, pending.began, moment);
                    assert!(permitted, "byte {byte} was {value} in {request:?}");
                }
            }
            Op::Write | Op::Discard => {}
        }
    }

    /// Takes in one completion, if there is one. Whether there was.
    pub(super) fn step<D: Disc>(&mut self, cache: &mut Small<D>, until: Nanos) -> bool {
        let Some(completion) = cache.next_completion(until) else { return false };
        self.now = self.now.max(completion.at);
        self.moment += 1;
        let moment = self.moment;
        self.take(&completion, moment);
        true
    }

    /// This many operations, up to `depth` at once; all are complete at the end.
    pub(super) fn run<D: Disc>(&mut self, cache: &mut Small<D>, operations: u64, depth: u64) {
        for _ in 0..operations {
            while self.under_way() as u64 > self.random.below(depth) {
                assert!(self.step(cache, Nanos::MAX), "{} requests hang", self.under_way());
            }
            self.moment += 1;
            let moment = self.moment;
            self.ask(cache, moment);
            if self.random.below(16) == 0 {
                cache.tick(self.now);
            }
            self.step_aside(cache);
            cache.check().unwrap();
        }
        while self.under_way() > 0 {
            assert!(self.step(cache, Nanos::MAX), "{} requests hang", self.under_way());
            cache.check().unwrap();
        }
    }

    /// Now and then the cache steps aside, or is back.
    pub(super) fn step_aside<D: Disc>(&mut self, cache: &mut Small<D>) {
        if self.random.below(12) == 0 {
            cache.step(self.random.below(3) == 0);
        }
    }

    /// Flushes until all is on the disc.
    pub(super) fn settle<D: Disc>(&mut self, cache: &mut Small<D>) {
        for _ in 0..100 {
            let task = self.free();
            let flush = Request { task, ..Request::new(Op::Flush, 0, 0) };
            self.pending[task as usize] = Some(Pending { began: self.moment, write: None });
            cache.submit(self.now, flush, Vec::new());
            while self.under_way() > 0 {
                assert!(self.step(cache, Nanos::MAX), "a flush hangs");
            }
            if cache.owed_pages() == 0 {
                // What was read ahead may still be on its way.
                assert!(!self.step(cache, Nanos::MAX), "nothing was asked for");
                return;
            }
        }
        panic!("{} pages stay dirty", cache.owed_pages());
    }
}
