//! What the machine itself gives at a moment: three jobs of no test, each of one kind of work.
//!
//! A virtual machine shares caches, memory and clocks with neighbours that it cannot see. What they
//! take is missing in all rows of a kind at once, and `nbuf bench --compare` would take it for a change of
//! the program. So the jobs are done next to the tests, and stored with them. Cost: about 6 ms. Not a
//! measure of the machine's best: it is what a moment gave.

use std::hint::black_box;

use crate::clock::Stopwatch;

use super::sibling;

/// Bytes that are copied: more than the caches of one core hold.
const FAR_BYTES: usize = 16 << 20;
/// Where they go: within the first cache, as the buffers of most tests are.
const NEAR_BYTES: usize = 16 << 10;
/// Calls of a sample.
const CALLS: u32 = 2000;
/// Loops of a sample, and the best of them counts.
const LOOPS: u32 = 20;

/// What the three jobs gave, each a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// Bytes copied.
    pub copy: f64,
    /// System calls.
    pub calls: f64,
    /// Loops in registers.
    pub loops: f64,
}

/// Does the three jobs once.
pub(crate) fn take() -> Reference {
    let loop_ns = (0..LOOPS).map(|_| sibling::loop_ns()).min().unwrap_or(0);
    Reference { copy: copy_rate(), calls: call_rate(), loops: 1e9 / loop_ns.max(1) as f64 }
}

/// Copies from memory, in bytes a second. The memory is another each time.
fn copy_rate() -> f64 {
    let from = vec![1_u8; FAR_BYTES];
    let mut to = vec![0_u8; NEAR_BYTES];
    let clock = Stopwatch::start();
    for part in black_box(&from).chunks_exact(NEAR_BYTES) {
        black_box(&mut to).copy_from_slice(part);
    }
    FAR_BYTES as f64 / clock.elapsed().as_secs_f64().max(1e-9)
}

/// The shortest system call, in calls a second.
fn call_rate() -> f64 {
    let clock = Stopwatch::start();
    for _ in 0..CALLS {
        black_box(rustix::process::getppid());
    }
    f64::from(CALLS) / clock.elapsed().as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_gives_a_rate() {
        let Reference { copy, calls, loops } = take();
        for rate in [copy, calls, loops] {
            assert!(rate.is_finite() && rate > 0.0, "{rate}");
        }
    }
}
