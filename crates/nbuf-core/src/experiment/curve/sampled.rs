//! The LRU curve from a sample of the keys.

use super::policies::is_lru;
use super::reading::Reading;
use super::spec::Rate;
use super::{Error, Spec};
use crate::experiment::grid::{sampled_curve, sampled_sizes};
use crate::experiment::notice::Notice;
use crate::experiment::result::{CurvePoint, PolicyCurve, SampleFacts};
use crate::meter::sampled::{Frequent, Sampled};
use crate::trace::request::Request;
use crate::workload::pages::{Pages, Step, Tally};
use crate::workload::within::{Growing, take_within};

/// Keys that are followed exactly.
const HOT_KEYS: usize = 8192;
/// One batch in this many is looked at to find them.
const HOT_BATCHES: u64 = 8;
/// Keys of such a batch that are looked at.
const HOT_KEYS_PER_BATCH: usize = 1 << 22;
/// Keys of the beginning of a pipe that stand for all of it when the hot ones are looked for.
const PREFIX_KEYS: usize = 1 << 20;
/// The first rate of `auto`, and how it grows.
const RATE_FIRST: f64 = 0.01;
const RATE_GROWS: f64 = 4.0;

/// What an access of a step takes.
const ACCESS_BYTES: u64 = 16;

/// What came of it.
pub(super) struct Outcome {
    pub(super) curve: PolicyCurve,
    pub(super) tally: Tally,
}

/// Refuses what no sample can show, before anything is read.
pub(super) fn must_be_possible(spec: &Spec) -> Result<(), Error> {
    let is_possible = spec.sample.is_none() || spec.policies.iter().all(is_lru);
    if is_possible { Ok(()) } else { Err(Error::SampleOfOthers) }
}

/// Draws the curve of pages of this size.
pub(super) fn run(
    spec: &Spec,
    reading: &mut Reading<'_>,
    page_bytes: u64,
    (rate, warmup): (Rate, u64),
) -> Result<Outcome, Error> {
    let again = reading.again();
    let Rate::Fixed(rate) = rate else {
        if !again {
            return Err(Error::AutoOfPipe);
        }
        return auto(spec, reading, page_bytes, warmup);
    };
    if again {
        let hot = hot(spec, reading, page_bytes)?;
        return once(spec, reading, page_bytes, (rate, warmup), &hot);
    }
    pipe(spec, reading, page_bytes, (rate, warmup))
}

/// Widens the sample until its bands are narrow enough; everything is exact.
fn auto(
    spec: &Spec,
    reading: &mut Reading<'_>,
    page_bytes: u64,
    warmup: u64,
) -> Result<Outcome, Error> {
    let hot = hot(spec, reading, page_bytes)?;
    let mut rate = RATE_FIRST;
    loop {
        let outcome = once(spec, reading, page_bytes, (rate, warmup), &hot)?;
        let widest = outcome.curve.points.iter().map(CurvePoint::half_width).fold(0.0, f64::max);
        reading.notice(&Notice::BandWidth { rate, points: widest * 100.0 });
        let enough = widest * 100.0 <= spec.tolerance && !outcome.curve.points.is_empty();
        if enough || rate >= 1.0 {
            return Ok(outcome);
        }
        rate = (rate * RATE_GROWS).min(1.0);
    }
}

fn pages(spec: &Spec, reading: &Reading<'_>, page_bytes: u64) -> Pages {
    let unit = reading.source.detected().unit;
    Pages::new(unit, page_bytes, spec.writes, spec.whole)
}

/// The keys that are asked for most, from one batch in some.
fn hot(spec: &Spec, reading: &mut Reading<'_>, page_bytes: u64) -> Result<Vec<u64>, Error> {
    let mut pages = pages(spec, reading, page_bytes);
    let mut frequent = Frequent::new(HOT_KEYS);
    let mut batches = 0;
    reading.read(|requests, _| {
        if batches % HOT_BATCHES == 0 {
            let (mut rest, mut keys, mut step) = (requests, 0, Step::default());
            // Requests of gibibytes have millions of keys each, and none of them is hotter for it.
            while !rest.is_empty() && keys < HOT_KEYS_PER_BATCH {
                rest = &rest[pages.step(rest, &mut step)..];
                frequent.access(&step.keys);
                keys += step.keys.len();
            }
        }
        batches += 1;
        Ok(())
    })?;
    Ok(frequent.finish())
}

fn once(
    spec: &Spec,
    reading: &mut Reading<'_>,
    page_bytes: u64,
    (rate, mut warming): (f64, u64),
    hot: &[u64],
) -> Result<Outcome, Error> {
    let mut pages = pages(spec, reading, page_bytes);
    let mut sampled = Sampled::new(rate, reading.session.seed, hot);
    reading.read(|requests, bound| {
        let warming = &mut warming;
        let mut following = Following { pages: &mut pages, sampled: &mut sampled, warming };
        take_within(&mut following, requests, FOLLOWED, bound)
    })?;
    finish(reading, page_bytes, sampled, (rate, hot.len()), pages.tally())
}

/// A pipe comes once: its beginning is kept, to find the hot keys, and then taken as the rest is.
fn pipe(
    spec: &Spec,
    reading: &mut Reading<'_>,
    page_bytes: u64,
    (rate, mut warming): (f64, u64),
) -> Result<Outcome, Error> {
    let mut pages = pages(spec, reading, page_bytes);
    // Each with whether it ends the warm-up.
    let mut kept: Vec<(Step, bool)> = Vec::new();
    let mut kept_keys = 0;
    let mut sampled: Option<(Sampled, usize)> = None;
    let seed = reading.session.seed;
    let begin = |kept: &mut Vec<(Step, bool)>| {
        let mut frequent = Frequent::new(HOT_KEYS);
        for (step, _) in kept.iter() {
            frequent.access(&step.keys);
        }
        let hot = frequent.finish();
        let mut sampled = Sampled::new(rate, seed, &hot);
        for (step, ends_warmup) in kept.drain(..) {
            feed(&mut sampled, &step);
            if ends_warmup {
                sampled.start_counting();
            }
        }
        (sampled, hot.len())
    };
    reading.read(|requests, bound| {
        let mut rest = requests;
        while sampled.is_none() && !rest.is_empty() {
            let mut step = Step::default();
            let taken = pages.step(&rest[..most(warming, rest.len())], &mut step);
            rest = &rest[taken..];
            kept_keys += step.keys.len();
            kept.push((step, ends(&mut warming, taken)));
            if kept_keys >= PREFIX_KEYS {
                sampled = Some(begin(&mut kept));
            }
        }
        let Some((sampled, _)) = &mut sampled else { return Ok(()) };
        let warming = &mut warming;
        let mut following = Following { pages: &mut pages, sampled, warming };
        take_within(&mut following, rest, FOLLOWED, bound)
    })?;
    let (sampled, hot) = sampled.unwrap_or_else(|| begin(&mut kept));
    finish(reading, page_bytes, sampled, (rate, hot), pages.tally())
}

fn finish(
    reading: &Reading<'_>,
    page_bytes: u64,
    sampled: Sampled,
    (rate, hot): (f64, usize),
    tally: Tally,
) -> Result<Outcome, Error> {
    let followed_keys = sampled.followed() as u64;
    let estimate = sampled.finish();
    let sizes = sampled_sizes(&estimate, reading.spec.sizes.as_ref(), page_bytes)?;
    let facts = SampleFacts {
        rate,
        seed: reading.session.seed,
        hot_keys: hot as u64,
        followed_keys,
        judged_from_pages: None,
    };
    Ok(Outcome { curve: sampled_curve(&estimate, &sizes, page_bytes, facts), tally })
}

/// What grows with a trace.
const FOLLOWED: &str = "the keys that the sample follows";

/// A sample that is fed.
struct Following<'a> {
    pages: &'a mut Pages,
    sampled: &'a mut Sampled,
    /// Requests of the warm-up that are still to come.
    warming: &'a mut u64,
}

impl Growing for Following<'_> {
    fn most(&self, requests: &[Request]) -> u64 {
        let ahead = self.pages.ahead(requests);
        let step = ACCESS_BYTES * ahead.longest;
        self.sampled.bytes(ahead.keys).saturating_add(self.pages.bytes(ahead.keys) + step)
    }

    fn least(&self, requests: &[Request]) -> u64 {
        self.sampled.bytes(0).max(self.sampled.bytes_for(self.pages.distinct(requests)))
    }

    fn take(&mut self, requests: &[Request]) {
        let (first, others) = requests.split_at(most(*self.warming, requests.len()));
        each(self.pages, first, |step| feed(self.sampled, step));
        if ends(self.warming, first.len()) {
            self.sampled.start_counting();
        }
        each(self.pages, others, |step| feed(self.sampled, step));
    }
}

/// How many of these requests can be taken at once: none of them beyond the end of the warm-up.
fn most(warming: u64, requests: usize) -> usize {
    match usize::try_from(warming) {
        Ok(left) if left > 0 => left.min(requests),
        _ => requests,
    }
}

/// Takes requests off the warm-up; whether they end it.
fn ends(warming: &mut u64, requests: usize) -> bool {
    let was_warming = *warming > 0;
    *warming = warming.saturating_sub(requests as u64);
    was_warming && *warming == 0
}

/// Gives the steps of these requests to `take`.
fn each(pages: &mut Pages, mut requests: &[Request], mut take: impl FnMut(&Step)) {
    let mut step = Step::default();
    while !requests.is_empty() {
        let taken = pages.step(requests, &mut step);
        take(&step);
        requests = &requests[taken..];
    }
}

fn feed(sampled: &mut Sampled, step: &Step) {
    sampled.access(&step.keys);
    step.gone.iter().for_each(|range| sampled.remove(range.first, range.last));
}
