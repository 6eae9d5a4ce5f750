//! A rate that the kernel holds the requests of a group to, slice by slice.
//!
//! What a slice allows passes at once, early in it; the rest waits for the next. What was not asked for
//! is kept for one more slice and then lost. After a slice in which no process asked, a new one begins
//! with who asks. So a run of a second may take a slice more or less, as its last requests just
//! fall into one. Source: `block/blk-throttle.c` of Linux 6.18 (`tg_within_iops_limit`,
//! `tg_within_bps_limit`, `throtl_trim_slice`).
//!
//! Invariant: no more has passed than the slices begun since `begun_ns` allow. Cost: a few operations
//! a request. Not for the ticks of the kernel's clock, which add up to 10 ms a slice.

/// `DFL_THROTL_SLICE`: a tenth of a second.
const SLICE_NS: f64 = 1e8;
const SLICES_PER_SECOND: f64 = 10.0;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    /// Who has to wait does so to the beginning of a slice.
    Request,
    /// And, of a slice, for the part that his bytes take.
    Byte,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Throttle {
    unit: Unit,
    per_slice: f64,
    begun_ns: f64,
    /// When it is over, should no process ask until then.
    end_ns: f64,
    passed: f64,
}

impl Throttle {
    /// This many per second; of the first slice a part has gone by at zero.
    pub(super) fn new(unit: Unit, per_second: f64, gone: f64) -> Self {
        let begun_ns = -gone * SLICE_NS;
        let (per_slice, end_ns) = (per_second / SLICES_PER_SECOND, begun_ns + SLICE_NS);
        Self { unit, per_slice, begun_ns, end_ns, passed: 0.0 }
    }

    /// When this many, asked for at `now`, may pass.
    pub(super) fn pass(&mut self, now: f64, amount: f64) -> f64 {
        let mut at = now.max(self.begun_ns);
        if at > self.end_ns {
            (self.begun_ns, self.passed) = (at, 0.0);
        }
        self.passed += amount;
        // With the one that has begun.
        let slices = ((at - self.begun_ns) / SLICE_NS).floor() + 1.0;
        let needed = self.passed / self.per_slice;
        if needed > slices {
            let from_begin = match self.unit {
                Unit::Request => needed.ceil() - 1.0,
                Unit::Byte => needed,
            };
            at = self.begun_ns + from_begin * SLICE_NS;
        }
        self.end_ns = (at / SLICE_NS).ceil() * SLICE_NS + SLICE_NS;
        let used = ((at - self.begun_ns) / SLICE_NS).floor();
        if used >= 2.0 {
            self.begun_ns += (used - 1.0) * SLICE_NS;
            self.passed = (self.passed - (used - 1.0) * self.per_slice).max(0.0);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::whole;

    /// When requests asked for at these milliseconds pass, at this many a second.
    fn check(per_second: f64, asked_ms: &[u32], passed_ms: &[u64]) {
        let mut throttle = Throttle::new(Unit::Request, per_second, 0.0);
        let pass = |&at| whole(throttle.pass(f64::from(at) * 1e6, 1.0) / 1e6);
        let passed: Vec<u64> = asked_ms.iter().map(pass).collect();
        assert_eq!(passed, passed_ms, "{asked_ms:?}");
    }

    #[test]
    fn a_slice_passes_at_once_and_the_rest_waits_for_the_next() {
        check(20.0, &[0, 0, 0, 0, 0], &[0, 0, 100, 100, 200]);
        // What was left over is good for one slice more.
        check(20.0, &[10, 110, 110, 110, 110], &[10, 110, 110, 110, 200]);
        // After a pause a slice begins again.
        check(20.0, &[0, 0, 730, 730, 730], &[0, 0, 730, 730, 830]);
        // Less than one a slice.
        check(5.0, &[0, 0, 0], &[100, 300, 500]);
    }

    #[test]
    fn bytes_wait_for_their_own_time_too() {
        let mut throttle = Throttle::new(Unit::Byte, 1e6, 0.0);
        let passed = [0.0; 4].map(|now| whole(throttle.pass(now, 128_000.0) / 1e6));
        assert_eq!(passed, [128, 256, 384, 512]);
    }

    proptest! {
        /// Never more than the rate allows and what two slices hold; and no process is kept without need.
        #[test]
        fn the_rate_holds(
            gaps in proptest::collection::vec(0..300_000_000_u32, 1..300),
            busy in 1..50_u32,
            unit in proptest::sample::select(vec![Unit::Request, Unit::Byte]),
        ) {
            let mut throttle = Throttle::new(unit, 100.0, 0.5);
            let (mut now, mut passed) = (0.0, Vec::new());
            for gap in gaps {
                now += f64::from(gap) / f64::from(busy * busy);
                let at = throttle.pass(now, 1.0);
                prop_assert!(at >= now);
                passed.push(at);
            }
            for (first, &from) in passed.iter().enumerate() {
                for (count, &until) in (1..).zip(&passed[first..]) {
                    let allowed = (until - from) / 1e7 + 31.0;
                    prop_assert!(f64::from(count) <= allowed, "{count} in {}", until - from);
                }
            }
        }
    }
}
