//! Rates of a group between two looks, and over the last two seconds.

use std::collections::VecDeque;

use super::super::super::result::LiveProbeRates;
use crate::sys::probe::Look;

/// Pressure is of this long, and known after half of it.
const RECENT_NS: u64 = 2_000_000_000;

/// The looks of the last two seconds.
#[derive(Debug)]
pub(super) struct Window {
    first: Look,
    recent: VecDeque<Look>,
}

impl Window {
    pub(super) fn new(first: Look) -> Self {
        Self { first, recent: VecDeque::from([first]) }
    }

    pub(super) fn first(&self) -> &Look {
        &self.first
    }

    /// Adds a look; the rates of the last two seconds, once there is a second.
    pub(super) fn push(&mut self, look: Look) -> Option<LiveProbeRates> {
        self.recent.push_back(look);
        let is_old = |old: &Look| look.time_ns.saturating_sub(old.time_ns) > RECENT_NS;
        while self.recent.len() > 2 && self.recent.get(1).is_some_and(is_old) {
            self.recent.pop_front();
        }
        let from = self.recent.front()?;
        let passed = look.time_ns.saturating_sub(from.time_ns);
        (passed >= RECENT_NS / 2).then(|| rates(from, &look))
    }
}

/// What was counted between two looks, by time.
pub(super) fn rates(from: &Look, to: &Look) -> LiveProbeRates {
    let passed_ns = to.time_ns.saturating_sub(from.time_ns) as f64;
    let share = |from: u64, to: u64| to.saturating_sub(from) as f64 / passed_ns.max(1.0);
    LiveProbeRates {
        seconds: passed_ns / 1e9,
        fills_per_second: share(from.refaults, to.refaults) * 1e9,
        calls_per_second: 0.0,
        memory_pressure: share(from.memory_some_ns, to.memory_some_ns),
        io_pressure: share(from.io_some_ns, to.io_some_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_that_of_the_last_two_seconds() {
        let look = |tenths: u64, waited_ns: u64| Look {
            time_ns: tenths * 100_000_000,
            io_some_ns: waited_ns,
            ..Look::default()
        };
        let mut window = Window::new(look(0, 0));
        assert_eq!(window.push(look(9, 1)), None);
        // Nothing for five seconds, and then half of the time.
        let mut last = None;
        for tenths in 10..=50 {
            last = window.push(look(tenths, 0));
        }
        assert_eq!(last.map(|rates| rates.pressure()), Some(0.0));
        for tenths in 51..=70 {
            last = window.push(look(tenths, (tenths - 50) * 50_000_000));
        }
        let got = last.unwrap();
        assert!((got.pressure() - 0.5).abs() < 0.03 && got.seconds < 2.2, "{got:?}");
    }
}
