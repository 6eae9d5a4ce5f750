//! Moves the boundary between two parts of a cache to where more accesses hit.
//!
//! A hill climber: a sample is ten accesses for each page of a full cache. While the hit ratio of a sample is at least
//! the one before, the boundary moves on, else it turns back. A step is a sixteenth of the cache, and each is 2 %
//! shorter than the last. A hit ratio that changed by 5 points starts it at its full length again. Invariant: a step
//! is never longer than the first. Cost: a count an access. G. Einziger, O. Eytan, R. Friedman, B. Manes, *Adaptive
//! Software Cache Management*, 2018; the figures are Caffeine's. Not where the best boundary changes within a few
//! samples.

/// Accesses of a sample for each page of the cache.
const SAMPLE: u64 = 10;
/// The first step, as a share of the cache.
const STEP: f64 = 0.0625;
/// What is left of a step after the next sample.
const DECAY: f64 = 0.98;
/// A change of the hit ratio that makes steps long again.
const RESTART: f64 = 0.05;

/// The samples of one cache, and where it goes.
#[derive(Clone, Debug)]
pub(super) struct Climber {
    capacity: u32,
    accesses: u64,
    hits: u64,
    /// The hit ratio of the sample before.
    before: f64,
    /// Pages that the first part gains with the next step; negative: loses.
    step: f64,
}

impl Climber {
    /// For a cache of this many pages, whose first part loses pages first.
    pub(super) fn new(capacity: u32) -> Self {
        let step = -STEP * f64::from(capacity);
        Self { capacity, accesses: 0, hits: 0, before: 0.0, step }
    }

    /// Counts an access to the cache, which is full.
    #[inline]
    pub(super) fn count(&mut self, is_hit: bool) {
        self.accesses += 1;
        self.hits += u64::from(is_hit);
    }

    /// At the end of a sample, the pages that the first part gains; negative: loses.
    #[inline]
    pub(super) fn take(&mut self) -> Option<f64> {
        if self.accesses < SAMPLE * u64::from(self.capacity) {
            return None;
        }
        let ratio = self.hits as f64 / self.accesses as f64;
        let is_worse = ratio < self.before;
        let direction = if is_worse { -self.step.signum() } else { self.step.signum() };
        let is_new = (ratio - self.before).abs() >= RESTART;
        let length = if is_new { STEP * f64::from(self.capacity) } else { self.step.abs() };
        (self.accesses, self.hits, self.before) = (0, 0, ratio);
        self.step = direction * length * DECAY;
        Some(direction * length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step after a sample with this share of hits.
    fn step(climber: &mut Climber, hits: u64) -> f64 {
        for at in 0..1000 {
            assert_eq!(climber.take(), None);
            climber.count(at < hits);
        }
        climber.take().unwrap()
    }

    #[test]
    fn it_goes_on_while_hits_grow_and_turns_back_when_they_fall() {
        let mut climber = Climber::new(100);
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{got}, not {want}");
        near(step(&mut climber, 500), -6.25);
        near(step(&mut climber, 510), -6.25 * 0.98);
        near(step(&mut climber, 510), -6.25 * 0.98 * 0.98);
        near(step(&mut climber, 505), 6.25 * 0.98_f64.powi(3));
        // More than five points less: back, with a full step.
        near(step(&mut climber, 450), -6.25);
        near(step(&mut climber, 460), -6.25 * 0.98);
    }
}
