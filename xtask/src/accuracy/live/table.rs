//! What was measured, compared with what was predicted: as a table of docs/accuracy.md, and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::run::{Cell, Measured, Window};

const PAGE_BYTES: u64 = 4096;
/// What the kernel may do more or less than was predicted, without a mapping and with one.
const NEAR: f64 = 0.05;
const NEAR_MAPPED: f64 = 0.10;
/// Parts of the cache, in percent, at which bands are compared with the next windows.
const COVERED: [u64; 3] = [75, 50, 25];

/// Fills for each operation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Predicted {
    low: f64,
    best: f64,
    high: f64,
}

/// How a cell came out.
#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    InBand,
    /// Within the bound, by this ratio less one.
    Near(f64),
    Missed(f64),
    /// Reclaimers of the machine took pages of it.
    Void,
    /// The window did not show this size.
    NotKnown,
    /// A service without reads, of which that was predicted and found.
    BuysNothing,
}

/// The figures of a point at a size, between those that the document has.
fn at(live: &Value, cache_bytes: u64, keys: [&str; 3]) -> Option<Predicted> {
    let points = live["points"].as_array()?;
    let size = |point: &Value| point["cache_bytes"].as_f64().unwrap_or(0.0);
    let cache = cache_bytes as f64;
    let behind = points.iter().position(|point| size(point) >= cache)?;
    let (next, before) = (&points[behind], &points[behind.saturating_sub(1)]);
    let whole = (size(next) / size(before)).ln();
    let part =
        if whole > 0.0 { ((cache / size(before)).ln() / whole).clamp(0.0, 1.0) } else { 1.0 };
    let [low, best, high] = keys.map(|key| {
        let (from, to) = (before[key].as_f64()?, next[key].as_f64()?);
        Some(from + (to - from) * part)
    });
    Some(Predicted { low: low?, best: best?, high: high? })
}

pub(super) const MISSES: [&str; 3] =
    ["misses_per_second_low", "misses_per_second", "misses_per_second_high"];
const FILLS: [&str; 3] = ["fills_per_second_low", "fills_per_second", "fills_per_second_high"];

impl Measured {
    /// Fills an operation at this size: those for a lack of cache, and those of the window, which had no lack. The latter
    /// are new data, and no cache saves them.
    fn predicted(&self, cache_bytes: u64) -> Option<Predicted> {
        let rate =
            at(&self.live, cache_bytes, FILLS).or_else(|| at(&self.live, cache_bytes, MISSES))?;
        let new = self.live["fills_per_second"].as_f64().unwrap_or(0.0);
        // Programs before did not have a band of it.
        let edge = |key: &str| self.live[key].as_f64().unwrap_or(new);
        let each = |rate: f64, new: f64| (rate + new) / self.pace.max(1e-9);
        Some(Predicted {
            low: each(rate.low, edge("fills_per_second_low")),
            best: each(rate.best, new),
            high: each(rate.high, edge("fills_per_second_high")),
        })
    }

    fn verdict(&self, cell: &Cell) -> Verdict {
        if cell.taken * PAGE_BYTES * 100 > cell.cache_bytes {
            return Verdict::Void;
        }
        let Some(predicted) = self.predicted(cell.cache_bytes) else { return Verdict::NotKnown };
        let measured = cell.each();
        if !self.reads {
            let free = self.cells.first().map_or(0.0, Cell::each);
            let last = self.live["points"].as_array().and_then(|points| points.last());
            let most = last.and_then(|point| self.predicted(point["cache_bytes"].as_u64()?));
            let most = most.map_or(0.0, |most| most.best);
            let is_same = |less: f64, more: f64| less <= more * (1.0 + NEAR) + 0.01;
            if is_same(measured, free) && is_same(predicted.best, most) {
                return Verdict::BuysNothing;
            }
        }
        let off = measured / predicted.best.max(1e-9) - 1.0;
        if (predicted.low..=predicted.high).contains(&measured) {
            Verdict::InBand
        } else if off.abs() <= if self.is_mapped { NEAR_MAPPED } else { NEAR } {
            Verdict::Near(off)
        } else {
            Verdict::Missed(off)
        }
    }

    /// Windows, each with the next one of the same run of the service.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &[Window]> {
        self.windows.windows(2).filter(|pair| pair[0].run == pair[1].run)
    }

    /// Windows whose next one is in their band at this part of the cache, and windows that have a next one. Short windows
    /// do not show large sizes.
    fn coverage(&self, part: u64) -> (usize, usize) {
        let cache = self
            .cells
            .iter()
            .find(|cell| cell.part == part)
            .map_or(self.resident_bytes * part / 100, |cell| cell.cache_bytes);
        let rate = |window: &Window, each: fn(&Predicted) -> f64| {
            Some(each(&at(&window.live, cache, MISSES)?) / window.pace.max(1e-9))
        };
        let pairs = self.pairs().filter_map(|pair| {
            let next = rate(&pair[1], |it| it.best)?;
            Some((rate(&pair[0], |it| it.low)?..=rate(&pair[0], |it| it.high)?).contains(&next))
        });
        let pairs: Vec<bool> = pairs.collect();
        (pairs.iter().filter(|&&is_in| is_in).count(), pairs.len())
    }
}

impl Cell {
    fn each(&self) -> f64 {
        self.filled as f64 / self.operations.max(1) as f64
    }
}

/// The table.
pub fn markdown(all: &[Measured]) -> String {
    let mut text =
        "| service | cache | predicted | measured | off | |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for measured in all {
        if let Some(error) = &measured.error {
            let error = error.lines().next().unwrap_or("");
            let _ = writeln!(text, "| {} | | | | | not measured: {error} |", measured.name);
        }
        for cell in &measured.cells {
            let predicted = measured.predicted(cell.cache_bytes);
            let range = predicted.map_or("not known".to_owned(), |it| {
                format!("{:.3} ({:.3} .. {:.3})", it.best, it.low, it.high)
            });
            let (off, remark) = words(&measured.verdict(cell));
            let _ = writeln!(
                text,
                "| {} | {:.0} %, {} MiB | {range} | {:.3} | {off} | {remark} |",
                measured.name,
                cell.cache_bytes as f64 / measured.resident_bytes.max(1) as f64 * 100.0,
                cell.cache_bytes >> 20,
                cell.each()
            );
        }
    }
    text +=
        "\n| service | windows | cache | next one in the band | of them |\n|---|---|---|---|---|\n";
    for measured in all.iter().filter(|measured| !measured.windows.is_empty()) {
        for part in COVERED {
            let (inside, of) = measured.coverage(part);
            let share = inside as f64 / of.max(1) as f64 * 100.0;
            let share = if of > 0 { format!("{share:.0} %") } else { "not known".to_owned() };
            let (name, count) = (measured.name, measured.windows.len());
            let _ = writeln!(text, "| {name} | {count} | {part} % | {inside} of {of} | {share} |");
        }
    }
    text
}

fn words(verdict: &Verdict) -> (String, &'static str) {
    match verdict {
        Verdict::InBand => ("in the band".to_owned(), "in band"),
        Verdict::Near(off) => (format!("{:+.1} %", off * 100.0), "in band"),
        Verdict::Missed(off) => (format!("{:+.1} %", off * 100.0), "out of band"),
        Verdict::Void => (String::new(), "void: the machine took pages"),
        Verdict::NotKnown => (String::new(), "the window does not show this size"),
        Verdict::BuysNothing => (String::new(), "as predicted: cache buys nothing"),
    }
}

/// Everything, for other programs.
pub fn document(all: &[Measured]) -> String {
    let services: Vec<Value> = all
        .iter()
        .map(|measured| {
            let cells: Vec<Value> = measured
                .cells
                .iter()
                .map(|cell| {
                    let predicted = measured.predicted(cell.cache_bytes);
                    json!({
                        "part_percent": cell.part,
                        "cache_bytes": cell.cache_bytes,
                        "operations": cell.operations,
                        "filled_pages": cell.filled,
                        "taken_pages": cell.taken,
                        "predicted_per_operation": predicted.map(|it| [it.low, it.best, it.high]),
                        "measured_per_operation": cell.each(),
                        "verdict": words(&measured.verdict(cell)).1,
                    })
                })
                .collect();
            let covered = COVERED.map(|part| {
                let (inside, pairs) = measured.coverage(part);
                json!({ "part_percent": part, "windows_in_band": inside, "windows_compared": pairs })
            });
            json!({
                "service": measured.name,
                "error": measured.error,
                "resident_bytes": measured.resident_bytes,
                "operations_per_second": measured.pace,
                "cells": cells,
                "coverage": covered,
                "live": measured.live,
            })
        })
        .collect();
    let document = json!({ "schema": "nbuf.accuracy-live/1", "services": services });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(reads: bool) -> Measured {
        let point = |mib: u64, rate: f64| {
            json!({"cache_bytes": mib << 20, "misses_per_second_low": rate * 0.99,
                "misses_per_second": rate, "misses_per_second_high": rate * 1.02})
        };
        let live = json!({"points": [point(10, 1000.0), point(20, 500.0), point(40, 100.0)]});
        let cell = |part, mib: u64, filled| Cell {
            part,
            cache_bytes: mib << 20,
            operations: 1000,
            filled,
            taken: 0,
        };
        let cells =
            vec![cell(100, 60, 0), cell(75, 40, 101), cell(50, 20, 480), cell(25, 10, 1200)];
        Measured {
            name: "s",
            reads,
            pace: 1000.0,
            live,
            cells,
            resident_bytes: 60 << 20,
            ..Measured::default()
        }
    }

    #[test]
    fn a_cell_is_in_its_band_or_near_it() {
        let verdicts = |all: &Measured| -> Vec<Verdict> {
            all.cells.iter().map(|cell| all.verdict(cell)).collect()
        };
        let mut all = measured(true);
        let got = verdicts(&all);
        assert_eq!(got[..2], [Verdict::NotKnown, Verdict::InBand]);
        assert!(matches!(got[2], Verdict::Near(off) if (off + 0.04).abs() < 1e-9), "{got:?}");
        assert!(matches!(got[3], Verdict::Missed(off) if (off - 0.2).abs() < 1e-9), "{got:?}");
        // Between two sizes it is between their figures.
        assert!(
            all.predicted(15 << 20).is_some_and(|it| (600.0..900.0).contains(&(it.best * 1e3)))
        );
        all.cells[1].taken = 200;
        assert_eq!(all.verdict(&all.cells[1]), Verdict::Void);
        let text = markdown(&[all]);
        assert!(
            text.contains(
                "| s | 17 %, 10 MiB | 1.000 (0.990 .. 1.020) | 1.200 | +20.0 % | out of band |"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_service_without_reads_wants_no_cache() {
        let mut all = measured(false);
        assert!(matches!(all.verdict(&all.cells[3]), Verdict::Missed(_)));
        all.live["fills_per_second"] = json!(250.0);
        // New data is filled at every size; what else is filled was for a lack of cache.
        all.cells[3].filled = 1250;
        assert_eq!(all.verdict(&all.cells[3]), Verdict::InBand);
        // It comes in bursts, and the band has them.
        all.live["fills_per_second_high"] = json!(300.0);
        all.cells[3].filled = 1310;
        assert_eq!(all.verdict(&all.cells[3]), Verdict::InBand);
        all.cells.iter_mut().for_each(|cell| cell.filled = 250);
        for point in all.live["points"].as_array_mut().unwrap() {
            point["misses_per_second"] = json!(1.0);
        }
        assert_eq!(all.verdict(&all.cells[3]), Verdict::BuysNothing);
    }

    #[test]
    fn coverage_counts_the_windows_whose_next_one_is_in_the_band() {
        let mut all = measured(true);
        let window = |run, pace: f64| Window { run, pace, live: all.live.clone() };
        // The last one is a tenth above: the pace fell, the misses did not.
        all.windows = vec![window(1, 1000.0), window(1, 1001.0), window(1, 900.0)];
        assert_eq!((all.coverage(25), all.coverage(50)), ((1, 2), (1, 2)));
        // After the service was started again, its first window follows no other.
        all.windows.insert(2, Window { run: 2, ..all.windows[0].clone() });
        assert_eq!((all.coverage(25), all.pairs().count()), ((1, 1), 1));
        let text = markdown(&[all]);
        assert!(text.contains("| s | 4 | 25 % | 1 of 1 | 100 % |"), "{text}");
    }
}
