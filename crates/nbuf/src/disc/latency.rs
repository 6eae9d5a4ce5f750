//! A disc of which only the times are known: a table of latencies by operation, size and depth.
//!
//! No physics is claimed. A request takes what the table says for its operation, its size, and the number
//! of requests that are under way when it comes, itself among them; between the cells the times lie on
//! lines. Beyond the greatest depth the disc gives no more requests a second than there. Beyond the
//! largest size a byte costs what it costs between the two largest. Where a cell is a distribution, each
//! request draws its place in it, by the seed. For SSDs, networks and whatever was measured; not for a disc
//! that turns, whose times depend on where the last request was.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Completion, Disc, Operation, Request, Spent};
use crate::clock::Random;
use crate::units::Nanos;

/// How long requests of one operation and size took at one depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What they wanted.
    pub operation: Operation,
    /// How much of it.
    pub length_bytes: u32,
    /// How many were under way at once.
    pub depth: u32,
    /// Times by the part of the requests that took no longer, both ascending; one time alone where
    /// nothing more is known.
    pub quantiles: Vec<(f64, Nanos)>,
}

/// The cells, in the order in which they are looked for. Of an operation without any, reads and
/// writes cost what the other does, and a flush costs nothing.
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
    /// In any order; a cell without times is left out, and of two alike the last one counts.
    pub fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        let mut latencies = Self::default();
        for cell in cells.into_iter().filter(|cell| !cell.quantiles.is_empty()) {
            let columns = match cell.operation {
                Operation::Read => &mut latencies.reads,
                Operation::Write => &mut latencies.writes,
                Operation::Flush => &mut latencies.flushes,
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

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    fn columns(&self, operation: Operation) -> &[Column] {
        let (first, second) = match operation {
            Operation::Read => (&self.reads, &self.writes),
            Operation::Write => (&self.writes, &self.reads),
            Operation::Flush => return &self.flushes,
        };
        if first.is_empty() { second } else { first }
    }

    /// How long a request takes that is the `depth`th under way, and slower than the part `place` of its
    /// like.
    pub fn latency(
        &self,
        operation: Operation,
        length_bytes: u32,
        depth: usize,
        place: f64,
    ) -> Nanos {
        let columns = self.columns(operation);
        let depth = depth.max(1) as f64;
        let above = columns.partition_point(|column| column.length_bytes < length_bytes);
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
        let part = (f64::from(length_bytes) - f64::from(low.length_bytes))
            / f64::from(high.length_bytes - low.length_bytes);
        nanos(at_low + part * (high.ns(depth, place) - at_low))
    }
}

impl Column {
    fn ns(&self, depth: f64, place: f64) -> f64 {
        let above = self.cells.partition_point(|(of, _)| f64::from(*of) < depth);
        if above == self.cells.len() {
            // As many a second as at the greatest depth: so each waits the longer for it.
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

/// The disc over such a table.
#[derive(Clone, Debug)]
pub struct Latency {
    size_bytes: u64,
    latencies: Latencies,
    random: Random,
    submitted: u64,
    under_way: BinaryHeap<Reverse<UnderWay>>,
}

/// Ordered by when it is done, then by when it came.
#[derive(Clone, Debug)]
struct UnderWay {
    at: Nanos,
    number: u64,
    completion: Completion,
}

impl PartialEq for UnderWay {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for UnderWay {}

impl PartialOrd for UnderWay {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for UnderWay {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl Latency {
    /// One that ends there. The same seed gives the same times.
    pub fn new(size_bytes: u64, latencies: Latencies, seed: u64) -> Self {
        let random = Random::new(seed);
        Self { size_bytes, latencies, random, submitted: 0, under_way: BinaryHeap::new() }
    }

    fn spent(&mut self, request: &Request) -> Spent {
        let place = self.random.unit();
        let of = |length, depth| self.latencies.latency(request.operation, length, depth, place);
        let depth = self.under_way.len() + 1;
        let total = of(request.length_bytes, depth);
        let alone = of(request.length_bytes, 1).min(total);
        let overhead = of(0, 1).min(alone);
        Spent { queued: total - alone, overhead, transfer: alone - overhead, ..Spent::default() }
    }
}

impl Disc for Latency {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        let outcome = request.within(self.size_bytes);
        let spent = if outcome.is_ok() { self.spent(&request) } else { Spent::default() };
        let (at, number) = (now + spent.total(), self.submitted);
        self.submitted += 1;
        let completion = Completion { request, at, spent, outcome };
        self.under_way.push(Reverse(UnderWay { at, number, completion }));
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        if self.under_way.peek()?.0.at > until {
            return None;
        }
        self.under_way.pop().map(|Reverse(under_way)| under_way.completion)
    }

    fn under_way(&self) -> usize {
        self.under_way.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell(operation: Operation, length_bytes: u32, depth: u32, micros: u64) -> Cell {
        let quantiles = vec![(0.5, Nanos::from_micros(micros))];
        Cell { operation, length_bytes, depth, quantiles }
    }

    fn table() -> Latencies {
        use Operation::{Flush, Read, Write};
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
        use Operation::{Flush, Read, Write};
        let check = |operation, length, depth, micros| {
            let got = table().latency(operation, length, depth, 0.3);
            assert_eq!(got, Nanos::from_micros(micros), "{operation:?} {length} B, {depth} deep");
        };
        check(Read, 4_096, 1, 80);
        check(Read, 512, 1, 80);
        check(Read, 4_096, 33, 320);
        check(Read, 67_584, 1, 190);
        check(Read, 4_096, 17, 200);
        // No more requests a second than 33 in 320 us.
        check(Read, 4_096, 330, 3_200);
        check(Write, 4_096, 5, 150);
        check(Flush, 0, 1, 900);
        assert_eq!(Latencies::default().latency(Read, 1, 1, 0.5), Nanos::ZERO);
        let reads_only = Latencies::new([cell(Read, 4_096, 1, 80)]);
        assert_eq!(reads_only.latency(Write, 4_096, 1, 0.5), Nanos::from_micros(80));
    }

    #[test]
    fn what_is_drawn_has_the_quantiles_of_the_cell() {
        let quantiles = vec![(0.0, Nanos(1_000)), (0.5, Nanos(2_000)), (1.0, Nanos(10_000))];
        let only = Cell { operation: Operation::Read, length_bytes: 512, depth: 1, quantiles };
        let mut disc = Latency::new(1 << 20, Latencies::new([only]), 1);
        let mut times: Vec<u64> = (0..4_000)
            .map(|at| {
                let request = Request {
                    tag: at,
                    operation: Operation::Read,
                    offset_bytes: 0,
                    length_bytes: 512,
                    data: Vec::new(),
                };
                super::super::wait_for(&mut disc, Nanos(at * 100_000), request)
                    .unwrap()
                    .spent
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
        /// Whatever comes when: it ends with all of its parts, in order, once.
        #[test]
        fn every_request_is_done_once_and_in_order(
            steps in prop::collection::vec((0..50_000_u64, 0..3_u8, 0..2_000_000_u64, 0..300_000_u32), 1..60)
        ) {
            let mut disc = Latency::new(1 << 20, table(), 7);
            let mut now = Nanos::ZERO;
            let mut came = Vec::new();
            for (tag, (gap, operation, offset_bytes, length_bytes)) in steps.iter().enumerate() {
                now += Nanos(*gap);
                let operation = [Operation::Read, Operation::Write, Operation::Flush][usize::from(*operation)];
                let (tag, data) = (tag as u64, Vec::new());
                let (offset_bytes, length_bytes) = (*offset_bytes, *length_bytes);
                disc.submit(now, Request { tag, operation, offset_bytes, length_bytes, data });
                came.push(now);
            }
            let (mut last, mut seen) = (Nanos::ZERO, vec![false; came.len()]);
            while let Some(done) = disc.next_completion(Nanos::MAX) {
                let tag = usize::try_from(done.request.tag).unwrap();
                prop_assert!(!std::mem::replace(&mut seen[tag], true));
                prop_assert!(done.at >= last);
                prop_assert_eq!(came[tag] + done.spent.total(), done.at);
                prop_assert_eq!(done.outcome.is_ok(), done.request.within(1 << 20).is_ok());
                last = done.at;
            }
            prop_assert!(seen.iter().all(|&seen| seen));
        }
    }
}
