//! Why a size is recommended, in one sentence with figures.
//!
//! How often a page is read says more than a count of fills, but it is only said where unlimited
//! memory reads as many pages as are touched; elsewhere unlimited memory itself is the measure.

use super::hull::MissCurve;
use super::result::Curve;
use crate::units::{Bytes, PAGE_BYTES, grouped};

/// The size shown against the knee, as a share of it.
const COMPARED: f64 = 0.90;
/// How far the pages read may be from the pages touched to be called the same.
const SAME: f64 = 0.05;

/// The reason for `cache`, the knee of a curve at point `knee`; `ceiling` where it is larger.
pub(super) fn knee(
    misses: &MissCurve,
    curve: &Curve,
    knee: usize,
    cache: Bytes,
    ceiling: Option<Bytes>,
) -> String {
    let compared = COMPARED * cache.0 as f64;
    let below = misses.0.partition_point(|&(size, _)| size.0 as f64 <= compared);
    let (smaller, more) = misses.0[below.saturating_sub(1)];
    let few = misses.0[knee].1;
    let (here, there) = (times(few, misses.least()), times(more, misses.least()));
    match (reads(curve, misses.least()), ceiling) {
        (Reads::None, None) => {
            format!("from {cache} on, no page is read; at {smaller} {more} are")
        }
        (Reads::None, Some(ceiling)) => format!(
            "at {cache} {few} pages are read; at {smaller} {more} are, and only from {ceiling} \
             on none"
        ),
        (Reads::Once, None) => format!(
            "from {cache} on, every page is read once; at {smaller} it is read {there} times"
        ),
        (Reads::Once, Some(ceiling)) => format!(
            "at {cache} every page is read {here} times on average; at {smaller} {there} times, \
             and only from {ceiling} on once"
        ),
        (Reads::Again, None) => format!(
            "from {cache} on, no more is read than with unlimited memory; at {smaller} {there} \
             times as much"
        ),
        (Reads::Again, Some(ceiling)) => format!(
            "at {cache} {here} times as much is read as with unlimited memory; at {smaller} \
             {there} times, and only from {ceiling} on no more"
        ),
    }
}

/// The reason where more cache gains nothing.
pub(super) fn nothing(misses: &MissCurve, curve: &Curve) -> String {
    let (Some((smallest, most)), Some((largest, least))) = (misses.0.first(), misses.0.last())
    else {
        return "cache buys nothing: no file was read".to_owned();
    };
    let why = match (most, reads(curve, *least)) {
        (0, _) => "no page had to be read".to_owned(),
        (_, Reads::Once) if misses.gains() => {
            "every page is wanted once, and a small cache only loses what is read ahead".to_owned()
        }
        (_, Reads::Once) if smallest < largest => {
            format!("every page is read once, with {smallest} of it as with {largest}")
        }
        (_, Reads::Once) => "every page is read once".to_owned(),
        _ if *most as f64 > *least as f64 * (1.0 + SAME) => {
            let enough =
                misses.0.iter().find(|&&(_, fills)| fills as f64 <= *least as f64 * (1.0 + SAME));
            let enough = enough.map_or(*largest, |&(size, _)| size);
            let (most, least) = (grouped(*most), grouped(*least));
            return format!(
                "cache above {enough} buys nothing: {least} pages are read with it, and {most} with {smallest}"
            );
        }
        _ => {
            let (most, least) = (grouped(*most), grouped(*least));
            format!("{most} pages are read with {smallest} of it, {least} with {largest}")
        }
    };
    format!("cache buys nothing: {why}")
}

/// What unlimited memory makes of the workload.
enum Reads {
    /// It finds, or writes, every page it wants.
    None,
    /// As many pages as are touched.
    Once,
    /// More or fewer: files are truncated and written again, or read ahead in vain.
    Again,
}

fn reads(curve: &Curve, least: u64) -> Reads {
    let touched = curve.footprint_bytes.0.div_ceil(PAGE_BYTES) as f64;
    let difference = (least as f64 - touched).abs();
    match least {
        0 => Reads::None,
        _ if difference <= SAME * touched => Reads::Once,
        _ => Reads::Again,
    }
}

/// A ratio with the digits that matter.
fn times(fills: u64, least: u64) -> String {
    let times = fills as f64 / least as f64;
    match times {
        few if few < 1.995 => format!("{few:.2}"),
        some if some < 99.95 => format!("{some:.1}"),
        many => format!("{many:.0}"),
    }
}
