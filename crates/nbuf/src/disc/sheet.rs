//! Discs without moving parts, from what their makers and users publish.
//!
//! Published are requests a second at some depth, not times. How long a request takes follows by Little's
//! law: depth divided by rate, which is a mean; nothing is said of the tail, and none is made up. Large
//! requests cost one small one and their further bytes at the sequential rate. Not for what garbage
//! collection, full write buffers or heat do to an SSD: for those, measure one.

use super::Operation;
use super::latency::Cell;
use crate::units::Nanos;

/// What is published of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// Requests of 4 KiB a second, at random places, and how many were under way.
    pub random: &'static [(u32, f64)],
    /// Bytes a second, one after the other.
    pub sequential_bytes: f64,
}

/// Both operations.
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

/// A balanced network volume of Google's cloud, measured by fio on <https://easontechtalk.com>: about 2,000
/// reads a second one by one and 24,600 at depth 32. Of writes nothing is published there: they cost what
/// reads do. The sequential rate is the greatest that such a volume is sold with, 2,400 MiB/s.
pub(super) const NETWORK: Sheet = Sheet { read: NETWORK_RATES, write: NETWORK_RATES };

const NETWORK_RATES: Rates =
    Rates { random: &[(1, 2_000.0), (32, 24_600.0)], sequential_bytes: 2_400.0 * 1_048_576.0 };

const SMALL_BYTES: u32 = 4 << 10;
const LARGE_BYTES: u32 = 128 << 10;

impl Sheet {
    /// Small and large requests of both operations at the depths of the sheet. A flush costs what a small
    /// write does; nothing is published of it.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let mut cells = self.read.cells(Operation::Read);
        cells.extend(self.write.cells(Operation::Write));
        cells.extend(self.write.cells(Operation::Flush));
        cells
    }
}

impl Rates {
    fn cells(&self, operation: Operation) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &(depth, rate) in self.random {
            let small = f64::from(depth) / rate;
            let further = f64::from(LARGE_BYTES - SMALL_BYTES) / self.sequential_bytes;
            // All that are under way share the wire.
            let large = small + further * f64::from(depth);
            for (length_bytes, seconds) in [(SMALL_BYTES, small), (LARGE_BYTES, large)] {
                let quantiles = vec![(0.5, Nanos::from_seconds(seconds))];
                cells.push(Cell { operation, length_bytes, depth, quantiles });
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::super::latency::{Latencies, Latency};
    use super::super::{Disc, Request};
    use super::*;

    /// Keeps so many requests under way; how many are done in a second.
    fn rate(sheet: &Sheet, operation: Operation, length_bytes: u32, depth: u64) -> f64 {
        let mut disc = Latency::new(1 << 40, Latencies::new(sheet.cells()), 1);
        let request = |tag| Request {
            tag,
            operation,
            offset_bytes: tag * u64::from(length_bytes),
            length_bytes,
            data: Vec::new(),
        };
        // One by one, so that they are spread over time as those of a program would be.
        (0..depth).for_each(|tag| disc.submit(Nanos(tag * 1_000), request(tag)));
        let (mut now, count) = (Nanos::ZERO, 20_000);
        for tag in depth..depth + count {
            now = disc.next_completion(Nanos::MAX).unwrap().at;
            disc.submit(now, request(tag));
        }
        count as f64 / now.seconds()
    }

    /// What the sheet says comes out of the disc that was made of it.
    #[test]
    fn the_published_rates_come_out() {
        for (sheet, name) in [(&SATA_SSD, "sata"), (&NVME_SSD, "nvme"), (&NETWORK, "network")] {
            for (operation, rates) in
                [(Operation::Read, sheet.read), (Operation::Write, sheet.write)]
            {
                for &(depth, published) in rates.random {
                    let got = rate(sheet, operation, SMALL_BYTES, u64::from(depth));
                    let what = format!("{name} {operation:?} {depth} deep: {got} of {published}");
                    assert!((got / published - 1.0).abs() < 0.01, "{what}");
                }
                let (deepest, _) = rates.random[rates.random.len() - 1];
                let got = rate(sheet, operation, 1 << 20, u64::from(deepest)) * f64::from(1 << 20);
                assert!((0.9..1.0).contains(&(got / rates.sequential_bytes)), "{name} {got}");
            }
        }
    }
}
