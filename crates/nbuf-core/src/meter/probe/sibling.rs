//! Whether another hyperthread has a part of the core: how long a short loop takes that keeps all of
//! its units busy.
//!
//! The kernel does not count it, and a virtual machine does not even see it: the other thread of the core
//! may be another customer's. On an AMD EPYC the loop takes 1.5 times as long then, while a chain of
//! multiplications takes the same (docs/experiments/cs61.md). So times are compared with the
//! shortest of the run. Cost: about five microseconds. Not a measure of caches or memory that are shared.

use std::hint::black_box;
use std::time::Duration;

use crate::clock::Stopwatch;

/// Steps of the loop.
const STEPS: u64 = 4000;

/// How long the loop takes now.
pub(crate) fn loop_ns() -> u64 {
    let clock = Stopwatch::start();
    // Four chains that lean on each other, so that several instructions are always ready.
    let [mut a, mut b, mut c, mut d] = black_box([1_u64, 2, 3, 4]);
    for step in 0..STEPS {
        a = a.wrapping_add(b ^ step);
        b = b.wrapping_add(c ^ step);
        c = c.wrapping_add(d ^ step);
        d = d.wrapping_add(a ^ step);
        a ^= a >> 3;
        b ^= b >> 5;
        c ^= c >> 7;
        d ^= d >> 9;
    }
    black_box([a, b, c, d]);
    u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What loops alone differ by, in percent: 0.4 on the EPYC above. One that another thread interrupts for a part
/// of its time takes 6 to 15 % longer, and samples next to it are a fifth slower.
const SLACK_PERCENT: u64 = 3;
/// The same where clocks change: with the load, with the temperature, from core to core.
const SLACK_PERCENT_CLOCKS: u64 = 15;

/// Whether a loop of this time had the core for itself, where the shortest took `best_ns` and loops alone differ
/// by this percentage.
pub(crate) fn is_alone(loop_ns: u64, best_ns: u64, slack_percent: u64) -> bool {
    loop_ns.saturating_mul(100) <= best_ns.saturating_mul(100 + slack_percent)
}

/// What loops alone differ by on this machine, as all loops of a run show. Where clocks are steady, many are
/// close to the shortest.
pub(crate) fn slack_percent(loops_ns: &[u64], best_ns: u64) -> u64 {
    /// Fewer loops show nothing.
    const LOOPS_MIN: usize = 200;
    /// At least one of this number is close to the shortest where clocks are steady, even next to a busy neighbour.
    const CLOSE: usize = 20;
    let close = loops_ns.iter().filter(|&&ns| is_alone(ns, best_ns, SLACK_PERCENT)).count();
    let is_steady = loops_ns.len() < LOOPS_MIN || close * CLOSE >= loops_ns.len();
    if is_steady { SLACK_PERCENT } else { SLACK_PERCENT_CLOCKS }
}

/// Which share of stretches of half a millisecond has the core for itself from end to end, at this moment. Each waits
/// for the core as long as given, as a sample of a benchmark does. At least a hundredth. Cost: 0.1 to 0.4 s.
pub(crate) fn share_alone(wait: Duration) -> f64 {
    const STRETCHES: usize = 120;
    const STRETCH: Duration = Duration::from_micros(500);
    let mut best_ns = (0..STRETCHES).map(|_| loop_ns()).min().unwrap_or(1);
    let mut stretches = [(0, 0); STRETCHES];
    for stretch in &mut stretches {
        let clock = Stopwatch::start();
        stretch.0 = loop_ns();
        while !is_alone(stretch.0, best_ns, SLACK_PERCENT) && clock.elapsed() < wait {
            stretch.0 = loop_ns();
        }
        let clock = Stopwatch::start();
        while clock.elapsed() < STRETCH {
            best_ns = best_ns.min(loop_ns());
        }
        stretch.1 = loop_ns().min(loop_ns());
    }
    let loops: Vec<u64> = stretches.iter().flat_map(|&(before, after)| [before, after]).collect();
    let slack_percent = slack_percent(&loops, best_ns);
    let alone =
        |&&(before, after): &&(u64, u64)| is_alone(before.max(after), best_ns, slack_percent);
    (stretches.iter().filter(alone).count() as f64 / STRETCHES as f64).max(0.01)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_takes_time_and_a_half_more_is_another_thread() {
        let shortest = (0..100).map(|_| loop_ns()).min().unwrap();
        assert!(shortest > 100, "{shortest}");
        assert!(is_alone(shortest, shortest, 0) && is_alone(1030, 1000, 3));
        assert!(!is_alone(1060, 1000, 3) && !is_alone(1500, 1000, 15) && is_alone(0, 0, 3));
    }

    #[test]
    fn clocks_that_change_have_more_slack_than_busy_neighbours() {
        let check = |alone: usize, others: usize, of: fn(u64) -> u64, want: u64| {
            let mut loops = vec![1002; alone];
            loops.extend((0..others as u64).map(of));
            assert_eq!(slack_percent(&loops, 1000), want, "{alone} {others}");
        };
        check(0, 0, |_| 0, SLACK_PERCENT);
        check(100, 300, |number| 1060 + number, SLACK_PERCENT);
        // The clock has slowed down after the first loops.
        check(10, 390, |number| 1080 + number % 10, SLACK_PERCENT_CLOCKS);
        check(2, 100, |_| 1100, SLACK_PERCENT);
    }
}
