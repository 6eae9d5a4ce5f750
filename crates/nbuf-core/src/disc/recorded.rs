//! A disc that remembers what was written, in which order, and what was flushed.
//!
//! From the record follow all images that a power cut may leave: what was complete before a flush that
//! completed is there; of anything else any sectors may be.

use super::{Completion, Disc};
use crate::clock::Random;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// What happened at the disc.
#[derive(Clone, Debug)]
pub enum Event {
    /// A write, a discard or a flush arrived; its data, if it is a write.
    Came(Request, Vec<u8>),
    /// The one that arrived as this event is complete; whether it was served.
    Done(usize, bool),
}

/// A record of a disc.
#[derive(Debug)]
pub struct Recorded<D> {
    disc: D,
    events: Vec<Event>,
    /// Where those that are under way arrived, by task.
    arrived: Vec<(u32, usize)>,
}

impl<D: Disc> Recorded<D> {
    /// Records from now on.
    pub fn new(disc: D) -> Self {
        Self { disc, events: Vec::new(), arrived: Vec::new() }
    }

    /// What happened so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The wrapped disc.
    pub fn disc(&self) -> &D {
        &self.disc
    }
}

impl<D: Disc> Disc for Recorded<D> {
    fn size_bytes(&self) -> u64 {
        self.disc.size_bytes()
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        if request.op != Op::Read {
            self.arrived.push((request.task, self.events.len()));
            self.events.push(Event::Came(request, data.clone()));
        }
        self.disc.submit(now, request, data);
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        let completion = self.disc.next_completion(until)?;
        if completion.request.op != Op::Read {
            let task = completion.request.task;
            if let Some(at) = self.arrived.iter().position(|(other, _)| *other == task) {
                let (_, came) = self.arrived.swap_remove(at);
                self.events.push(Event::Done(came, completion.outcome.is_ok()));
            }
        }
        Some(completion)
    }

    fn under_way(&self) -> usize {
        self.disc.under_way()
    }
}

/// An image that a power cut after these events may leave of a disc that had this image before.
pub fn after_power_cut(before: &[u8], events: &[Event], random: &mut Random) -> Vec<u8> {
    let mut image = before.to_vec();
    let safe = safe(events);
    let mut order: Vec<usize> =
        (0..events.len()).filter(|&at| matches!(events[at], Event::Came(..))).collect();
    // Those that were under way at the same time may have changed the medium in either order.
    let end = |came: usize| {
        let ends = |event: &Event| matches!(event, Event::Done(of, _) if *of == came);
        events.iter().position(ends).unwrap_or(events.len())
    };
    let mut ends: Vec<usize> = order.iter().map(|&came| end(came)).collect();
    for at in 1..order.len() {
        if ends[at - 1] > order[at] && random.below(2) == 0 {
            order.swap(at - 1, at);
            ends.swap(at - 1, at);
        }
    }
    for at in order {
        let Event::Came(request, data) = &events[at] else { continue };
        // All of it, nothing, or some sectors.
        match if safe[at] { 0 } else { random.below(3) } {
            0 => write(&mut image, request, data, None),
            1 => write(&mut image, request, data, Some(random)),
            _ => {}
        }
    }
    image
}

/// Which of the events are writes that no power cut can undo: durable ones that are complete, and those
/// that were complete before a flush arrived that is complete.
fn safe(events: &[Event]) -> Vec<bool> {
    let mut safe = vec![false; events.len()];
    for event in events {
        let Event::Done(at, true) = event else { continue };
        let Event::Came(request, _) = &events[*at] else { continue };
        if request.durable && request.op != Op::Flush {
            safe[*at] = true;
        }
        if request.op != Op::Flush {
            continue;
        }
        for event in &events[..*at] {
            if let Event::Done(came, true) = event {
                safe[*came] = true;
            }
        }
    }
    safe
}

/// Writes all sectors, or some.
fn write(image: &mut [u8], request: &Request, data: &[u8], mut some: Option<&mut Random>) {
    let is_zeros = request.op == Op::Discard && request.zeros;
    if request.op != Op::Write && !is_zeros {
        return;
    }
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let end = request.offset + request.length_bytes;
    let mut at = request.offset;
    while at < end {
        let next = end.min((at / 512 + 1) * 512);
        if some.as_mut().is_none_or(|random| random.below(2) == 0) {
            let target = &mut image[place(at)..place(next)];
            if is_zeros {
                target.fill(0);
            } else {
                let from = place(at - request.offset);
                target.copy_from_slice(&data[from..from + target.len()]);
            }
        }
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ram, wait_for};
    use super::*;

    #[test]
    fn what_was_flushed_is_there_and_the_rest_may_be() {
        let mut disc = Recorded::new(Ram::zeroed(2048));
        let write = |at: u64| Request::new(Op::Write, at, 512);
        wait_for(&mut disc, Nanos::ZERO, write(0), vec![1; 512]).unwrap();
        wait_for(&mut disc, Nanos::ZERO, Request::new(Op::Flush, 0, 0), Vec::new()).unwrap();
        wait_for(&mut disc, Nanos::ZERO, write(512), vec![2; 512]).unwrap();
        let safe = Request { durable: true, ..write(1024) };
        wait_for(&mut disc, Nanos::ZERO, safe, vec![3; 512]).unwrap();
        let mut random = Random::new(3);
        let mut seen = [false; 2];
        for _ in 0..50 {
            let image = after_power_cut(&[0; 2048], disc.events(), &mut random);
            assert_eq!((image[0], image[1024], image[1536]), (1, 3, 0));
            seen[usize::from(image[512] == 2)] = true;
        }
        assert_eq!(seen, [true; 2]);
        // Before the flush was complete nothing was safe.
        let lost =
            (0..50).any(|_| after_power_cut(&[0; 512], &disc.events()[..3], &mut random)[0] == 0);
        assert!(lost);
    }
}
