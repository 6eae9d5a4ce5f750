//! Discs without moving parts, from the figures that makers and users publish.
//!
//! They publish requests a second at some depth, not times. The time of a request follows by
//! Little's law: depth divided by rate. That is a mean, and the model invents no tail. A large
//! request costs one small request, and its further bytes at the sequential rate. The model leaves
//! out the effects of garbage collection, full write buffers and heat on an SSD. For those, measure
//! a disc.

use super::latency::Cell;
use crate::trace::request::Op;
use crate::units::Nanos;

/// The published rates of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// Random requests of 4 KiB a second, each with its depth.
    pub random: &'static [(u32, f64)],
    /// Sequential bytes a second.
    pub sequential_bytes: f64,
}

/// The rates of both operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sheet {
    pub read: Rates,
    pub write: Rates,
}

/// Samsung 870 EVO 1TB: <https://www.kitguru.net/components/ssd-drives/simon-crisp/samsung-ssd-870-evo-1tb-review/all/1/>.
pub(super) const SATA_SSD: Sheet = Sheet {
    read: Rates { random: &[(1, 13_000.0), (32, 98_000.0)], sequential_bytes: 560e6 },
    write: Rates { random: &[(1, 36_000.0), (32, 88_000.0)], sequential_bytes: 530e6 },
};

/// Samsung 970 EVO Plus 1TB: <https://digit.in/reviews/general/samsung-970-evo-plus-nvme-m-2-ssd-250-gb-review-177943.html>.
/// Samsung's deep figures are of 32 requests in each of four threads.
pub(super) const NVME_SSD: Sheet = Sheet {
    read: Rates { random: &[(1, 19_000.0), (128, 600_000.0)], sequential_bytes: 3_500e6 },
    write: Rates { random: &[(1, 60_000.0), (128, 550_000.0)], sequential_bytes: 3_300e6 },
};

/// A balanced network volume of Google's cloud, measured by fio on <https://easontechtalk.com>. It
/// gives about 2,000 reads a second one by one and 24,600 at depth 32. It gives no writes, so they
/// cost as much as reads. The sequential rate is the greatest that such a volume is sold with,
/// 2,400 MiB/s.
pub(super) const NETWORK: Sheet = Sheet { read: NETWORK_RATES, write: NETWORK_RATES };

const NETWORK_RATES: Rates =
    Rates { random: &[(1, 2_000.0), (32, 24_600.0)], sequential_bytes: 2_400.0 * 1_048_576.0 };

const SMALL_BYTES: u32 = 4 << 10;
const LARGE_BYTES: u32 = 128 << 10;

impl Sheet {
    /// Small and large requests of both operations at the depths of the sheet. A flush costs as
    /// much as a small write, because no figure is published.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let mut cells = self.read.cells(Op::Read);
        cells.extend(self.write.cells(Op::Write));
        cells.extend(self.write.cells(Op::Flush));
        cells
    }
}

impl Rates {
    fn cells(&self, op: Op) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &(depth, rate) in self.random {
            let small = f64::from(depth) / rate;
            let further = f64::from(LARGE_BYTES - SMALL_BYTES) / self.sequential_bytes;
            // All requests in flight share the wire.
            let large = small + further * f64::from(depth);
            for (length_bytes, seconds) in [(SMALL_BYTES, small), (LARGE_BYTES, large)] {
                let quantiles = vec![(0.5, Nanos::from_seconds(seconds))];
                cells.push(Cell { op, length_bytes, depth, quantiles });
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::super::Disc;
    use super::super::latency::{Latencies, Latency};
    use super::*;
    use crate::trace::request::Request;

    /// Keeps this many requests in flight, and returns the number completed in a second.
    fn rate(sheet: &Sheet, op: Op, length_bytes: u32, depth: u64) -> f64 {
        let mut disc = Latency::new(1 << 40, Latencies::new(sheet.cells()), 1);
        let length_bytes = u64::from(length_bytes);
        let submit = |disc: &mut Latency, now, number| {
            disc.submit(now, Request::new(op, number * length_bytes, length_bytes), Vec::new());
        };
        // Starts them one by one, so that they are spread over time as a program's would be.
        (0..depth).for_each(|number| submit(&mut disc, Nanos(number * 1_000), number));
        let (mut now, count) = (Nanos::ZERO, 20_000);
        for number in depth..depth + count {
            now = disc.next_completion(Nanos::MAX).unwrap().at;
            submit(&mut disc, now, number);
        }
        count as f64 / now.seconds()
    }

    /// A disc made from the sheet has the rates of the sheet.
    #[test]
    fn the_published_rates_come_out() {
        for (sheet, name) in [(&SATA_SSD, "sata"), (&NVME_SSD, "nvme"), (&NETWORK, "network")] {
            for (op, rates) in [(Op::Read, sheet.read), (Op::Write, sheet.write)] {
                for &(depth, published) in rates.random {
                    let got = rate(sheet, op, SMALL_BYTES, u64::from(depth));
                    let what = format!("{name} {op:?} {depth} deep: {got} of {published}");
                    assert!((got / published - 1.0).abs() < 0.01, "{what}");
                }
                let (deepest, _) = rates.random[rates.random.len() - 1];
                let got = rate(sheet, op, 1 << 20, u64::from(deepest)) * f64::from(1 << 20);
                assert!((0.9..1.0).contains(&(got / rates.sequential_bytes)), "{name} {got}");
            }
        }
    }
}
