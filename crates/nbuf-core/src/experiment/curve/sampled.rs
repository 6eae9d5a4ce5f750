//! Curves from a sample of the keys: LRU's, and from small caches those of other policies.

use super::following::{FOLLOWED, Following, ends, feed, most};
use super::policies::{is_lru, policies};
use super::reading::Reading;
use super::spec::Rate;
use super::{Error, Spec};
use crate::cache::policy::Choice;
use crate::experiment::grid::{Miniature, sampled_curve, sampled_sizes};
use crate::experiment::notice::Notice;
use crate::experiment::result::{CurvePoint, PolicyCurve, SampleFacts, Warning};
use crate::meter::sampled::{Frequent, Sampled};
use crate::workload::pages::{Pages, Step, Tally};
use crate::workload::within::take_within;

/// Keys that are followed exactly.
const HOT_KEYS: usize = 8192;
/// One batch in this many is looked at to find them.
const HOT_BATCHES: u64 = 8;
/// Keys of such a batch that are looked at.
const HOT_KEYS_PER_BATCH: usize = 1 << 22;
/// Keys of the beginning of a pipe that stand for all of it when the hot ones are looked for.
const PREFIX_KEYS: usize = 1 << 20;
/// A policy whose sketch has a power of two of counters, so that small caches do not stand for large ones: at
/// 2^18 pages the truth was in 12 of 40 bands.
const W_TINYLFU: &str = "w-tinylfu";
/// A policy that learns with each regret: a small cache has fewer, and learns less.
const LECAR: &str = "lecar";
/// The first rate of `auto`, and how it grows.
const RATE_FIRST: f64 = 0.01;
const RATE_GROWS: f64 = 4.0;

/// What came of it.
pub(super) struct Outcome {
    /// The curves of the policies of the spec; while they are drawn, LRU's and those of the others.
    pub(super) curves: Vec<PolicyCurve>,
    pub(super) tally: Tally,
    sizes_pages: Vec<u64>,
    /// Policies for which the last reading was not the first.
    pub(super) left_out: Option<Warning>,
}

/// Refuses what no sample can show, before anything is read.
pub(super) fn must_be_possible(spec: &Spec) -> Result<(), Error> {
    let has = |name| spec.policies.iter().any(|choice: &Choice| choice.row().name == name);
    match spec.sample {
        Some(_) if has(W_TINYLFU) => Err(Error::SampleOfSketch),
        Some(_) if has(LECAR) => Err(Error::SampleOfLearner),
        _ => Ok(()),
    }
}

/// The policies that small caches stand for.
fn others(spec: &Spec) -> Vec<Choice> {
    spec.policies
        .first()
        .map_or_else(Vec::new, |_| policies(spec))
        .into_iter()
        .filter(|choice| !is_lru(choice))
        .collect()
}

/// Draws the curves of pages of this size.
pub(super) fn run(
    spec: &Spec,
    reading: &mut Reading<'_>,
    page_bytes: u64,
    (rate, warmup): (Rate, u64),
) -> Result<Outcome, Error> {
    let mut outcome = draw(spec, reading, page_bytes, (rate, warmup))?;
    let lru = |choice: &Choice| choice.to_string();
    if !spec.policies.is_empty() {
        let order: Vec<String> = policies(spec).iter().map(lru).collect();
        let place = |curve: &PolicyCurve| order.iter().position(|policy| *policy == curve.policy);
        outcome.curves.retain(|curve| place(curve).is_some());
        outcome.curves.sort_by_key(place);
    }
    Ok(outcome)
}

fn draw(
    spec: &Spec,
    reading: &mut Reading<'_>,
    page_bytes: u64,
    (rate, warmup): (Rate, u64),
) -> Result<Outcome, Error> {
    let again = reading.again();
    if !again && !others(spec).is_empty() {
        return Err(Error::SampleOfPipe);
    }
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
        let points = || outcome.curves.iter().flat_map(|curve| &curve.points);
        let widest = points().map(CurvePoint::half_width).fold(0.0, f64::max);
        reading.notice(&Notice::BandWidth { rate, points: widest * 100.0 });
        let is_judged = outcome.curves.iter().all(|curve| !curve.points.is_empty());
        let enough = widest * 100.0 <= spec.tolerance && is_judged;
        if enough || rate >= 1.0 || reading.is_ended() {
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
    (rate, warmup): (f64, u64),
    hot: &[u64],
) -> Result<Outcome, Error> {
    let mut warming = warmup;
    let mut pages = pages(spec, reading, page_bytes);
    let mut sampled = Sampled::new(rate, reading.session.seed, hot);
    reading.read(|requests, bound| {
        let warming = &mut warming;
        let mut following = Following { pages: &mut pages, sampled: &mut sampled, warming };
        take_within(&mut following, requests, FOLLOWED, bound)
    })?;
    let mut outcome = finish(reading, page_bytes, sampled, (rate, hot.len()), pages.tally())?;
    let others = others(spec);
    if !others.is_empty() {
        let names = others.iter().map(ToString::to_string).collect();
        let curves = miniatures(reading, page_bytes, (rate, warmup), others, &outcome)?;
        if reading.is_as_before() {
            outcome.curves.extend(curves);
        } else {
            let changed = reading.changed();
            outcome.left_out = Some(Warning::PoliciesLeftOut { policies: names, changed });
        }
    }
    Ok(outcome)
}

/// Small caches of the other policies, at the sizes of LRU's curve: another reading.
fn miniatures(
    reading: &mut Reading<'_>,
    page_bytes: u64,
    (rate, mut warming): (f64, u64),
    others: Vec<Choice>,
    lru: &Outcome,
) -> Result<Vec<PolicyCurve>, Error> {
    let mut pages = pages(reading.spec, reading, page_bytes);
    let seed = reading.session.seed;
    let least = Miniature::least_bytes(&others, lru.sizes_pages.len(), rate);
    reading.bound().allow(FOLLOWED, least)?;
    let mut miniature = Miniature::new(others, lru.sizes_pages.clone(), rate, seed);
    reading.read(|requests, bound| {
        let (pages, sampled, warming) = (&mut pages, &mut miniature, &mut warming);
        take_within(&mut Following { pages, sampled, warming }, requests, FOLLOWED, bound)
    })?;
    Ok(lru.curves.first().map_or_else(Vec::new, |lru| miniature.finish(lru)))
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
    let lru = sampled_curve(&estimate, &sizes, page_bytes, facts);
    Ok(Outcome { curves: vec![lru], tally, sizes_pages: sizes, left_out: None })
}
