//! What a path adds to the calls that it makes: three tests of the course through the table, against
//! bare loops of the same calls on the same file.
//!
//! `cargo bench -p nbuf --bench paths`; `cargo test` runs each once. Besides what criterion says of
//! each alone, the two of a test are run in turn, A B B A, and the quickest tenths of both are compared:
//! what another process had a part of is not among them. `docs/performance.md` has the figures.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path as FilePath;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nbuf::clock::Stopwatch;
use nbuf::path::data::Data;
use nbuf::path::{Direction, Order, Path, Pattern, Request, row};
use nbuf::sys::stdio::Stream;
use rustix::fs::{SeekFrom, seek};
use rustix::io::read;

const FILE_BYTES: u64 = 10 << 20;

/// A test: its name, its row, its block, and how many operations are timed at a time, which is less
/// than the scheduler's slice.
const TESTS: [(&str, &str, u64, u64); 3] = [
    ("r02-block4096", "read", 4096, 2560),
    ("r01-byte", "read", 1, 3000),
    ("r04-stdiobyte", "stdio", 1, 1_000_000),
];

/// What is compared: a slice from the beginning of the file; the sum of first bytes.
struct Sides {
    path: Box<dyn Path>,
    bare: Box<dyn FnMut() -> u64>,
    operations: u64,
}

impl Sides {
    fn new(file: &FilePath, (_, name, block_bytes, operations): (&str, &str, u64, u64)) -> Self {
        let order = Order::Sequential;
        let direction = Direction::Read;
        let pattern = Pattern { direction, order, block_bytes, size_bytes: FILE_BYTES };
        let request = Request { file, pattern, grows: false, depth: 1 };
        let path = row(name).unwrap().open(&request).unwrap();
        let block = usize::try_from(block_bytes).unwrap();
        let file = File::open(file).unwrap();
        let bare: Box<dyn FnMut() -> u64> = match name {
            "stdio" => Box::new(bare_fgetc(file, operations)),
            _ => Box::new(bare_read(file, block, operations)),
        };
        Self { path, bare, operations }
    }

    fn through_path(&mut self) -> u64 {
        self.path.run(0..black_box(self.operations)).unwrap().sum
    }
}

fn bare_read(file: File, block: usize, operations: u64) -> impl FnMut() -> u64 {
    let file = OwnedFd::from(file);
    // From a page on, as a path's.
    let mut room = vec![0_u8; block + 4096];
    let begin = room.as_ptr().align_offset(4096);
    move || {
        let buffer = &mut room[begin..begin + block];
        let mut sum = 0;
        seek(&file, SeekFrom::Start(0)).unwrap();
        for _ in 0..black_box(operations) {
            assert!(read(&file, &mut *buffer).unwrap() == block);
            sum += u64::from(buffer[0]);
        }
        sum
    }
}

fn bare_fgetc(file: File, operations: u64) -> impl FnMut() -> u64 {
    let mut stream = Stream::of(file, false).unwrap();
    move || {
        let mut sum = 0;
        stream.seek(0).unwrap();
        for _ in 0..black_box(operations) {
            sum += u64::from(stream.read_byte().unwrap());
        }
        sum
    }
}

fn through_the_table(criterion: &mut Criterion) {
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let block = 1 << 20;
    let data = Data::new(block);
    for offset in (0..FILE_BYTES).step_by(block) {
        file.write_all(data.at(offset, block)).unwrap();
    }
    for test in TESTS {
        let mut sides = Sides::new(file.path(), test);
        assert_eq!(sides.through_path(), (sides.bare)(), "they do not read the same");
        let mut group = criterion.benchmark_group(test.0);
        group.throughput(Throughput::Bytes(sides.operations * test.2));
        group.sample_size(20).measurement_time(Duration::from_secs(2));
        group.warm_up_time(Duration::from_millis(300));
        group.bench_function("path", |bencher| bencher.iter(|| sides.through_path()));
        group.bench_function("bare", |bencher| bencher.iter(|| (sides.bare)()));
        group.finish();
        if std::env::args().any(|argument| argument == "--bench") {
            in_turn(test.0, &mut sides);
        }
    }
}

const ROUNDS: usize = 1000;

#[expect(clippy::print_stdout, reason = "a figure to be read, beside criterion's")]
fn in_turn(name: &str, sides: &mut Sides) {
    let timed = |run: &mut dyn FnMut() -> u64| {
        let clock = Stopwatch::start();
        black_box(run());
        clock.elapsed().as_secs_f64()
    };
    let (mut path, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        path.push(timed(&mut || sides.through_path()));
        bare.push(timed(&mut *sides.bare));
        bare.push(timed(&mut *sides.bare));
        path.push(timed(&mut || sides.through_path()));
    }
    path.sort_by(f64::total_cmp);
    bare.sort_by(f64::total_cmp);
    let ratio = |percent: usize| bare[ROUNDS * percent / 50] / path[ROUNDS * percent / 50];
    let (quick, tenth, median) = (ratio(2), ratio(10), ratio(50));
    println!("{name}: the path reaches {tenth:.3} of the bare loop, by the quickest tenth of each");
    println!("{name}: by the quickest fiftieth {quick:.3}, by the medians {median:.3}");
}

criterion_group!(benches, through_the_table);
criterion_main!(benches);
