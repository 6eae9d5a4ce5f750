//! A measured run again, through the model, and how far apart the two are.

use nbuf::disc::{Disc, wait_for};
use nbuf::trace::request::{Op, Request};
use nbuf::units::Nanos;

/// A request that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) op: Op,
    pub(crate) sector: u64,
    pub(crate) sectors: u64,
    pub(crate) took: Nanos,
    /// From its end to the next request.
    pub(crate) gap: Nanos,
}

/// `R|W`, what the drive said of its cache, sector, sectors, microseconds, and microseconds to the next
/// request. A line that is none is left out.
pub(crate) fn parse(text: &str) -> Vec<Measured> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Measured> {
    let mut words = line.split_whitespace();
    let op = match words.next()? {
        "R" => Op::Read,
        "W" => Op::Write,
        _ => return None,
    };
    let sector = words.nth(1)?.parse().ok()?;
    let sectors = words.next()?.parse().ok()?;
    let took = Nanos::from_seconds(words.next()?.parse::<f64>().ok()? / 1e6);
    let gap = Nanos::from_seconds(words.next()?.parse::<f64>().ok()? / 1e6);
    Some(Measured { op, sector, sectors, took, gap })
}

/// How long each request takes in the model. The gap of the trace is between the end of a request and
/// the next one: in half of the lines of three drives it is shorter than the request itself.
pub(crate) fn replay(mut disc: impl Disc, measured: &[Measured]) -> Vec<Nanos> {
    let mut now = Nanos::ZERO;
    let mut times = Vec::with_capacity(measured.len());
    for one in measured {
        let request = Request::new(one.op, one.sector * 512, one.sectors.saturating_mul(512));
        let Some(done) = wait_for(&mut disc, now, request, Vec::new()) else { break };
        times.push(done.at - now);
        now = done.at + one.gap;
    }
    times
}

/// The demerit figure of Ruemmler and Wilkes (IEEE Computer, March 1994): the root of the mean square of the
/// horizontal distance between two distributions, in milliseconds.
pub(crate) fn rms_ms(one: &[Nanos], other: &[Nanos]) -> f64 {
    let sorted = |times: &[Nanos]| {
        let mut times: Vec<f64> = times.iter().map(|time| time.millis()).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let (one, other) = (sorted(one), sorted(other));
    let count = one.len().min(other.len());
    if count == 0 {
        return f64::NAN;
    }
    let squares: f64 = (0..count)
        .map(|at| {
            let of = |times: &[f64]| times[at * times.len() / count];
            (of(&one) - of(&other)).powi(2)
        })
        .sum();
    (squares / count as f64).sqrt()
}
