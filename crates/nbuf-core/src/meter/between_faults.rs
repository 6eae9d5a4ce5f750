//! Running time between page faults, with its distribution.
//!
//! On each processor, the time from one fault to the next less the idle time between them. Where records
//! were lost, the next fault begins again. Time in interrupts counts as running.
//! Cost: some nanoseconds a fault.
//! Source: Saltzer, "Multics Performance", 1969, "Running time between page faults".

use super::times::Times;
use crate::units::Nanos;

/// One processor.
#[derive(Clone, Copy, Debug, Default)]
struct Processor {
    is_idle: bool,
    at_ns: u64,
    /// Since the last fault; nothing before the first.
    running_ns: Option<u64>,
}

/// All processors.
#[derive(Debug)]
pub(crate) struct BetweenFaults {
    processors: Vec<Processor>,
    times: Times,
}

impl BetweenFaults {
    /// A machine with this number of processors, of which nothing is known yet.
    pub(crate) fn new(processors: usize) -> Self {
        Self { processors: vec![Processor::default(); processors], times: Times::default() }
    }

    /// A processor becomes idle, or runs again.
    pub(crate) fn idles(&mut self, processor: usize, time_ns: u64, is_idle: bool) {
        if let Some(processor) = self.processors.get_mut(processor) {
            // Before its first change after the start it was in the other state.
            processor.advance(time_ns);
            processor.is_idle = is_idle;
        }
    }

    /// A fault.
    pub(crate) fn fault(&mut self, processor: usize, time_ns: u64) {
        if let Some(processor) = self.processors.get_mut(processor) {
            // Who faults runs.
            processor.is_idle = false;
            processor.advance(time_ns);
            if let Some(running_ns) = processor.running_ns.replace(0) {
                self.times.add(Nanos(running_ns));
            }
        }
    }

    /// Faults were lost.
    pub(crate) fn lost(&mut self, processor: usize) {
        if let Some(processor) = self.processors.get_mut(processor) {
            processor.running_ns = None;
        }
    }

    /// Times of an interval; the next one begins.
    pub(crate) fn take_times(&mut self) -> Times {
        std::mem::take(&mut self.times)
    }
}

impl Processor {
    fn advance(&mut self, time_ns: u64) {
        let span_ns = time_ns.saturating_sub(self.at_ns);
        self.at_ns = self.at_ns.max(time_ns);
        if let (Some(running_ns), false) = (&mut self.running_ns, self.is_idle) {
            *running_ns += span_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_not_running_time() {
        let mut between = BetweenFaults::new(2);
        between.fault(0, 100);
        between.fault(0, 150);
        between.idles(0, 160, true);
        between.fault(1, 170);
        between.idles(0, 1160, false);
        between.fault(0, 1200);
        let times = between.take_times();
        assert_eq!((times.count(), times.sum().0), (2, 50 + 10 + 40));
        assert_eq!(between.take_times().count(), 0);
    }

    #[test]
    fn after_lost_records_the_next_fault_is_the_first() {
        let mut between = BetweenFaults::new(1);
        between.fault(0, 100);
        between.lost(0);
        between.fault(0, 900);
        between.fault(0, 950);
        let times = between.take_times();
        assert_eq!((times.count(), times.sum().0), (1, 50));
    }
}
