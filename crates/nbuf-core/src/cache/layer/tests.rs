//! Units hold what a policy says they hold, sectors keep their addresses, and a cache of tracks
//! wastes what the paper says it wastes.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::max_iv::Rules;
use super::super::policy;
use super::*;
use crate::trace::request::{Op, Span};

const SECTOR: u64 = 256;
const TRACK: u64 = 42 * SECTOR;

fn units(unit_bytes: u64, capacity: u32, disc_bytes: u64) -> Units {
    let lru = policy::find("lru").expect("a row of the table");
    Units::new((lru.build)(capacity, 0), unit_bytes, disc_bytes, Writes::Fill)
}

/// Runs a request through; whether the disc was left alone.
fn ask(layer: &mut impl Layer, request: &Request, is_done: bool) -> bool {
    let lookup = layer.initiate(request);
    if !lookup.is_hit() {
        layer.terminate(request, is_done);
    }
    lookup.is_hit()
}

/// LRU over units again, as lists: the newest is last.
#[derive(Default)]
struct Told(Vec<u64>);

impl Told {
    fn use_or_take(&mut self, unit: u64, capacity: usize) {
        self.0.retain(|&known| known != unit);
        self.0.push(unit);
        let surplus = self.0.len().saturating_sub(capacity);
        self.0.drain(..surplus);
    }

    /// Whether it is a hit; takes in what the table of the module says.
    fn ask(&mut self, request: &Request, is_done: bool, unit_bytes: u64, capacity: usize) -> bool {
        let span = request.span();
        let (first, last) = (span.offset_bytes / unit_bytes, (span.end() - 1) / unit_bytes);
        let had: BTreeSet<u64> = self.0.iter().copied().collect();
        let all = (first..=last).all(|unit| had.contains(&unit));
        match (request.op, is_done) {
            (Op::Read, _) => {
                let used = (first..=last).filter(|unit| had.contains(unit));
                used.for_each(|unit| self.use_or_take(unit, capacity));
                for unit in (first..=last).filter(|_| is_done && !all) {
                    if !self.0.contains(&unit) {
                        self.use_or_take(unit, capacity);
                    }
                }
                all
            }
            (Op::Write, true) if request.length_bytes > 0 => {
                for unit in first..=last {
                    let whole = span.offset_bytes <= unit * unit_bytes
                        && span.end() >= (unit + 1) * unit_bytes;
                    if self.0.contains(&unit) || whole {
                        self.use_or_take(unit, capacity);
                    }
                }
                false
            }
            _ => {
                self.0.retain(|unit| !(first..=last).contains(unit));
                false
            }
        }
    }
}

fn any_request() -> impl Strategy<Value = (Request, bool)> {
    let op = proptest::sample::select(vec![Op::Read, Op::Read, Op::Read, Op::Write, Op::Discard]);
    let is_done = prop_oneof![5 => Just(true), 1 => Just(false)];
    let marks = prop_oneof![9 => Just(false), 1 => Just(true)];
    (op, 0..4_000_u64, 1..1_200_u64, is_done, marks).prop_map(|(op, at, length, is_done, marks)| {
        let length = if op == Op::Write && marks { 0 } else { length };
        (Request::new(op, at, length), is_done)
    })
}

proptest! {
    #[test]
    fn units_hold_what_a_second_telling_holds(
        unit_bytes in proptest::sample::select(vec![1_u64, 100, 256, 1024]),
        capacity in 1..40_u32,
        requests in vec(any_request(), 0..120),
    ) {
        let disc_bytes = 1 << 20;
        let mut layer = units(unit_bytes, capacity, disc_bytes);
        let mut told = Told::default();
        for (asked, is_done) in requests {
            let lookup = layer.initiate(&asked);
            let hit = lookup.is_hit();
            if !hit {
                layer.terminate(&asked, is_done);
            }
            let want = told.ask(&asked, is_done, unit_bytes, capacity as usize);
            prop_assert_eq!(hit, want, "{:?}", asked);
            if let Some(rest) = lookup.rest {
                prop_assert!(rest.end() <= disc_bytes && rest.length_bytes > 0);
            }
            let mut kept = layer.addresses();
            let mut want: Vec<u64> = told.0.iter().map(|unit| unit * unit_bytes).collect();
            kept.sort_unstable();
            want.sort_unstable();
            prop_assert_eq!(kept, want);
        }
    }

    #[test]
    fn an_address_leads_back_to_its_sector(sector in 0..1_000_000_u64, track_sectors in 1..256_u32) {
        for addressing in [
            Addressing::Plain,
            Addressing::SectorLow { track_sectors },
            Addressing::TrackLow { track_sectors: track_sectors.min(255) },
        ] {
            if let Some(address) = addressing.address(sector) {
                prop_assert_eq!(addressing.sector(address), sector, "{:?}", addressing);
            }
        }
    }

    /// A policy over sectors decides as MAX-IV does where both have the same rules.
    #[test]
    fn max_iv_is_lru_over_sectors(
        capacity in 1..20_u32,
        sectors in vec((0..40_u64, any::<bool>(), any::<bool>()), 0..300),
    ) {
        let mut lru = units(SECTOR, capacity, 1 << 20);
        let mut max_iv = Sectors::new(capacity, Rules::DEFAULT, Addressing::Plain);
        for (sector, writes, is_done) in sectors {
            let op = if writes { Op::Write } else { Op::Read };
            let asked = Request::new(op, sector * SECTOR, 256);
            prop_assert_eq!(ask(&mut lru, &asked, is_done), ask(&mut max_iv, &asked, is_done));
            let sorted = |mut addresses: Vec<u64>| {
                addresses.sort_unstable();
                addresses
            };
            prop_assert_eq!(sorted(lru.addresses()), sorted(max_iv.addresses()));
        }
    }
}

#[test]
fn a_cache_of_tracks_wastes_what_small_files_leave_empty() {
    // Files of 4 sectors, each at the beginning of a track of 42, read again and again; the same
    // memory in sectors and in tracks.
    let (files, memory_sectors) = (100, 420_u32);
    let hits = |mut layer: Units| {
        let mut hits = 0;
        for round in 0..3 {
            for file in 0..files {
                for sector in 0..4 {
                    let at = file * TRACK + sector * SECTOR;
                    let hit = ask(&mut layer, &Request::new(Op::Read, at, 256), true);
                    hits += u32::from(hit && round > 0);
                }
            }
        }
        (hits, layer.addresses().len() as u64 * layer.unit_bytes())
    };
    let disc_bytes = files * TRACK;
    let (by_sector, kept_by_sector) = hits(units(SECTOR, memory_sectors, disc_bytes));
    let (by_track, kept_by_track) = hits(units(TRACK, memory_sectors / 42, disc_bytes));
    assert_eq!((by_sector, kept_by_sector), (800, 400 * SECTOR), "all files, and room for more");
    // A track brings the other three sectors of its file, and is gone when the file comes again.
    assert_eq!((by_track, kept_by_track), (600, 420 * SECTOR));
    let useful = kept_by_track / TRACK * 4 * SECTOR;
    assert_eq!(((kept_by_track - useful) / SECTOR, kept_by_track / SECTOR), (380, 420));
}

#[test]
fn a_larger_unit_moves_whole_and_copies_what_was_asked() {
    let mut layer = units(TRACK, 2, 10 * TRACK + 5);
    let lookup = layer.initiate(&Request::new(Op::Read, TRACK + SECTOR, 256));
    let track = Span { offset_bytes: TRACK, length_bytes: 42 * 256 };
    assert_eq!(lookup.rest, Some(track));
    let work = layer.terminate(&Request::new(Op::Read, TRACK + SECTOR, 256), true);
    assert_eq!(work, Work { comparisons: 1, copied_bytes: 256 });
    let lookup = layer.initiate(&Request::new(Op::Read, TRACK + 4 * SECTOR, 512));
    assert!(lookup.is_hit() && lookup.work.copied_bytes == 512);
    // The last unit ends with the disc.
    let lookup = layer.initiate(&Request::new(Op::Read, 10 * TRACK + 1, 2));
    assert_eq!(lookup.rest, Some(Span { offset_bytes: 10 * TRACK, length_bytes: 5 }));
}

#[test]
fn a_large_write_evicts_across_a_track() {
    for addressing in [
        Addressing::Plain,
        Addressing::SectorLow { track_sectors: 42 },
        Addressing::TrackLow { track_sectors: 42 },
    ] {
        let mut layer = Sectors::new(8, Rules::DEFAULT, addressing);
        for sector in 40..44 {
            ask(&mut layer, &Request::new(Op::Read, sector * SECTOR, 256), true);
        }
        ask(&mut layer, &Request::new(Op::Write, 41 * SECTOR, 512), true);
        let mut kept = layer.addresses();
        kept.sort_unstable();
        assert_eq!(kept, [40 * SECTOR, 43 * SECTOR], "{addressing:?}");
        // A write that begins inside a sector cannot be padded.
        ask(&mut layer, &Request::new(Op::Write, 40 * SECTOR + 2, 4), true);
        assert_eq!(layer.addresses(), [43 * SECTOR], "{addressing:?}");
    }
}
