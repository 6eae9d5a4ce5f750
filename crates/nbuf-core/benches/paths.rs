//! What a path adds to the calls that it makes: three tests of the course through the table, against
//! bare loops of the same calls in a C program (`bare.c`), which this builds.
//!
//! `cargo bench -p nbuf-core --bench paths`; `cargo test` runs each once. Besides what criterion says of
//! the path alone, the two of a test are run in turn, A B B A, and the quickest tenths of both are compared:
//! what another process had a part of is not among them. Where a buffer and a descriptor happen to lie
//! may make a call quicker or slower for as long as they live. So both are opened again many times, the C
//! program as a new process, and the median over the openings counts. The difference of two C
//! programs, measured in the same way, is next to it. `docs/performance.md` has the figures.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path as FilePath, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nbuf::internal::clock::Stopwatch;
use nbuf::internal::path::data::Data;
use nbuf::internal::path::{Direction, Order, Path, Pattern, Request, row};

const FILE_BYTES: u64 = 10 << 20;

/// A test: its name, its row, its block, and how many operations are timed at a time, which is less
/// than the scheduler's slice.
type Test = (&'static str, &'static str, u64, u64);

const TESTS: [Test; 3] = [
    ("r02-block4096", "read", 4096, 2560),
    ("r01-byte", "read", 1, 3000),
    ("r04-stdiobyte", "stdio", 1, 1_000_000),
];

/// Runs a slice from the beginning of the file.
trait Side {
    /// The sum of first bytes, and how long it took.
    fn slice(&mut self) -> (u64, f64);
}

/// A path of the table.
struct OfTable {
    path: Box<dyn Path>,
    operations: u64,
}

impl Side for OfTable {
    fn slice(&mut self) -> (u64, f64) {
        let clock = Stopwatch::start();
        let sum = self.path.run(0..black_box(self.operations)).unwrap().sum;
        (sum, clock.elapsed().as_secs_f64())
    }
}

fn through_path(file: &FilePath, (_, name, block_bytes, operations): Test) -> Box<dyn Side> {
    let order = Order::Sequential;
    let direction = Direction::Read;
    let pattern = Pattern { direction, order, block_bytes, size_bytes: FILE_BYTES };
    let request = Request { file, pattern, grows: false, depth: 1 };
    Box::new(OfTable { path: row(name).unwrap().open(&request).unwrap(), operations })
}

/// The C program.
struct Bare {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Side for Bare {
    fn slice(&mut self) -> (u64, f64) {
        self.asks.write_all(b"\n").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let (sum, elapsed_ns) = line.trim().split_once(' ').unwrap();
        (sum.parse().unwrap(), elapsed_ns.parse::<f64>().unwrap() / 1e9)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn bare(file: &FilePath, (_, name, block_bytes, operations): Test) -> Box<dyn Side> {
    let call = if name == "stdio" { "fgetc" } else { name };
    let mut command = Command::new(built());
    command.arg(file).arg(call).args([block_bytes, operations].map(|number| number.to_string()));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let asks = child.stdin.take().unwrap();
    let answers = BufReader::new(child.stdout.take().unwrap());
    Box::new(Bare { child, asks, answers })
}

/// Returns the path of the C program.
fn built() -> PathBuf {
    FilePath::new(env!("CARGO_TARGET_TMPDIR")).join("nbuf-bare")
}

fn build() {
    let source = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("benches/bare.c");
    let mut command = Command::new("cc");
    command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(built()).arg(source);
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn through_the_table(criterion: &mut Criterion) {
    build();
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let block = 1 << 20;
    let data = Data::new(block);
    for offset in (0..FILE_BYTES).step_by(block) {
        file.write_all(data.at(offset, block)).unwrap();
    }
    for test in TESTS {
        let (mut path, mut loops) = (through_path(file.path(), test), bare(file.path(), test));
        assert_eq!(path.slice().0, loops.slice().0, "they do not read the same");
        let mut group = criterion.benchmark_group(test.0);
        group.throughput(Throughput::Bytes(test.3 * test.2));
        group.sample_size(20).measurement_time(Duration::from_secs(2));
        group.warm_up_time(Duration::from_millis(300));
        group.bench_function("path", |bencher| bencher.iter(|| path.slice()));
        group.finish();
        if std::env::args().any(|argument| argument == "--bench") {
            in_turn(file.path(), test, "the path", through_path);
            in_turn(file.path(), test, "another C program", bare);
        }
    }
}

const OPENINGS: usize = 40;
const ROUNDS: usize = 30;

#[expect(clippy::print_stdout, reason = "a figure to be read, next to criterion's")]
fn in_turn(file: &FilePath, test: Test, what: &str, open: fn(&FilePath, Test) -> Box<dyn Side>) {
    let ratio_of_opening = |opening: usize| {
        // The side that is opened first has other places in memory than the second.
        let early = opening.is_multiple_of(2).then(|| open(file, test));
        let mut bare = bare(file, test);
        let mut side = early.unwrap_or_else(|| open(file, test));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(side.slice().1);
            theirs.push(bare.slice().1);
            theirs.push(bare.slice().1);
            ours.push(side.slice().1);
        }
        quick(&mut theirs) / quick(&mut ours)
    };
    let mut ratios: Vec<f64> = (0..OPENINGS).map(ratio_of_opening).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |percent: usize| ratios[OPENINGS * percent / 100];
    println!(
        "{}: {what} reaches {:.3} of the C program; quarters of the openings below {:.3} and above {:.3}",
        test.0,
        at(50),
        at(25),
        at(75)
    );
}

/// The time that a tenth of them stays below.
fn quick(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 10]
}

criterion_group!(benches, through_the_table);
criterion_main!(benches);
