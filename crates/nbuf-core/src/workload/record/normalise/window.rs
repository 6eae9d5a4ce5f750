//! Puts events in order of time, as far as a window reaches.
//!
//! A log is nearly in order: what a recorder takes out of its rings at once it sorts, so that only
//! what a processor wrote late can be behind. Invariant: what is handed over never goes back in
//! time; an event that comes too late for that counts as late, and is given the time of the one
//! before it. Cost: 48 bytes for each event in two windows, and sorting what is sorted already.

use crate::workload::record::log::Event;

/// Events that are held back at least: a fifteenth of a second of the busiest recordings. Their memory is
/// new to the process, and new memory is a sixth of what a recorder costs.
const WINDOW_EVENTS: usize = 1 << 16;

/// Events on their way.
#[derive(Debug)]
pub(super) struct Window {
    held: Vec<Event>,
    size: usize,
    last_ns: u64,
    late: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { held: Vec::new(), size: WINDOW_EVENTS, last_ns: 0, late: 0 }
    }
}

impl Window {
    /// Takes in an event, and hands over those that have waited long enough.
    pub(super) fn push(&mut self, event: Event, each: impl FnMut(&Event)) {
        self.held.push(event);
        if self.held.len() >= 2 * self.size {
            self.hand_over(self.size, each);
        }
    }

    /// Hands over the rest. Tells how many events were late.
    pub(super) fn finish(mut self, each: impl FnMut(&Event)) -> u64 {
        self.hand_over(self.held.len(), each);
        self.late
    }

    fn hand_over(&mut self, count: usize, mut each: impl FnMut(&Event)) {
        self.held.sort_by_key(|event| event.time_ns);
        for mut event in self.held.drain(..count) {
            self.late += u64::from(event.time_ns < self.last_ns);
            self.last_ns = self.last_ns.max(event.time_ns);
            event.time_ns = self.last_ns;
            each(&event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::record::log::Kind;

    /// Times and places as they come out, and how many were late.
    fn ordered(times: &[u64]) -> (Vec<(u64, u64)>, u64) {
        let mut window = Window { size: 2, ..Window::default() };
        let mut out = Vec::new();
        for (index, &time_ns) in (0..).zip(times) {
            let event = Event {
                time_ns,
                task: 1,
                kind: Kind::Fault,
                device: 0,
                inode: 0,
                index,
                extent: 0,
            };
            window.push(event, |event| out.push((event.time_ns, event.index)));
        }
        let late = window.finish(|event| out.push((event.time_ns, event.index)));
        (out, late)
    }

    #[test]
    fn what_is_a_little_late_is_put_where_it_belongs() {
        let (out, late) = ordered(&[1, 4, 2, 5, 3, 3]);
        assert_eq!(out, [(1, 0), (2, 2), (3, 4), (3, 5), (4, 1), (5, 3)]);
        assert_eq!(late, 0);
    }

    #[test]
    fn what_is_too_late_stays_where_it_comes_and_is_counted() {
        let (out, late) = ordered(&[5, 6, 7, 8, 1, 9]);
        assert_eq!(out, [(5, 0), (6, 1), (6, 4), (7, 2), (8, 3), (9, 5)]);
        assert_eq!(late, 1);
    }
}
