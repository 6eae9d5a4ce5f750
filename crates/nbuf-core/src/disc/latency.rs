//! A disc of which only the times are known: a table of latencies by operation, size and depth.
//!
//! It claims no physics. The table gives the time of a request by its operation, its size, and the
//! depth: the requests in flight on its arrival, including itself. Times between cells are
//! interpolated linearly. Beyond the greatest depth, the rate of requests stays the same. Beyond
//! the largest size, a byte costs as much as between the two largest. If a cell is a distribution,
//! each request draws from it by the seed. Use it for SSDs, networks and measured discs. Do not use
//! it for a rotating disc, whose times depend on the place of the last request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Breakdown, Completion, Disc, DiscError};
use crate::clock::Random;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// The measured times of requests of one operation and size at one depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The operation of these requests.
    pub op: Op,
    /// The length of each request.
    pub length_bytes: u32,
    /// The number of requests in flight.
    pub depth: u32,
    /// Shares of the requests with the longest time among them, both ascending. A single time
    /// stands for an unknown distribution.
    pub quantiles: Vec<(f64, Nanos)>,
}

/// The cells in search order. If reads or writes have no cells, they cost as much as the other. A
/// flush without cells costs nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies {
    reads: Vec<Column>,
    writes: Vec<Column>,
    flushes: Vec<Column>,
}

/// The cells of one size, by depth.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    length_bytes: u32,
    cells: Vec<(u32, Vec<(f64, Nanos)>)>,
}

impl Latencies {
    /// Sorts the cells. It drops cells without times; the last of two equal cells counts.
    pub fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        let mut latencies = Self::default();
        for cell in cells.into_iter().filter(|cell| !cell.quantiles.is_empty()) {
            let columns = match cell.op {
                Op::Read => &mut latencies.reads,
                Op::Write => &mut latencies.writes,
                Op::Flush => &mut latencies.flushes,
                Op::Discard => continue,
            };
            let at = columns.partition_point(|column| column.length_bytes < cell.length_bytes);
            if columns.get(at).is_none_or(|column| column.length_bytes != cell.length_bytes) {
                columns.insert(at, Column { length_bytes: cell.length_bytes, cells: Vec::new() });
            }
            let cells = &mut columns[at].cells;
            let depth = cell.depth.max(1);
            let at = cells.partition_point(|(of, _)| *of < depth);
            if cells.get(at).is_some_and(|(of, _)| *of == depth) {
                cells[at].1 = cell.quantiles;
            } else {
                cells.insert(at, (depth, cell.quantiles));
            }
        }
        latencies
    }

    /// Whether the table has no cells.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    fn columns(&self, op: Op) -> &[Column] {
        let (first, second) = match op {
            Op::Read => (&self.reads, &self.writes),
            Op::Write => (&self.writes, &self.reads),
            Op::Flush => return &self.flushes,
            Op::Discard => return &[],
        };
        if first.is_empty() { second } else { first }
    }

    /// The time of a request that is the `depth`th in flight, and slower than the share `place` of
    /// similar requests.
    pub fn latency(&self, op: Op, length_bytes: u64, depth: usize, place: f64) -> Nanos {
        let columns = self.columns(op);
        let depth = depth.max(1) as f64;
        let above = columns.partition_point(|column| u64::from(column.length_bytes) < length_bytes);
        let (low, high) = match (columns, above) {
            ([], _) => return Nanos::ZERO,
            ([only], _) => (only, only),
            ([first, ..], 0) => (first, first),
            (_, above) => {
                let above = above.min(columns.len() - 1);
                (&columns[above - 1], &columns[above])
            }
        };
        let at_low = low.ns(depth, place);
        if low.length_bytes == high.length_bytes {
            return nanos(at_low);
        }
        let part = (length_bytes as f64 - f64::from(low.length_bytes))
            / f64::from(high.length_bytes - low.length_bytes);
        nanos(at_low + part * (high.ns(depth, place) - at_low))
    }
}

impl Column {
    fn ns(&self, depth: f64, place: f64) -> f64 {
        let above = self.cells.partition_point(|(of, _)| f64::from(*of) < depth);
        if above == self.cells.len() {
            // The rate stays the same as at the greatest depth, so each request waits longer.
            let (of, quantiles) = &self.cells[above - 1];
            return at_place(quantiles, place) * depth / f64::from(*of);
        }
        let (of, quantiles) = &self.cells[above];
        let high = at_place(quantiles, place);
        let Some((below, quantiles)) = above.checked_sub(1).map(|below| &self.cells[below]) else {
            return high;
        };
        let low = at_place(quantiles, place);
        low + (high - low) * (depth - f64::from(*below)) / f64::from(of - below)
    }
}

fn at_place(quantiles: &[(f64, Nanos)], place: f64) -> f64 {
    let above = quantiles.partition_point(|(part, _)| *part < place);
    let ns = |(_, nanos): (f64, Nanos)| nanos.0 as f64;
    match (above.checked_sub(1).map(|below| quantiles[below]), quantiles.get(above)) {
        (None, Some(&high)) => ns(high),
        (Some(low), Some(&high)) => {
            ns(low) + (ns(high) - ns(low)) * (place - low.0) / (high.0 - low.0)
        }
        (Some(low), None) => ns(low),
        (None, None) => 0.0,
    }
}

fn nanos(ns: f64) -> Nanos {
    Nanos::from_seconds(ns / 1e9)
}

/// A disc with the times of such a table.
#[derive(Clone, Debug)]
pub struct Latency {
    size_bytes: u64,
    latencies: Latencies,
    random: Random,
    submitted: u64,
    /// By completion, then by arrival, with the place of the rest: a heap moves its entries around.
    under_way: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    completions: Vec<Option<Completion>>,
    free: Vec<usize>,
}

impl Latency {
    /// Makes an idle disc of this size. The same seed gives the same times.
    pub fn new(size_bytes: u64, latencies: Latencies, seed: u64) -> Self {
        let random = Random::new(seed);
        Self {
            size_bytes,
            latencies,
            random,
            submitted: 0,
            under_way: BinaryHeap::new(),
            completions: Vec::new(),
            free: Vec::new(),
        }
    }

    fn breakdown(&mut self, request: &Request) -> Breakdown {
        let place = self.random.unit();
        let of = |length, depth| self.latencies.latency(request.op, length, depth, place);
        let depth = self.under_way.len() + 1;
        let total = of(request.length_bytes, depth);
        let alone = of(request.length_bytes, 1).min(total);
        let overhead = of(0, 1).min(alone);
        Breakdown {
            queued: total - alone,
            overhead,
            transfer: alone - overhead,
            ..Breakdown::default()
        }
    }
}

impl Disc for Latency {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        let outcome = DiscError::check(&request, self.size_bytes);
        let breakdown =
            if outcome.is_ok() { self.breakdown(&request) } else { Breakdown::default() };
        let (at, number) = (now + breakdown.total(), self.submitted);
        self.submitted += 1;
        let place = self.free.pop().unwrap_or_else(|| {
            self.completions.push(None);
            self.completions.len() - 1
        });
        self.completions[place] = Some(Completion { request, data, at, breakdown, outcome });
        self.under_way.push(Reverse((at, number, place)));
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        if self.under_way.peek()?.0.0 > until {
            return None;
        }
        let Reverse((_, _, place)) = self.under_way.pop()?;
        self.free.push(place);
        self.completions[place].take()
    }

    fn under_way(&self) -> usize {
        self.under_way.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell(op: Op, length_bytes: u32, depth: u32, micros: u64) -> Cell {
        let quantiles = vec![(0.5, Nanos::from_micros(micros))];
        Cell { op, length_bytes, depth, quantiles }
    }

    fn table() -> Latencies {
        use Op::{Flush, Read, Write};
        Latencies::new([
            cell(Read, 131_072, 1, 300),
            cell(Read, 4_096, 33, 320),
            cell(Read, 4_096, 1, 80),
            cell(Read, 131_072, 33, 7_500),
            cell(Write, 4_096, 1, 30),
            cell(Flush, 0, 1, 900),
        ])
    }

    #[test]
    fn times_lie_between_those_of_the_cells() {
        use Op::{Flush, Read, Write};
        let check = |op, length, depth, micros| {
            let got = table().latency(op, length, depth, 0.3);
            assert_eq!(got, Nanos::from_micros(micros), "{op:?} {length} B, {depth} deep");
        };
        check(Read, 4_096, 1, 80);
        check(Read, 512, 1, 80);
        check(Read, 4_096, 33, 320);
        check(Read, 67_584, 1, 190);
        check(Read, 4_096, 17, 200);
        // The rate never exceeds 33 requests in 320 us.
        check(Read, 4_096, 330, 3_200);
        check(Write, 4_096, 5, 150);
        check(Flush, 0, 1, 900);
        check(Op::Discard, 4_096, 1, 0);
        assert_eq!(Latencies::default().latency(Read, 1, 1, 0.5), Nanos::ZERO);
        let reads_only = Latencies::new([cell(Read, 4_096, 1, 80)]);
        assert_eq!(reads_only.latency(Write, 4_096, 1, 0.5), Nanos::from_micros(80));
    }

    #[test]
    fn what_is_drawn_has_the_quantiles_of_the_cell() {
        let quantiles = vec![(0.0, Nanos(1_000)), (0.5, Nanos(2_000)), (1.0, Nanos(10_000))];
        let only = Cell { op: Op::Read, length_bytes: 512, depth: 1, quantiles };
        let mut disc = Latency::new(1 << 20, Latencies::new([only]), 1);
        let mut times: Vec<u64> = (0..4_000)
            .map(|at| {
                let (now, read) = (Nanos(at * 100_000), Request::new(Op::Read, 0, 512));
                super::super::wait_for(&mut disc, now, read, Vec::new())
                    .unwrap()
                    .breakdown
                    .total()
                    .0
            })
            .collect();
        times.sort_unstable();
        // Three deviations of a median and of a quartile of 4,000 draws.
        assert!(times[2_000].abs_diff(2_000) < 400, "{}", times[2_000]);
        assert!(times[1_000].abs_diff(1_500) < 50, "{}", times[1_000]);
        assert!(times[0] >= 1_000 && times[3_999] <= 10_000);
    }

    proptest! {
        /// Every request completes once, in order, and its parts add up.
        #[test]
        fn every_request_is_done_once_and_in_order(
            steps in prop::collection::vec((0..50_000_u64, 0..3_u8, 0..2_000_000_u64, 0..300_000_u64), 1..60)
        ) {
            let mut disc = Latency::new(1 << 20, table(), 7);
            let mut now = Nanos::ZERO;
            let mut came = Vec::new();
            for (task, &(gap, op, offset, length_bytes)) in (0..).zip(&steps) {
                now += Nanos(gap);
                let op = [Op::Read, Op::Write, Op::Flush][usize::from(op)];
                let request = Request { task, ..Request::new(op, offset, length_bytes) };
                disc.submit(now, request, Vec::new());
                came.push(now);
            }
            let (mut last, mut seen) = (Nanos::ZERO, vec![false; came.len()]);
            while let Some(done) = disc.next_completion(Nanos::MAX) {
                let task = done.request.task as usize;
                prop_assert!(!std::mem::replace(&mut seen[task], true));
                prop_assert!(done.at >= last);
                prop_assert_eq!(came[task] + done.breakdown.total(), done.at);
                prop_assert_eq!(done.outcome, DiscError::check(&done.request, 1 << 20));
                last = done.at;
            }
            prop_assert!(seen.iter().all(|&seen| seen));
        }
    }
}
