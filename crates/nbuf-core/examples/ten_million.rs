//! Draws the curve of ten million accesses and says how long each part took.
//!
//! `cargo run --release -p nbuf-core --example ten_million`

#![expect(clippy::print_stdout, reason = "an example prints")]

use nbuf::internal::cache::kernel::{Replacement, Stream, simulate};
use nbuf::internal::clock::{Random, Stopwatch};
use nbuf::internal::size::draw;
use nbuf::trace::{CacheEvent, Device, Facts, FileId, Record, Records, Trace};
use nbuf::units::Pages;

const ACCESSES: u32 = 10_000_000;
const FILE_PAGES: u32 = 1 << 20;

fn main() {
    let trace = trace();
    let clock = Stopwatch::start();
    let stream = Stream::of(trace.records, &trace.files, &trace.facts, &[]);
    println!("prepared     {:6.2} s", clock.elapsed().as_secs_f64());
    for replacement in [Replacement::Lru, Replacement::ActiveInactive] {
        let clock = Stopwatch::start();
        let run = simulate(&stream, replacement, Pages(u64::from(FILE_PAGES) / 4));
        let seconds = clock.elapsed().as_secs_f64();
        println!("{replacement:?} at one size: {seconds:6.2} s, {} fills", run.fills);
    }
    let clock = Stopwatch::start();
    let curve = draw(&stream, &|_, _| {});
    let sizes = curve.points.iter().filter(|point| !point.interpolated).count();
    let seconds = clock.elapsed().as_secs_f64();
    println!("whole curve: {seconds:6.2} s, exact LRU at every size, fills at {sizes} sizes");
}

/// Seven skewed single-page reads to one scan of a few pages, on a file of 4 GiB.
fn trace() -> Trace {
    let mut random = Random::new(1);
    let mut records = Records::default();
    let mut accesses = 0;
    while accesses < ACCESSES {
        let page = nbuf::units::whole(random.unit().powi(4) * f64::from(FILE_PAGES - 64));
        let pages = if random.unit() < 0.125 { 8 } else { 1 };
        records.push(Record {
            time_ns: i64::from(accesses),
            offset_bytes: page * 4096,
            file_bytes: u64::from(FILE_PAGES) * 4096,
            length_bytes: pages * 4096,
            file: FileId(0),
            task: 1,
            request: accesses,
            op: CacheEvent::Read,
        });
        accesses += pages;
    }
    let device = Device {
        major: 254,
        minor: 0,
        name: "vda".into(),
        filesystem: "ext4".into(),
        readahead_bytes: 128 << 10,
        io_bytes: 1280 << 10,
        folio_order_max: 9,
    };
    let facts = Facts { devices: vec![device], ..Facts::default() };
    Trace { records, files: vec!["/data".into()], facts }
}
