//! A size by what the user wants of it, instead of the knee: so many hits, so little delay, or the
//! lowest bill. `docs/report.md` has the formulas and what they assume.
//!
//! Invariant: a size that is chosen meets its target by the figures of the curve, and what cannot
//! be met is answered with the best there is. Cost: linear in the points.

use std::fmt;

use super::falls::Falls;
use super::recommend::with_margin;
use super::result::{Curve, TimePoint};
use crate::units::{Bytes, whole};

/// Seconds in a month of 730 hours, as hourly prices are turned into monthly ones.
const MONTH_SECONDS: f64 = 730.0 * 3600.0;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At least this share of the page accesses finds a page that was kept.
    Hit(f64),
    /// At most so many times the time it takes with room for everything.
    Slowdown(f64),
    /// The lowest sum of what memory and fills cost.
    Price {
        /// Dollars for a GiB of memory in a month.
        memory: f64,
        /// Dollars for a million pages filled.
        fills: f64,
    },
}

/// Why a text is no target; the message has the grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

impl std::str::FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = |what: &str| TargetError(format!("`{text}` {what}"));
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let grammar = "is not a target: write hit=0.95, slowdown=1.1, or price=3.5,0.4 (dollars \
                       for a GiB-month of memory, dollars for a million fills)";
        let (name, value) = text.split_once('=').ok_or_else(|| wrong(grammar))?;
        match name.trim() {
            "hit" => match number(value) {
                Some(share) if share > 0.0 && share <= 1.0 => Ok(Self::Hit(share)),
                _ => Err(wrong("is not a share: write hit=0.95 for 95 % of the page accesses")),
            },
            "slowdown" => match number(value) {
                Some(times) if times >= 1.0 => Ok(Self::Slowdown(times)),
                _ => Err(wrong("is not a slowdown: write slowdown=1.1 for at most 10 % longer")),
            },
            "price" => {
                let prices = value.split_once(',');
                let prices = prices.and_then(|(memory, fills)| number(memory).zip(number(fills)));
                match prices {
                    Some((memory, fills)) if memory >= 0.0 && fills >= 0.0 => {
                        if memory + fills > 0.0 {
                            return Ok(Self::Price { memory, fills });
                        }
                        Err(wrong("makes everything free: one of the prices must be more than 0"))
                    }
                    _ => Err(wrong(
                        "is not two prices: write price=3.5,0.4, dollars for a GiB-month of \
                         memory and dollars for a million fills",
                    )),
                }
            }
            _ => Err(wrong(grammar)),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hit(share) => write!(f, "hit={share}"),
            Self::Slowdown(times) => write!(f, "slowdown={times}"),
            Self::Price { memory, fills } => write!(f, "price={memory},{fills}"),
        }
    }
}

/// What there is to choose from.
pub struct Offer<'a> {
    /// The curve, of a point at least.
    pub curve: &'a Curve,
    /// Predicted time, ascending by size; empty where none is.
    pub time: &'a [TimePoint],
    /// Predicted time at any size: the shorter and the longer estimate.
    pub seconds: &'a dyn Fn(Bytes) -> (f64, f64),
    /// The limit that leaves room for a cache.
    pub limit: &'a dyn Fn(Bytes) -> Bytes,
    /// How long a run takes; 0 where that is not known.
    pub run_seconds: f64,
}

/// The size, if there is one, and the sentence that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Room for file pages; nothing where the target cannot be met.
    pub cache: Option<Bytes>,
    /// Why, or what is best instead.
    pub reason: String,
}

impl Choice {
    fn none(reason: String) -> Self {
        Self { cache: None, reason }
    }
}

/// The smallest size that meets the target; of prices, the cheapest.
pub fn choose(target: Target, offer: &Offer<'_>) -> Choice {
    if offer.curve.points.is_empty() {
        return Choice::none("no file pages were touched: there is nothing to choose".into());
    }
    match target {
        Target::Hit(share) => hit(share, offer),
        Target::Slowdown(times) => slowdown(times, offer),
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
    let sizes = Falls::of(offer.curve).0;
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;
    use crate::experiment::result::Point;

    const MIB: u64 = 1 << 20;

    /// Ten passes over 100 MiB of which 60 MiB are wanted more often; 1000 accesses a step.
    fn lru(pages: u64) -> u64 {
        match pages {
            0..15_360 => 300_000,
            15_360..25_600 => 100_000,
            _ => 25_600,
        }
    }

    fn curve() -> Curve {
        let sizes = [1, 10, 30, 60, 80, 100, 110];
        let point = |&mib: &u64| Point {
            cache_bytes: Bytes(mib * MIB),
            lru_misses: lru(mib * 256),
            lru_fills: lru(mib * 256),
            two_list_fills: lru(mib * 256) + 100,
            interpolated: false,
        };
        Curve {
            points: sizes.iter().map(point).collect(),
            footprint_bytes: Bytes(100 * MIB),
            accesses: 512_000,
        }
    }

    /// Between the points the time is that of the next larger one, but for 10 MiB.
    fn seconds(cache: Bytes) -> (f64, f64) {
        match cache.0 / MIB {
            0..10 => (30.0, 40.0),
            10..60 => (9.0, 11.0),
            60..80 => (14.0, 15.0),
            _ => (10.0, 12.0),
        }
    }

    fn times() -> Vec<TimePoint> {
        let point = |&(mib, low, high): &(u64, f64, f64)| TimePoint {
            cache_bytes: Bytes(mib * MIB),
            limit_bytes: Bytes((mib + 10) * MIB),
            seconds_low: low,
            seconds_high: high,
        };
        let points = [(1, 30.0, 40.0), (30, 9.0, 11.0), (60, 14.0, 15.0), (100, 10.0, 12.0)];
        points.iter().map(point).collect()
    }

    fn check_with(
        target: &str,
        curve: &Curve,
        time: &[TimePoint],
        run_seconds: f64,
        want: &Expect,
    ) {
        let offer = Offer {
            curve,
            time,
            seconds: &seconds,
            limit: &|cache| cache + Bytes(10 * MIB),
            run_seconds,
        };
        let Choice { cache, reason } = choose(target.parse().unwrap(), &offer);
        let cache = cache.map_or("none".into(), |cache| cache.to_string());
        want.assert_eq(&format!("{cache}: {reason}\n"));
    }

    fn check(target: &str, want: &Expect) {
        check_with(target, &curve(), &times(), 2.0, want);
    }

    #[test]
    fn hits_are_those_of_pages_that_were_kept() {
        check(
            "hit=0.5",
            &expect![[r#"
                61.2 MiB: at 61.2 MiB 80.46 % of the page accesses hit; no size simulated below 60.0 MiB reaches 50 %
            "#]],
        );
        check(
            "hit=0.4",
            &expect![[r#"
            1.02 MiB: at 1.02 MiB 41.4 % of the page accesses hit; a smaller cache would lose what is read ahead
        "#]],
        );
        check(
            "hit=0.8",
            &expect![[r#"
                61.2 MiB: at 61.2 MiB 80.46 % of the page accesses hit; no size simulated below 60.0 MiB reaches 80 %
            "#]],
        );
        check(
            "hit=0.95",
            &expect![[r#"
                102 MiB: at 102 MiB 95 % of the page accesses hit; no size simulated below 100 MiB reaches 95 %
            "#]],
        );
        check(
            "hit=0.9999",
            &expect![[r#"
            none: 95 % of the page accesses hit at best, with 110 MiB, which holds everything: the others are the first to their page
        "#]],
        );
    }

    #[test]
    fn hits_that_only_lru_promises_do_not_count() {
        // The kernel fills more at 60 MiB than LRU misses, and reads ahead in vain everywhere.
        let mut curve = curve();
        for point in &mut curve.points {
            point.two_list_fills += 5000;
        }
        curve.points[3].two_list_fills = 290_000;
        check_with(
            "hit=0.8",
            &curve,
            &[],
            1.0,
            &expect![[r#"
                81.6 MiB: at 81.6 MiB 80.46 % of the page accesses hit; no size simulated below 80.0 MiB reaches 80 %
            "#]],
        );
    }

    #[test]
    fn a_slowdown_counts_from_where_no_larger_size_breaks_it() {
        check(
            "slowdown=1",
            &expect![[r#"
                81.6 MiB: at 81.6 MiB it takes 1.00 times as long as with room for everything, 10.00 to 12.00 s
            "#]],
        );
        check(
            "slowdown=1.4",
            &expect![[r#"
                10.2 MiB: at 10.2 MiB it takes 0.92 times as long as with room for everything, 9.00 to 11.00 s
            "#]],
        );
        check(
            "slowdown=10",
            &expect![[r#"
            1.02 MiB: at 1.02 MiB it takes 3.33 times as long as with room for everything, 30.00 to 40.00 s
        "#]],
        );
        check_with(
            "slowdown=1.1",
            &curve(),
            &[],
            2.0,
            &expect![[r#"
                none: no time can be predicted: let the device be measured or give --iops; without --no-verify, or with --capture perf
            "#]],
        );
    }

    #[test]
    fn prices_are_weighed_against_each_other() {
        // Fills for nothing, memory for nothing, and both.
        check(
            "price=1,0",
            &expect![[r#"
            1.02 MiB: with 11.0 MiB a month costs least, $0.0108: $0.0108 for the memory and $0.0000 for 394331 million fills in 1314000 runs back to back
        "#]],
        );
        check(
            "price=0,1",
            &expect![[r#"
            102 MiB: with 112 MiB a month costs least, $33769.80: $0.0000 for the memory and $33769.80 for 33770 million fills in 1314000 runs back to back
        "#]],
        );
        check(
            "price=3.5,0.00001",
            &expect![[r#"
            102 MiB: with 112 MiB a month costs least, $0.7205: $0.3828 for the memory and $0.3377 for 33770 million fills in 1314000 runs back to back
        "#]],
        );
        check_with(
            "price=3.5,0.4",
            &curve(),
            &[],
            0.0,
            &expect![[r#"
                none: it is not known how long a run takes, so that fills in a month are not either: ask without --no-verify, or with --capture perf
            "#]],
        );
    }

    #[test]
    fn where_nothing_was_touched_nothing_is_chosen() {
        for target in ["hit=0.5", "slowdown=2", "price=1,1"] {
            let offer = Offer {
                curve: &Curve::default(),
                time: &[],
                seconds: &seconds,
                limit: &|cache| cache,
                run_seconds: 1.0,
            };
            let choice = choose(target.parse().unwrap(), &offer);
            assert_eq!(choice.cache, None);
            assert_eq!(choice.reason, "no file pages were touched: there is nothing to choose");
        }
    }

    #[test]
    fn a_target_is_read_or_refused_with_its_grammar() {
        for text in ["hit=0.95", "hit=1", "slowdown=1", "slowdown=1.1", "price=3.5,0.4"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        let refused = |text: &str, part: &str| {
            let error = text.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(part) && error.starts_with('`'), "{text}: {error}");
            assert!(!error.contains('\n'), "{error}");
        };
        for text in ["", "hit", "=", "speed=3", "0.95"] {
            refused(text, "write hit=0.95, slowdown=1.1, or price=3.5,0.4");
        }
        for text in ["hit=", "hit=0", "hit=95", "hit=95%", "hit=-1", "hit=NaN", "hit=x"] {
            refused(text, "is not a share");
        }
        for text in ["slowdown=", "slowdown=0.9", "slowdown=inf", "slowdown=10%"] {
            refused(text, "is not a slowdown");
        }
        for text in ["price=", "price=1", "price=1,", "price=-1,1", "price=1,2,3", "price=1,NaN"] {
            refused(text, "is not two prices");
        }
        refused("price=0,0", "makes everything free");
    }

    proptest! {
        #[test]
        fn what_is_chosen_meets_the_target(share in 0.01..1.0_f64, slower in 1.0..5.0_f64) {
            let (curve, time) = (curve(), times());
            let offer = Offer {
                curve: &curve,
                    time: &time,
                seconds: &seconds,
                limit: &|cache| cache,
                run_seconds: 1.0,
            };
            let hits = |cache: Bytes| 1.0 - lru(cache.pages_down().0) as f64 / 512_000.0;
            match choose(Target::Hit(share), &offer).cache {
                Some(cache) => prop_assert!(hits(cache) >= share),
                None => prop_assert!(hits(Bytes(110 * MIB)) < share),
            }
            let cache = choose(Target::Slowdown(slower), &offer).cache.unwrap();
            let larger = time.iter().filter(|at| at.cache_bytes >= cache);
            for at in larger {
                prop_assert!(at.seconds_high <= slower * 12.0 && at.seconds_low <= slower * 10.0);
            }
        }
    }
}
