//! Two results of `nbuf size` side by side, and whether the second needs too much.
//!
//! A difference counts when it is larger than what the same command gives by chance. That is the
//! noise: for sizes, rounding and the percent to which a curve knows a cliff; for predictions, the
//! band and that percent; for measurements, the spread of the runs. `docs/report.md` has the figures.
//! Not for a judgement of time from single runs: how far they spread is not known.
//!
//! ```
//! use nbuf::experiment::compare::{CompareError, compare};
//! use nbuf::experiment::result::SizeReport;
//!
//! let empty = SizeReport::default();
//! assert!(matches!(compare(&empty, &empty, 0.0), Err(CompareError::NoRecommendation(_))));
//! ```

use super::result::{
    Comparison, Difference, MAPPED_SHARE_MAX, Measure, Point, Quantity, Recommend, Sample, Side,
    SizeReport, Verified, Warning,
};
use super::statistics::Spread;
use crate::units::{Bytes, PAGE_BYTES, whole};

/// Limits are whole mebibytes.
const LIMIT_STEP: f64 = (1 << 20) as f64;
/// A cliff of a curve is known to this part of its size.
const SIZE_PART: f64 = 0.01;
/// The kernel charges memory in batches of 64 pages a processor, so that a peak is met or missed
/// by that much.
const CHARGED: f64 = (64 * PAGE_BYTES) as f64;
/// Pages that other processes bring or drop while a command runs, 64 in each of two results: they
/// are part of the footprint, of the fills, and of the size at which a loop fits.
const OTHERS_PAGES: f64 = 128.0;

/// Why two documents cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// One recommends nothing.
    #[error(
        "{0} recommends no size (a lower bound, or no file was touched); run it again with --force"
    )]
    NoRecommendation(Which),
    /// They did not do the same.
    #[error(
        "the command of A ended with status {a}, the command of B with {b}: a command that ends early \
         needs less; make both again"
    )]
    Status {
        /// The status of A.
        a: i32,
        /// The status of B.
        b: i32,
    },
}

/// One of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first.
    A,
    /// The second.
    B,
}

impl std::fmt::Display for Which {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Self::A { "A" } else { "B" })
    }
}

/// Compares. B may need `budget` times what A needs, and the noise of limits more.
pub fn compare(a: &SizeReport, b: &SizeReport, budget: f64) -> Result<Comparison, CompareError> {
    let (ended, other) = (status(a), status(b));
    if ended != other {
        return Err(CompareError::Status { a: ended, b: other });
    }
    let none = CompareError::NoRecommendation;
    let first = a.recommend.as_ref().ok_or(none(Which::A))?;
    let second = b.recommend.as_ref().ok_or(none(Which::B))?;
    let pair = Pair { a, b, first, second };
    let noise = pair.limit_noise();
    let allowed = first.limit_bytes.0 as f64 * budget + noise;
    let side = |of: &SizeReport, advice: &Recommend| Side {
        command: of.command.clone(),
        limit_bytes: advice.limit_bytes,
    };
    let mut measures = pair.sizes();
    measures.extend(pair.predicted());
    measures.extend(pair.measured());
    Ok(Comparison {
        schema: Comparison::SCHEMA.into(),
        a: side(a, first),
        b: side(b, second),
        budget,
        allowed_bytes: Bytes(whole(allowed)),
        exceeded: second.limit_bytes.0 as f64 > allowed,
        measures,
        warnings: pair.warnings(),
    })
}

/// Both, with what they recommend.
struct Pair<'a> {
    a: &'a SizeReport,
    b: &'a SizeReport,
    first: &'a Recommend,
    second: &'a Recommend,
}

impl Pair<'_> {
    fn cache_noise(&self) -> f64 {
        let larger = self.first.cache_bytes.max(self.second.cache_bytes).0 as f64;
        OTHERS_PAGES * PAGE_BYTES as f64 + larger * SIZE_PART
    }

    fn limit_noise(&self) -> f64 {
        LIMIT_STEP + CHARGED + self.cache_noise()
    }

    fn sizes(&self) -> Vec<Measure> {
        let (a, b) = (&self.a.memory, &self.b.memory);
        let rows = [
            (Quantity::Limit, self.first.limit_bytes, self.second.limit_bytes, self.limit_noise()),
            (Quantity::Cache, self.first.cache_bytes, self.second.cache_bytes, self.cache_noise()),
            (Quantity::Anonymous, a.anonymous_bytes, b.anonymous_bytes, CHARGED),
            (Quantity::Shared, a.shmem_bytes, b.shmem_bytes, CHARGED),
            (Quantity::Kernel, a.kernel_bytes, b.kernel_bytes, CHARGED),
            (
                Quantity::Footprint,
                self.a.footprint_bytes,
                self.b.footprint_bytes,
                OTHERS_PAGES * PAGE_BYTES as f64,
            ),
        ];
        let measure = |(what, a, b, noise): (Quantity, Bytes, Bytes, f64)| {
            measure(what, (a.0 as f64, b.0 as f64), Some(noise))
        };
        rows.into_iter().map(measure).collect()
    }

    /// Fills at the same sizes: what A recommends, half of it, and what B recommends if that is
    /// another size.
    fn predicted(&self) -> Vec<Measure> {
        let own = self.first.cache_bytes;
        let other = self.second.cache_bytes;
        let mut sizes = vec![own, Bytes(own.0 / 2)];
        if (own.0.abs_diff(other.0) as f64) > self.cache_noise() {
            sizes.push(other);
        }
        let row = |&size: &Bytes| {
            let (a, b) = (band(&self.a.curve, size)?, band(&self.b.curve, size)?);
            // Bands that overlap say that both may fill the same.
            let noise = (a.high - a.low) + (b.high - b.low) + OTHERS_PAGES;
            let measure = measure(Quantity::PredictedFills, (a.middle, b.middle), Some(noise));
            Some(Measure { cache_bytes: Some(size), ..measure })
        };
        sizes.iter().filter_map(row).collect()
    }

    /// What was measured of both without a limit, and at the limit that each recommends.
    fn measured(&self) -> Vec<Measure> {
        let run = |of: &'_ SizeReport, limit: Option<Bytes>| {
            let is_it = |run: &&Verified| run.limit_bytes == limit && run.is_finished();
            of.verify.iter().find(is_it).cloned()
        };
        let limits = [
            (false, None, None),
            (true, Some(self.first.tried_bytes()), Some(self.second.tried_bytes())),
        ];
        let mut rows = Vec::new();
        for (limited, a, b) in limits {
            let (Some(a), Some(b)) = (run(self.a, a), run(self.b, b)) else { continue };
            let fills = (a.measured_fills as f64, b.measured_fills as f64);
            let spread = a.fills().zip(b.fills());
            let noise = spread.map_or(0.0, |(a, b)| a.width() + b.width()) + OTHERS_PAGES;
            let seconds = (a.measured_seconds, b.measured_seconds);
            let known = a.seconds().zip(b.seconds()).filter(|(a, b)| a.count.min(b.count) > 1);
            let times = known.map(|(a, b)| a.width() + b.width());
            rows.push(measure(Quantity::MeasuredFills, fills, Some(noise)));
            rows.push(measure(Quantity::MeasuredSeconds, seconds, times));
            for row in rows.iter_mut().rev().take(2) {
                row.limited = Some(limited);
            }
        }
        rows
    }

    fn warnings(&self) -> Vec<Warning> {
        let (a, b) = (self.a, self.b);
        let mut warnings = Vec::new();
        if a.command != b.command {
            let (a, b) = (a.command.join(" "), b.command.join(" "));
            warnings.push(Warning::CommandsDiffer { a, b });
        }
        let (a, b) = (&a.capture, &b.capture);
        if a.readahead_bytes != b.readahead_bytes {
            let (a, b) = (a.readahead_bytes, b.readahead_bytes);
            warnings.push(Warning::ReadaheadDiffers { a, b });
        }
        if a.backend != b.backend {
            let (a, b) = (a.backend.clone(), b.backend.clone());
            warnings.push(Warning::CapturesDiffer { a, b });
        }
        let status = status(self.a);
        if status != 0 {
            warnings.push(Warning::BothFailed { status });
        }
        for (which, of) in [(Which::A, self.a), (Which::B, self.b)] {
            let lost = of.capture.lost;
            if lost > 0 {
                warnings.push(Warning::EventsLost { which, lost });
            }
            if of.capture.mapped_share > MAPPED_SHARE_MAX {
                warnings.push(Warning::LowerBound { which });
            }
            if of.verify.iter().any(|run| run.within_band == Some(false)) {
                warnings.push(Warning::OutOfBand { which });
            }
        }
        warnings
    }
}

/// What the command ended with; a document that does not say so is taken at its best.
fn status(of: &SizeReport) -> i32 {
    of.exit_status.unwrap_or_default()
}

impl Verified {
    /// Whether it has figures: some run came to its end.
    fn is_finished(&self) -> bool {
        self.within_band.is_some() || self.samples.iter().any(Sample::finished)
    }

    fn fills(&self) -> Option<Spread> {
        let ended = self.samples.iter().filter(|sample| sample.finished());
        Spread::of(ended.map(|sample| sample.measured_fills as f64))
    }

    fn seconds(&self) -> Option<Spread> {
        let ended = self.samples.iter().filter(|sample| sample.finished());
        Spread::of(ended.map(|sample| sample.measured_seconds))
    }
}

fn measure(what: Quantity, (a, b): (f64, f64), noise: Option<f64>) -> Measure {
    let difference = match noise {
        None => Difference::NotJudged,
        Some(noise) if (b - a).abs() <= noise => Difference::NotSeen,
        Some(_) if b > a => Difference::More,
        Some(_) => Difference::Less,
    };
    let ratio = (a != 0.0).then(|| b / a);
    Measure { what, cache_bytes: None, limited: None, a, b, ratio, noise, difference }
}

/// What a curve says of a size that is known to a percent.
struct Band {
    low: f64,
    middle: f64,
    high: f64,
}

fn band(curve: &[Point], size: Bytes) -> Option<Band> {
    let around = [1.0 - SIZE_PART, 1.0, 1.0 + SIZE_PART];
    let mut edges = Vec::new();
    for part in around {
        let size = size.0 as f64 * part;
        edges.push(fills_at(curve, size, Point::fills_low)?);
        edges.push(fills_at(curve, size, Point::fills_high)?);
    }
    let spread = Spread::of(edges.iter().copied())?;
    let middle = f64::midpoint(edges[2], edges[3]);
    Some(Band { low: spread.low, middle, high: spread.high })
}

/// Fills at a size, level beyond the ends of the curve.
fn fills_at(curve: &[Point], size: f64, fills: fn(&Point) -> u64) -> Option<f64> {
    let at = |point: &Point| (point.cache_bytes.0 as f64, fills(point) as f64);
    let after = curve.partition_point(|point| (point.cache_bytes.0 as f64) < size);
    let before = after.checked_sub(1).map(|before| at(&curve[before]));
    match (before, curve.get(after).map(at)) {
        (Some((low, more)), Some((high, fewer))) if high > low => {
            Some(more + (fewer - more) * (size - low) / (high - low))
        }
        (_, Some((_, fills))) | (Some((_, fills)), None) => Some(fills),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
