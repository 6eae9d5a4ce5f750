//! How busy other programs kept the processors while a command ran: a comparison needs a quiet machine.
//!
//! The kernel counts in ticks of 10 ms, and nbuf's own work is among the others.

use crate::meter::probe::counts::Counts;

/// `USER_HZ`, the same on every Linux (`proc_stat(5)`).
const TICK_NS: u64 = 10_000_000;

/// Ticks of all processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy {
    busy: u64,
    all: u64,
}

impl Busy {
    /// Until now; nothing where the kernel does not say.
    pub(super) fn now() -> Option<Self> {
        let times = Counts::read_now().ok()?.times;
        let busy = times.user + times.system + times.interrupt + times.stolen;
        Some(Self { busy, all: busy + times.idle })
    }
}

/// The part that others had between two readings, where the command had so much.
pub(super) fn share(before: Busy, after: Busy, own_ns: u64) -> Option<f64> {
    let all = after.all.checked_sub(before.all).filter(|&all| all > 0)?;
    let busy = after.busy.saturating_sub(before.busy);
    let others = busy.saturating_sub(own_ns / TICK_NS);
    Some((others as f64 / all as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_command_had_is_not_of_others() {
        let before = Busy { busy: 100, all: 1000 };
        let check = |busy, all, own_ns, want| {
            assert_eq!(share(before, Busy { busy, all }, own_ns), want, "{busy} {all} {own_ns}");
        };
        check(150, 1100, 0, Some(0.5));
        check(150, 1100, 50 * TICK_NS, Some(0.0));
        check(150, 1100, 90 * TICK_NS, Some(0.0));
        check(150, 1100, 25 * TICK_NS, Some(0.25));
        check(100, 1000, 0, None);
    }
}
