//! Draws the curve: LRU misses at every size in one pass, fills by simulation at chosen sizes.
//!
//! About 32 sizes are spread evenly on a logarithmic axis. More are put where the fills fall, until
//! a cliff is known to within one percent of its size. Points between two simulated sizes are
//! interpolated, and marked so. The curve begins where two readahead windows fit. A smaller cache
//! loses pages that are read ahead before their use, and how often is chance.
//! Cost: two simulations a size, on all processors.

use rayon::prelude::*;

use crate::cache::kernel::{Replacement, Stream, TouchKind, simulate};
use crate::experiment::result::{Curve, Point};
use crate::meter::distance::{Distances, Misses};
use crate::units::{Pages, whole};

/// Sizes on the even grid; fewer for a workload of more touches than this, so that it takes minutes.
const GRID: usize = 32;
const GRID_LARGE: usize = 12;
const LARGE_TOUCHES: usize = 30_000_000;
/// Sizes added where the curve falls: as many as this many touches allow, in these bounds.
const REFINED_TOUCHES: usize = 20_000_000;
const REFINED: std::ops::RangeInclusive<usize> = 2..=28;
/// The smallest size is this part of the largest.
const SPAN: f64 = 1.0 / 512.0;
/// The smallest cache worth a thought.
const PAGES_MIN: u64 = 64;
/// A fall between two neighbours that is worth a size in between.
const FALL: f64 = 0.02;
/// Neighbours closer than this are close enough.
const NEAR: f64 = 1.01;
/// Interpolated points between two simulated ones.
const BETWEEN: u64 = 2;

/// The fills of both models at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    pages: u64,
    lru: u64,
    active_inactive: u64,
}

/// Draws the curve of a workload. `progress` receives the number of sizes that are done, and about
/// how many there are.
pub fn draw(stream: &Stream, progress: &(dyn Fn(usize, usize) + Sync)) -> Curve {
    let refined = REFINED_TOUCHES / stream.len().max(1);
    let even = if stream.len() > LARGE_TOUCHES { GRID_LARGE } else { GRID };
    let total = even + refined.clamp(*REFINED.start(), *REFINED.end());
    let unlimited = || simulate(stream, Replacement::Lru, Pages(u32::MAX.into()));
    let (misses, everything) = rayon::join(|| lru_misses(stream), unlimited);
    let most = everything.peak.0.max(1);
    let room = 2 * u64::from(stream.window_pages());
    let mut sizes = grid(most, room, even);
    // Where nothing is evicted, in whatever order, that run was it.
    sizes.pop();
    let mut cells = run(stream, &sizes, |done| progress(done, total));
    cells.push(Cell { pages: most, lru: everything.fills, active_inactive: everything.fills });
    while cells.len() < total {
        let more = refinements(&cells, total - cells.len());
        if more.is_empty() {
            break;
        }
        let before = cells.len();
        cells.extend(run(stream, &more, |done| progress(before + done, total)));
        cells.sort_by_key(|cell| cell.pages);
    }
    progress(total, total);
    Curve {
        points: points(&cells, &misses),
        footprint_bytes: Pages(misses.distinct).bytes(),
        accesses: misses.accesses + stream.repetitions(),
    }
}

/// Feeds every touch to the stack-distance meter. A mapped window counts as one access, to its
/// middle: which of its pages was wanted is not known.
fn lru_misses(stream: &Stream) -> Misses {
    let mut distances = Distances::new();
    let mut shared = vec![false; stream.page_numbers()];
    for &(file, page) in stream.shared_pages() {
        if let Some(shared) = shared.get_mut(stream.page_number(file, page)) {
            *shared = true;
        }
    }
    for touch in stream.touches() {
        let pages = match touch.kind {
            TouchKind::Ahead => continue,
            TouchKind::Map => touch.first + touch.count / 2..touch.first + touch.count / 2 + 1,
            _ => touch.first..touch.first + touch.count,
        };
        for page in pages {
            let number = stream.page_number(touch.file, page);
            let (Ok(page), Some(false)) = (u32::try_from(number), shared.get(number)) else {
                continue;
            };
            if touch.kind == TouchKind::Drop {
                distances.remove(page);
            } else {
                distances.access(page);
            }
        }
    }
    distances.finish()
}

fn run(stream: &Stream, sizes: &[u64], progress: impl Fn(usize) + Sync) -> Vec<Cell> {
    let done = std::sync::atomic::AtomicUsize::new(0);
    let cell = |&pages: &u64| {
        let fills = |replacement| simulate(stream, replacement, Pages(pages)).fills;
        let cell = Cell {
            pages,
            lru: fills(Replacement::Lru),
            active_inactive: fills(stream.kernel_order()),
        };
        progress(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
        cell
    };
    sizes.par_iter().map(cell).collect()
}

/// Sizes spread evenly on a logarithmic axis, from `room` up to the one that holds everything.
fn grid(most: u64, room: u64, count: usize) -> Vec<u64> {
    let least = whole(most as f64 * SPAN).max(PAGES_MIN).max(room.min(most / 4)).min(most);
    let ratio = most as f64 / least as f64;
    let mut sizes: Vec<u64> = (0..count)
        .map(|i| whole(least as f64 * ratio.powf(i as f64 / (count - 1) as f64)))
        .collect();
    sizes.dedup();
    sizes
}

/// Sizes between neighbours that differ most, as many as are left.
fn refinements(cells: &[Cell], left: usize) -> Vec<u64> {
    let highest = |cell: &Cell| cell.lru.max(cell.active_inactive) as f64;
    let most = cells.iter().map(highest).fold(1.0, f64::max);
    let mut gaps: Vec<(f64, u64)> = cells
        .windows(2)
        .filter(|pair| pair[1].pages as f64 / pair[0].pages as f64 > NEAR)
        .map(|pair| {
            let middle = whole((pair[0].pages as f64 * pair[1].pages as f64).sqrt());
            ((highest(&pair[0]) - highest(&pair[1])).abs() / most, middle)
        })
        .filter(|&(fall, middle)| {
            fall > FALL && cells.binary_search_by_key(&middle, |cell| cell.pages).is_err()
        })
        .collect();
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    gaps.truncate(left.min(8));
    gaps.into_iter().map(|(_, middle)| middle).collect()
}

/// Simulated sizes with interpolated ones between them; LRU misses are exact at all of them.
fn points(cells: &[Cell], misses: &Misses) -> Vec<Point> {
    let point = |cell: Cell, interpolated| Point {
        cache_bytes: Pages(cell.pages).bytes(),
        lru_misses: misses.at(cell.pages),
        lru_fills: cell.lru,
        active_inactive_fills: cell.active_inactive,
        interpolated,
    };
    let mut points = Vec::new();
    for pair in cells.windows(2) {
        points.push(point(pair[0], false));
        for step in 1..=BETWEEN {
            let cell = between(pair[0], pair[1], step as f64 / (BETWEEN + 1) as f64);
            if cell.pages > pair[0].pages && cell.pages < pair[1].pages {
                points.push(point(cell, true));
            }
        }
    }
    points.extend(cells.last().map(|&cell| point(cell, false)));
    points.dedup_by_key(|point| point.cache_bytes);
    points
}

fn between(a: Cell, b: Cell, part: f64) -> Cell {
    let mix = |a: u64, b: u64| whole(a as f64 + (b as f64 - a as f64) * part);
    let ratio = b.pages as f64 / a.pages as f64;
    Cell {
        pages: whole(a.pages as f64 * ratio.powf(part)),
        lru: mix(a.lru, b.lru),
        active_inactive: mix(a.active_inactive, b.active_inactive),
    }
}
