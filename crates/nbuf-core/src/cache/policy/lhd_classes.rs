//! What LHD learns: hits and evictions by age, in classes of pages, and the hit densities that follow.
//!
//! An age is a number of accesses, shifted so that few pages are older than the oldest age that is distinguished. The class
//! of a page is the logarithm of what is left of that age above the sum of its last two hit ages. The density at an age
//! is the hits at this and later ages, over the time that pages of this age still stay: both are sums from the oldest age
//! down. Invariant: the oldest age has all pages that are older. Cost: three numbers of 4 bytes an age and class, from the
//! end of the first period on.

use std::cmp::Ordering;

/// The shift of ages before the first adaptation.
const SHIFT_FIRST: u32 = 10;
/// Ages that pages of a full cache shall span, as a share of all: the error that is tolerated.
const ERROR: f32 = 0.01;
/// Periods after which the shift is adapted.
const ADAPTING: [u32; 2] = [5, 25];
/// Weight of the estimate of how many pages there are, after an adaptation.
const SETTLED: f32 = 8.0;
/// Events below which nothing is known of an age.
const EVENTS_MIN: f32 = 1e-5;

/// What happens to a page at an age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Hit,
    Eviction,
}

/// One class. Its vectors grow with the ages that are seen, until the first period ends.
#[derive(Clone, Debug, Default)]
struct Class {
    hits: Vec<f32>,
    evictions: Vec<f32>,
    densities: Vec<f32>,
}

/// All classes.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    all: Vec<Class>,
    ages: u32,
    decay: f32,
    shift: u32,
    /// Pages that there are, averaged, and the weight of the average.
    pages: f32,
    weight: f32,
}

impl Classes {
    pub(super) fn new(classes: u32, ages: u32, decay_percent: u32) -> Self {
        let all = vec![Class::default(); classes as usize];
        let decay = decay_percent as f32 / 100.0;
        Self { all, ages, decay, shift: SHIFT_FIRST, pages: 0.0, weight: 0.0 }
    }

    /// The age after this number of accesses.
    pub(super) fn age(&self, accesses: u64) -> u32 {
        u32::try_from(accesses >> self.shift).unwrap_or(u32::MAX).min(self.ages - 1)
    }

    /// Whether pages of this age may be older still.
    pub(super) fn is_beyond(&self, age: u32) -> bool {
        age == self.ages - 1
    }

    pub(super) fn density(&self, hit_ages: u32, age: u32) -> f32 {
        let number = self.class(hit_ages);
        let known = self.all[number].densities.get(age as usize);
        // About GDSF, until something is learned; the numbers are the authors'.
        known.copied().unwrap_or_else(|| (self.all.len() + number + 1) as f32 / (age + 1) as f32)
    }

    pub(super) fn count(&mut self, hit_ages: u32, age: u32, event: Event) {
        let class = self.class(hit_ages);
        let class = &mut self.all[class];
        let counts = match event {
            Event::Hit => &mut class.hits,
            Event::Eviction => &mut class.evictions,
        };
        let age = age as usize;
        if age >= counts.len() {
            counts.resize(age + 1, 0.0);
        }
        counts[age] += 1.0;
    }

    /// Doublings of the last two hit ages until they are no longer distinguished.
    fn class(&self, hit_ages: u32) -> usize {
        let last = self.all.len() - 1;
        if hit_ages == 0 {
            return last;
        }
        let doublings = (0..last).find(|&log| u64::from(hit_ages) << log >= u64::from(self.ages));
        doublings.unwrap_or(last)
    }

    /// At the end of a period, with this number of pages there.
    pub(super) fn learn(&mut self, period: u32, pages: u32) {
        let ages = self.ages as usize;
        for class in &mut self.all {
            for counts in [&mut class.hits, &mut class.evictions, &mut class.densities] {
                counts.resize(ages, 0.0);
            }
            let counts = class.hits.iter_mut().chain(&mut class.evictions);
            counts.for_each(|count| *count *= self.decay);
        }
        self.pages = self.pages * self.decay + pages as f32;
        self.weight = self.weight * self.decay + 1.0;
        if ADAPTING.contains(&period) {
            self.adapt();
        }
        self.all.iter_mut().for_each(Class::model);
    }

    /// Chooses the shift by how many pages there are.
    fn adapt(&mut self) {
        let wanted = self.pages / self.weight / (ERROR * self.ages as f32);
        let shift = (1..31).find(|&shift| (1_u64 << shift) as f32 >= wanted).unwrap_or(31);
        let (old, new) = (std::mem::replace(&mut self.shift, shift), shift);
        self.pages *= SETTLED;
        self.weight *= SETTLED;
        for class in &mut self.all {
            for counts in [&mut class.hits, &mut class.evictions] {
                match new.cmp(&old) {
                    Ordering::Less => stretch(counts, old - new),
                    Ordering::Equal => {}
                    Ordering::Greater => compress(counts, new - old),
                }
            }
        }
    }
}

impl Class {
    fn model(&mut self) {
        let (mut hits, mut events, mut time) = (0.0, 0.0, 0.0);
        let counts = self.hits.iter().zip(&self.evictions);
        let densities = self.densities.iter_mut().zip(counts).rev();
        for (from_oldest, (density, (hit, evicted))) in densities.enumerate() {
            hits += hit;
            events += hit + evicted;
            time += events;
            if from_oldest > 0 {
                *density = if events > EVENTS_MIN { hits / time } else { 0.0 };
            }
        }
    }
}

/// Counts by ages that are finer by some bits: those too old for them become the oldest.
fn stretch(counts: &mut [f32], bits: u32) {
    let oldest = counts.len() - 1;
    let kept = (counts.len() >> bits).min(oldest);
    counts[oldest] += counts[kept..oldest].iter().sum::<f32>();
    for age in (0..oldest).rev() {
        counts[age] = counts[age >> bits] / (1_u64 << bits) as f32;
    }
}

/// Counts by ages that are coarser by some bits.
fn compress(counts: &mut [f32], bits: u32) {
    let oldest = counts.len() - 1;
    let kept = counts.len() >> bits;
    for age in 0..kept {
        counts[age] = counts[age << bits..(age + 1) << bits].iter().sum();
    }
    counts[kept..oldest].fill(0.0);
}
