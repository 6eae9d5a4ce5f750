//! The kernel's readahead setting as a second knob: the same workload with other windows.
//!
//! A wide window fills pages that a small cache loses before they are used; a narrow one asks the
//! disc more often, which fills do not show. All of it is predicted by the model of the active and inactive
//! lists, and none is verified: the setting belongs to the machine. Cost: at most four windows, at most a
//! dozen simulations each.

use super::recommend::{limit_at, with_margin};
use super::result::{ReadaheadPoint, Recommend};
use crate::cache::kernel::{Stream, simulate};
use crate::trace::Memory;
use crate::units::{Bytes, Pages, whole};

/// Windows that are always looked at: none, and the kernel's default.
const WINDOWS: [Bytes; 2] = [Bytes(0), Bytes(128 << 10)];
/// A change that is worth a line.
const WORTH: f64 = 0.05;
/// Fills that are no more: a window may run past the end of a loop, or stop short of it.
const SAME_PART: u64 = 100;
/// A size is looked for until it is known to this ratio.
const NEAR: f64 = 1.01;
/// Simulations that a search for a size may take.
const STEPS: usize = 10;

/// Returns the effect of other windows at a recommended size; nothing where none changes much. With
/// `asked`, that window is tried too, and all windows are returned.
pub(crate) fn windows(
    stream: &mut Stream,
    recommend: &Recommend,
    memory: &Memory,
    requested: Option<Bytes>,
) -> Vec<ReadaheadPoint> {
    let own_window = Pages(stream.window_pages().into()).bytes();
    let cache = recommend.cache_bytes;
    let own = ReadaheadPoint {
        readahead_bytes: own_window,
        fills: fills(stream, cache.pages_down().0),
        limit_bytes: Some(recommend.limit_bytes),
        is_own: true,
    };
    let enough = own.fills + own.fills / SAME_PART;
    let mut others: Vec<Bytes> = WINDOWS.into_iter().chain(requested).collect();
    others.retain(|&window| window != own_window);
    let mut points = vec![own];
    for window in others {
        if points.iter().all(|point| point.readahead_bytes != window) {
            let point = stream.with_readahead(window, |other| {
                other_window(other, window, recommend, memory, enough)
            });
            points.push(point);
        }
    }
    points.sort_by_key(|point| point.readahead_bytes);
    let matters = |point: &ReadaheadPoint| {
        let limit = point.limit_bytes.map(|limit| limit.0 as f64);
        differs(point.fills as f64, own.fills as f64)
            || limit.is_none_or(|limit| differs(limit, recommend.limit_bytes.0 as f64))
    };
    if requested.is_some() || points.iter().any(matters) { points } else { Vec::new() }
}

fn differs(a: f64, b: f64) -> bool {
    (a - b).abs() > WORTH * b
}

fn fills(stream: &Stream, pages: u64) -> u64 {
    simulate(stream, stream.kernel_order(), Pages(pages)).fills
}

fn other_window(
    stream: &Stream,
    window: Bytes,
    recommend: &Recommend,
    memory: &Memory,
    own_fills: u64,
) -> ReadaheadPoint {
    let cache = recommend.cache_bytes;
    let here = fills(stream, cache.pages_down().0);
    let all = simulate(stream, stream.kernel_order(), Pages(u32::MAX.into()));
    let most = all.peak.bytes();
    // The recommendation has room above the foot of its cliff, so this one gets it too. A size that
    // is as good as the recommended one is not looked for above it.
    let enough = if here <= own_fills { cache.pages_down() } else { all.peak };
    let limit = (here.min(all.fills) <= own_fills).then(|| {
        let least = smallest(stream, enough, own_fills);
        let needed = with_margin(least.bytes(), most.max(least.bytes()));
        let needed = if here <= own_fills { needed.min(cache) } else { needed };
        limit_at(needed, memory).0
    });
    ReadaheadPoint { readahead_bytes: window, fills: here, limit_bytes: limit, is_own: false }
}

/// About the smallest cache that fills no more than `most`, which `enough` does not; never one too
/// small for two windows, nor for a thought.
fn smallest(stream: &Stream, enough: Pages, most: u64) -> Pages {
    let mut low = (2 * u64::from(stream.window_pages())).max(64) as f64;
    let mut high = enough.0 as f64;
    if high > low && fills(stream, whole(low)) <= most {
        return Pages(whole(low));
    }
    for _ in 0..STEPS {
        if high <= low * NEAR {
            break;
        }
        let middle = (low * high).sqrt();
        if fills(stream, whole(middle)) <= most { high = middle } else { low = middle }
    }
    Pages(whole(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::recommend::recommend;
    use crate::experiment::result::{Advice, Curve};
    use crate::trace::{CacheEvent, Device, FileId, Record, Trace};
    use crate::units::PAGE_BYTES;

    /// 4000 reads all over a file of 4000 pages and its first quarter, after one from end to end, on
    /// a device with this window.
    fn trace(window: Bytes) -> Trace {
        let record = |time: u64, page: u64, pages: u32| Record {
            time_ns: i64::try_from(time).unwrap(),
            offset_bytes: page * PAGE_BYTES,
            file_bytes: 4000 * PAGE_BYTES,
            length_bytes: pages * 4096,
            file: FileId(0),
            task: 1,
            request: 0,
            op: CacheEvent::Read,
        };
        let mut records = vec![record(0, 0, 4000)];
        let page = |n: u64| n * 2_654_435_761 % if n.is_multiple_of(3) { 4000 } else { 1000 };
        records.extend((1..4000).map(|n| record(n, page(n), 1)));
        let mut trace =
            Trace { records: records.into(), files: vec!["/f".into()], ..Trace::default() };
        trace.facts.devices = vec![Device {
            major: 8,
            minor: 1,
            name: String::new(),
            filesystem: String::new(),
            readahead_bytes: window.0,
            io_bytes: 0,
            folio_order_max: 0,
        }];
        trace
    }

    fn stream_of(trace: Trace) -> Stream {
        Stream::of(trace.records, &trace.files, &trace.facts, &[])
    }

    #[test]
    fn another_window_is_as_if_the_device_had_had_it() {
        let sizes = [Bytes(0), Bytes(64 << 10), Bytes(128 << 10), Bytes(8 << 20)];
        for own in sizes {
            let mut stream = stream_of(trace(own));
            let before = [300, 2000].map(|pages| fills(&stream, pages));
            for other in sizes {
                let want = stream_of(trace(other));
                for pages in [300, 2000, 8000] {
                    let got = stream.with_readahead(other, |stream| fills(stream, pages));
                    assert_eq!(got, fills(&want, pages), "{own} as {other}, {pages} pages");
                }
            }
            // And afterwards it is what it was.
            assert_eq!([300, 2000].map(|pages| fills(&stream, pages)), before);
        }
    }

    const ADVICE: Recommend = Recommend {
        kind: Advice::Knee,
        limit_bytes: Bytes(11 << 20),
        cache_bytes: Bytes(8 << 20),
        knee_bytes: Bytes(8 << 20),
        floor_bytes: Bytes(0),
        ceiling_bytes: Bytes(8 << 20),
        slack_bytes: Bytes(1 << 20),
        spread_bytes: Bytes(0),
        reason: String::new(),
    };

    #[test]
    fn a_narrower_window_needs_less_where_reads_are_all_over() {
        let mut stream = stream_of(trace(Bytes(1 << 20)));
        let memory = Memory::default();
        let points = windows(&mut stream, &ADVICE, &memory, None);
        let found: Vec<_> = points.iter().map(|p| (p.readahead_bytes.0 >> 10, p.is_own)).collect();
        assert_eq!(found, [(0, false), (128, false), (1024, true)]);
        assert!(points[0].fills < points[2].fills, "{points:#?}");
        let narrow = points[0].limit_bytes.unwrap();
        assert!(narrow < ADVICE.limit_bytes, "{points:#?}");
        // The size it gives keeps what it promises.
        let room = narrow.saturating_sub(ADVICE.slack_bytes).pages_down().0;
        let there = stream.with_readahead(Bytes(0), |stream| fills(stream, room));
        assert!(there <= points[2].fills + points[2].fills / 50, "{there}: {points:#?}");
    }

    #[test]
    fn where_no_window_matters_none_is_told_unless_asked_for() {
        // All in one read, and with room for it.
        let mut once = trace(Bytes(128 << 10));
        once.records = once.records.iter().take(1).collect();
        let mut stream = stream_of(once);
        let memory = Memory { anonymous_bytes: Bytes(1 << 30), ..Memory::default() };
        let curve = Curve::default();
        let advice = recommend(&curve, &memory, Bytes(128 << 10)).unwrap();
        assert_eq!(windows(&mut stream, &advice, &memory, None), []);
        let requested = windows(&mut stream, &advice, &memory, Some(Bytes(128 << 10)));
        assert_eq!(requested.len(), 2, "{requested:#?}");
        let requested = windows(&mut stream, &advice, &memory, Some(Bytes(4 << 10)));
        assert_eq!(requested.len(), 3, "{requested:#?}");
    }
}
