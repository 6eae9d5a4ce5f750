//! The size that meets a target, by the figures of a curve.

use super::Target;
use crate::experiment::hull::MissCurve;
use crate::experiment::recommend::with_margin;
use crate::experiment::result::{Curve, TimePoint};
use crate::units::{Bytes, whole};

/// Seconds in a month of 730 hours, as hourly prices are turned into monthly ones.
pub(in crate::experiment) const MONTH_SECONDS: f64 = 730.0 * 3600.0;

/// What there is to choose from.
pub(in crate::experiment) struct Offer<'a> {
    /// The curve, of a point at least.
    pub(in crate::experiment) curve: &'a Curve,
    /// Predicted time, ascending by size; empty where none is.
    pub(in crate::experiment) time: &'a [TimePoint],
    /// Predicted time at any size: the shorter and the longer estimate.
    pub(in crate::experiment) seconds: &'a dyn Fn(Bytes) -> (f64, f64),
    /// The limit that leaves room for a cache.
    pub(in crate::experiment) limit: &'a dyn Fn(Bytes) -> Bytes,
    /// How long a run takes; 0 where that is not known.
    pub(in crate::experiment) run_seconds: f64,
}

/// The size, if there is one, and the sentence that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::experiment) struct Choice {
    /// Room for file pages; nothing where the target cannot be met.
    pub(in crate::experiment) cache: Option<Bytes>,
    /// Why, or what is best instead.
    pub(in crate::experiment) reason: String,
}

impl Choice {
    fn none(reason: String) -> Self {
        Self { cache: None, reason }
    }
}

/// The smallest size that meets the target; of prices, the cheapest.
pub(in crate::experiment) fn choose(target: Target, offer: &Offer<'_>) -> Choice {
    if offer.curve.points.is_empty() {
        return Choice::none("no file pages were touched: there is nothing to choose".into());
    }
    match target {
        Target::Hit(share) => hit(share, offer),
        Target::Slowdown(times) => slowdown(times, offer),
        Target::Stall(_) => Choice::none("only runs show how long a task waits for memory".into()),
        Target::Fills(_) => {
            Choice::none("only programs that run already have a rate of fills".into())
        }
        Target::Price { memory, fills } => price(memory, fills, offer),
    }
}

/// An access hits when its page was kept, not when it was read ahead just in time.
fn hit(share: f64, offer: &Offer<'_>) -> Choice {
    let sizes = misses(offer.curve);
    let (smallest, largest) = (sizes[0].0, sizes[sizes.len() - 1].0);
    let accesses = offer.curve.accesses.max(1) as f64;
    let ratio = |misses: u64| (1.0 - misses as f64 / accesses).max(0.0);
    let best = ratio(sizes[sizes.len() - 1].1);
    let Some(&(foot, missed)) = sizes.iter().find(|&&(_, misses)| ratio(misses) >= share) else {
        return Choice::none(format!(
            "{} % of the page accesses hit at best, with {largest}, which holds everything: the \
             others are the first to their page",
            percent(best)
        ));
    };
    let cache = with_margin(foot, largest);
    let hits = percent(ratio(missed));
    let below = if foot > smallest {
        format!("no size simulated below {foot} reaches {} %", percent(share))
    } else {
        "a smaller cache would lose what is read ahead".into()
    };
    Choice {
        cache: Some(cache),
        reason: format!("at {cache} {hits} % of the page accesses hit; {below}"),
    }
}

/// At each simulated size the accesses whose page had to be filled for them: the upper edge of the
/// predicted fills, less what is read ahead in vain even with room for everything, and never fewer
/// than LRU misses. Only falling: what a size promises, no larger size may break.
fn misses(curve: &Curve) -> Vec<(Bytes, u64)> {
    let simulated = curve.points.iter().filter(|point| !point.interpolated).count();
    let points = curve.points.iter().rev().filter(|point| simulated == 0 || !point.interpolated);
    let last = curve.points.last();
    let in_vain = last.map_or(0, |last| last.fills_high().saturating_sub(last.lru_misses));
    let mut most = 0;
    let mut sizes: Vec<_> = points
        .map(|point| {
            let filled = point.fills_high().saturating_sub(in_vain);
            most = filled.max(point.lru_misses).max(most);
            (point.cache_bytes, most)
        })
        .collect();
    sizes.reverse();
    sizes
}

/// The size from which on nothing takes longer than allowed, by both edges of the band of time.
fn slowdown(times: f64, offer: &Offer<'_>) -> Choice {
    let Some(all) = offer.time.last() else {
        return Choice::none(
            "no time can be predicted: let the device be measured or give --iops; without \
             --no-verify, or with --capture perf"
                .into(),
        );
    };
    let allowed = |(low, high): (f64, f64)| {
        low <= times * all.seconds_low && high <= times * all.seconds_high
    };
    let edges = |at: &TimePoint| (at.seconds_low, at.seconds_high);
    let within = offer.time.iter().rev().take_while(|at| allowed(edges(at))).count().max(1);
    let first = offer.time.len() - within;
    let mut best = (offer.time[first].cache_bytes, edges(&offer.time[first]));
    // Time is known at few sizes; between them, those of the curve are halved.
    if let Some(before) = first.checked_sub(1).map(|at| offer.time[at].cache_bytes) {
        let points = offer.curve.points.iter().filter(|point| !point.interpolated);
        let sizes = points.map(|point| point.cache_bytes);
        let mut between: Vec<Bytes> =
            sizes.filter(|&size| size > before && size < best.0).collect();
        while !between.is_empty() {
            let middle = between.len() / 2;
            let seconds = (offer.seconds)(between[middle]);
            if allowed(seconds) {
                best = (between[middle], seconds);
                between.truncate(middle);
            } else {
                between.drain(..=middle);
            }
        }
    }
    let (size, (low, high)) = best;
    let cache = with_margin(size, all.cache_bytes.max(size));
    let slower = (high / all.seconds_high).max(low / all.seconds_low);
    let slower = if slower.is_finite() { slower } else { 1.0 };
    Choice {
        cache: Some(cache),
        reason: format!(
            "at {cache} it takes {slower:.2} times as long as with room for everything, {}",
            range(low, high)
        ),
    }
}

fn range(low: f64, high: f64) -> String {
    let (low, high) = (format!("{low:.2}"), format!("{high:.2}"));
    if low == high { format!("{low} s") } else { format!("{low} to {high} s") }
}

/// Every size does the same work in a month: as many runs as fit back to back when each takes as
/// long as the recorded one. Were they as many as fit at each size, a size that thrashes would do
/// less work and look cheap.
fn price(memory: f64, fills: f64, offer: &Offer<'_>) -> Choice {
    if offer.run_seconds <= 0.0 {
        return Choice::none(
            "it is not known how long a run takes, so that fills in a month are not either: ask \
             without --no-verify, or with --capture perf"
                .into(),
        );
    }
    let runs = MONTH_SECONDS / offer.run_seconds;
    let sizes = MissCurve::of(offer.curve).0;
    let largest = sizes.last().map_or(Bytes(0), |&(size, _)| size);
    let bills = sizes.iter().map(|&(size, filled)| {
        let cache = with_margin(size, largest);
        let limit = (offer.limit)(cache);
        let monthly = filled as f64 * runs;
        let gibibytes = limit.0 as f64 / f64::from(1 << 30);
        Bill { cache, limit, monthly, memory: memory * gibibytes, fills: fills * monthly / 1e6 }
    });
    let Some(bill) = bills.min_by(|a, b| a.sum().total_cmp(&b.sum())) else {
        return Choice::none("there is no size to choose from".into());
    };
    Choice {
        cache: Some(bill.cache),
        reason: format!(
            "with {} a month costs least, {}: {} for the memory and {} for {} in {} runs back to \
             back",
            bill.limit,
            dollars(bill.sum()),
            dollars(bill.memory),
            dollars(bill.fills),
            fills_of(bill.monthly),
            whole(runs)
        ),
    }
}

/// What a month with one size costs.
struct Bill {
    cache: Bytes,
    limit: Bytes,
    monthly: f64,
    memory: f64,
    fills: f64,
}

impl Bill {
    fn sum(&self) -> f64 {
        self.memory + self.fills
    }
}

fn dollars(amount: f64) -> String {
    if amount < 1.0 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

fn fills_of(number: f64) -> String {
    match number / 1e6 {
        few if few < 1.0 => format!("{} fills", whole(number)),
        some if some < 100.0 => format!("{some:.1} million fills"),
        many => format!("{many:.0} million fills"),
    }
}

/// A share in percent, never rounded up to one that was not reached.
fn percent(share: f64) -> String {
    let hundredths = (share * 10_000.0 + 1e-9).floor() / 100.0;
    hundredths.to_string()
}
