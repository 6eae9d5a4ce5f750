//! Which samples count: those in which nothing else had the processor. And a slowdown that is planted,
//! to see whether comparisons find it.

use crate::clock::Stopwatch;
use crate::experiment::result::BenchSample;

/// Part of a sample that may be spent waiting for a processor: of one that never sleeps, and of one
/// that does and has to be woken.
const DELAY_PART: u64 = 100;
const DELAY_PART_ASLEEP: u64 = 20;
/// Spins on for a part of the time that has passed. Only for trials of comparisons.
pub(super) fn slow_down(clock: &Stopwatch, percent: f64) {
    let until = clock.elapsed().mul_f64(1.0 + percent / 100.0);
    while percent > 0.0 && clock.elapsed() < until {
        std::hint::spin_loop();
    }
}

/// Whether nothing else had the processor. Where the kernel does not tell how long a thread waited
/// for one, that is not known of any sample, and none is called clean.
pub(super) fn is_clean(sample: &BenchSample) -> bool {
    let part = if sample.switches_voluntary > 0 { DELAY_PART_ASLEEP } else { DELAY_PART };
    let is_short = |delay: u64| delay.saturating_mul(part) < sample.elapsed_ns.max(1);
    sample.switches_involuntary == 0 && sample.run_delay_ns.is_some_and(is_short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_clean_when_nothing_else_had_the_processor() {
        let sample =
            BenchSample { elapsed_ns: 1_000_000, run_delay_ns: Some(0), ..BenchSample::default() };
        let check = |sample: BenchSample, want| assert_eq!(is_clean(&sample), want, "{sample:?}");
        check(sample, true);
        check(BenchSample { run_delay_ns: Some(9_000), ..sample }, true);
        check(BenchSample { run_delay_ns: Some(11_000), ..sample }, false);
        let asleep = BenchSample { switches_voluntary: 4, ..sample };
        check(BenchSample { run_delay_ns: Some(11_000), ..asleep }, true);
        check(BenchSample { run_delay_ns: Some(51_000), ..asleep }, false);
        check(BenchSample { switches_involuntary: 1, ..sample }, false);
        check(BenchSample { run_delay_ns: None, ..sample }, false);
    }
}
