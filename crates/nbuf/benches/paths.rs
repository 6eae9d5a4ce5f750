//! What a path adds to the calls that it makes: three tests of the course through the table, against
//! bare loops of the same calls on the same file.
//!
//! `cargo bench -p nbuf --bench paths`; `cargo test` runs each once. Besides what criterion says of
//! each alone, the two of a test are run in turn, A B B A, and the quickest tenths of both are compared:
//! what another process had a part of is not among them. Where a buffer and a descriptor happen to lie
//! may make a call quicker or slower for as long as they live, so both are opened anew many times, and the
//! median over the openings counts; what two bare loops differ by in the same way stands beside it.
//! `docs/performance.md` has the figures.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path as FilePath;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nbuf::clock::Stopwatch;
use nbuf::path::data::Data;
use nbuf::path::{Direction, Order, Pattern, Request, row};
use nbuf::sys::stdio::Stream;
use rustix::fs::{SeekFrom, seek};
use rustix::io::read;

const FILE_BYTES: u64 = 10 << 20;

/// A test: its name, its row, its block, and how many operations are timed at a time, which is less
/// than the scheduler's slice.
type Test = (&'static str, &'static str, u64, u64);

const TESTS: [Test; 3] = [
    ("r02-block4096", "read", 4096, 2560),
    ("r01-byte", "read", 1, 3000),
    ("r04-stdiobyte", "stdio", 1, 1_000_000),
];

/// A slice from the beginning of the file; the sum of first bytes.
type Side = Box<dyn FnMut() -> u64>;

fn through_path(file: &FilePath, (_, name, block_bytes, operations): Test) -> Side {
    let order = Order::Sequential;
    let direction = Direction::Read;
    let pattern = Pattern { direction, order, block_bytes, size_bytes: FILE_BYTES };
    let request = Request { file, pattern, grows: false, depth: 1 };
    let mut path = row(name).unwrap().open(&request).unwrap();
    Box::new(move || path.run(0..black_box(operations)).unwrap().sum)
}

fn bare(file: &FilePath, (_, name, block_bytes, operations): Test) -> Side {
    let block = usize::try_from(block_bytes).unwrap();
    let file = File::open(file).unwrap();
    match name {
        "stdio" => Box::new(bare_fgetc(file, operations)),
        _ => Box::new(bare_read(file, block, operations)),
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
        let (mut path, mut loops) = (through_path(file.path(), test), bare(file.path(), test));
        assert_eq!(path(), loops(), "they do not read the same");
        let mut group = criterion.benchmark_group(test.0);
        group.throughput(Throughput::Bytes(test.3 * test.2));
        group.sample_size(20).measurement_time(Duration::from_secs(2));
        group.warm_up_time(Duration::from_millis(300));
        group.bench_function("path", |bencher| bencher.iter(&mut path));
        group.bench_function("bare", |bencher| bencher.iter(&mut loops));
        group.finish();
        if std::env::args().any(|argument| argument == "--bench") {
            in_turn(file.path(), test, "the path", through_path);
            in_turn(file.path(), test, "another bare loop", bare);
        }
    }
}

const OPENINGS: usize = 40;
const ROUNDS: usize = 30;

#[expect(clippy::print_stdout, reason = "a figure to be read, beside criterion's")]
fn in_turn(file: &FilePath, test: Test, what: &str, open: fn(&FilePath, Test) -> Side) {
    let ratio_of_opening = |opening: usize| {
        // What is opened first lies elsewhere than what comes second.
        let early = opening.is_multiple_of(2).then(|| open(file, test));
        let mut bare = bare(file, test);
        let mut side = early.unwrap_or_else(|| open(file, test));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(timed(&mut side));
            theirs.push(timed(&mut bare));
            theirs.push(timed(&mut bare));
            ours.push(timed(&mut side));
        }
        quick(&mut theirs) / quick(&mut ours)
    };
    let mut ratios: Vec<f64> = (0..OPENINGS).map(ratio_of_opening).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |percent: usize| ratios[OPENINGS * percent / 100];
    println!(
        "{}: {what} reaches {:.3} of the bare loop; quarters of the openings below {:.3} and above {:.3}",
        test.0,
        at(50),
        at(25),
        at(75)
    );
}

fn timed(side: &mut Side) -> f64 {
    let clock = Stopwatch::start();
    black_box(side());
    clock.elapsed().as_secs_f64()
}

/// The time that a tenth of them stays below.
fn quick(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 10]
}

criterion_group!(benches, through_the_table);
criterion_main!(benches);
