//! `nbuf writer`, `nbuf reader`, `nbuf memreader`: the programs of the CS61 course, with its options.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nbuf::clock::Stopwatch;
use nbuf::path::option_driven::{Loop, Means};
use nbuf::path::{Direction, Order, Pattern, ours};
use nbuf::sys::signal::Signals;
use nbuf::units::{Bytes, Size};

use crate::exit;
use crate::output::print;
use crate::voice::note;

/// What all three are asked.
#[derive(Debug, clap::Args)]
struct Common {
    /// Bytes to move
    #[arg(short = 'n', value_name = "SIZE", default_value = "10485760")]
    size: Size,
    /// Bytes in a block
    #[arg(short = 'b', value_name = "BLOCKSIZE", default_value = "1")]
    block: Size,
    /// From one block to the next; 0 is in sequence; as much as a block is in sequence with seeks
    #[arg(short = 's', value_name = "STRIDE", default_value = "0")]
    stride: Size,
    /// Say how far it is every so many bytes; 0 is never
    #[arg(short = 'p', value_name = "PRINTFREQUENCY", default_value = "0")]
    print: Size,
}

/// Write a file as the CS61 course's `writer` does, and say how fast.
///
/// The file is made, or written over if all of it is what `nbuf writer` writes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf writer -b 512              # w04-block
  nbuf writer -b 4096 -y 1        # w02-syncblock4096
  nbuf writer -S 1                # w05-stdiobyte")]
pub(crate) struct Writer {
    #[command(flatten)]
    common: Common,
    /// 1 to use stdio, 0 to use system calls
    #[arg(short = 'S', value_name = "USESTDIO", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=1))]
    stdio: u8,
    /// 1 to open the file with `O_SYNC`
    #[arg(short = 'y', value_name = "USESYNC", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=1))]
    sync: u8,
    /// Write over a file that has something else, too
    #[arg(long)]
    force: bool,
    /// File to write
    #[arg(value_name = "FILENAME", default_value = "data")]
    file: PathBuf,
}

/// Read a file as the CS61 course's `reader` does, and say how fast.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf reader -b 4096             # r02-block4096
  nbuf reader -S 1                # r04-stdiobyte
  nbuf reader -s 1048576 -b 512   # r07-strideblock")]
pub(crate) struct Reader {
    #[command(flatten)]
    common: Common,
    /// 1 to use stdio, 0 to use system calls
    #[arg(short = 'S', value_name = "USESTDIO", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=1))]
    stdio: u8,
    /// File to read
    #[arg(value_name = "FILENAME", default_value = "data")]
    file: PathBuf,
}

/// Read a mapped file as the CS61 course's `memreader` does, and say how fast.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf memreader -b 4096          # r12-mmapblock4096
  nbuf memreader -s 1048576       # r13-mmapstridebyte")]
pub(crate) struct Memreader {
    #[command(flatten)]
    common: Common,
    /// File to read
    #[arg(value_name = "FILENAME", default_value = "data")]
    file: PathBuf,
}

pub(crate) fn write(arguments: &Writer) -> Result<u8> {
    let Writer { common, stdio, sync, force, file: path } = arguments;
    let pattern = pattern(common, Direction::Write)?;
    let waits = *sync == 1;
    if waits && pattern.operations() > SLOW_WRITES {
        note(format_args!(
            "each of {} writes waits for the disc, which may take hours; -p says how far it is",
            pattern.operations()
        ));
    }
    let name = || format!("cannot write {}", path.display());
    let signals = Signals::block().context("cannot listen for Ctrl-C")?;
    let (file, _) = ours::open(path, *force, waits).with_context(name)?;
    let ended = run(file, pattern, means(*stdio), common, Some(&signals));
    if let Ok(Some(signal)) = ended {
        let _ = std::fs::remove_file(path);
        note(format_args!("interrupted; removed {}, which was not all written", path.display()));
        return Ok(u8::try_from(128 + signal).unwrap_or(exit::OURS));
    }
    if let Err(error) = ended {
        let cause = error.downcast_ref::<io::Error>();
        if cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
            // Nobody listens any more, which says nothing of the file.
            return Err(error);
        }
        // Half of it is worth nothing, and it was made or taken for this.
        let _ = std::fs::remove_file(path);
        return Err(error)
            .with_context(|| format!("{}, and removed it; make room or name another", name()));
    }
    Ok(0)
}

pub(crate) fn read(arguments: &Reader) -> Result<u8> {
    let Reader { common, stdio, file: path } = arguments;
    let pattern = pattern(common, Direction::Read)?;
    let file = open(path, &pattern)?;
    run(file, pattern, means(*stdio), common, None)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(0)
}

pub(crate) fn read_mapped(arguments: &Memreader) -> Result<u8> {
    let Memreader { common, file: path } = arguments;
    let pattern = pattern(common, Direction::Read)?;
    let file = open(path, &pattern)?;
    run(file, pattern, Means::Mapping, common, None)
        .with_context(|| format!("cannot map {}", path.display()))?;
    Ok(0)
}

/// More writes that wait than this take minutes at least.
const SLOW_WRITES: u64 = 100_000;

fn means(stdio: u8) -> Means {
    if stdio == 1 { Means::Streams } else { Means::Calls }
}

fn pattern(common: &Common, direction: Direction) -> Result<Pattern> {
    let size_bytes = bytes(common.size, "-n")?;
    let block_bytes = bytes(common.block, "-b")?;
    let stride_bytes = bytes(common.stride, "-s")?;
    let order = match stride_bytes {
        0 => Order::Sequential,
        stride_bytes => Order::Strided { stride_bytes },
    };
    let pattern = Pattern { direction, order, block_bytes, size_bytes };
    pattern.check().context("-n, -b and -s")?;
    if block_bytes.min(size_bytes) > BLOCK_MAX {
        bail!("-b {block_bytes} is more than is moved at once here; give at most {BLOCK_MAX}");
    }
    if (1..block_bytes).contains(&stride_bytes) {
        note(format_args!(
            "blocks of {block_bytes} bytes overlap at strides of {stride_bytes}: some bytes are \
             moved several times, and those from {} on not at all",
            pattern.end_bytes()
        ));
    }
    Ok(pattern)
}

/// A buffer larger than this is nobody's wish.
const BLOCK_MAX: u64 = 1 << 30;

fn bytes(size: Size, option: &str) -> Result<u64> {
    match size {
        Size::Absolute(Bytes(bytes)) => Ok(bytes),
        Size::Percent(_) => bail!("{option} is a number of bytes; give it without %"),
    }
}

/// A file with enough in it.
fn open(path: &Path, pattern: &Pattern) -> Result<File> {
    let shown = path.display();
    let metadata = std::fs::metadata(path)
        .with_context(|| format!("cannot read {shown}; write it with `nbuf writer` first"))?;
    if !metadata.is_file() {
        bail!("cannot read {shown}: it is no regular file; name one");
    }
    let (has, wants) = (metadata.len(), pattern.size_bytes);
    if has < wants {
        bail!(
            "{shown} has {has} bytes of {wants}; write more with `nbuf writer`, or give -n {has}"
        );
    }
    File::open(path).with_context(|| format!("cannot read {shown}; name a file that you may read"))
}

/// Bytes, or operations if they are small, between two looks for a signal: a look costs a call.
const LOOK_BYTES: u64 = 1 << 20;
const LOOK_OPERATIONS: u64 = 1 << 10;

/// All of it, with a line at the end and on the way; or until a signal comes, which it gives.
fn run(
    file: File,
    pattern: Pattern,
    means: Means,
    common: &Common,
    signals: Option<&Signals>,
) -> Result<Option<i32>> {
    let every = bytes(common.print, "-p")?;
    let look = (LOOK_BYTES / pattern.block_bytes.max(1)).clamp(1, LOOK_OPERATIONS);
    let mut steps = Loop::new(file, pattern, means)?;
    let mut next = every;
    let clock = Stopwatch::start();
    steps.begin()?;
    for operation in 0..pattern.operations() {
        if operation % look == 0
            && let Some(signal) = signals.and_then(Signals::next)
        {
            return Ok(Some(signal.number));
        }
        steps.step()?;
        if every > 0 && steps.moved_bytes() >= next {
            print(line(steps.moved_bytes(), clock.elapsed()).as_bytes())?;
            next = (steps.moved_bytes() / every + 1).saturating_mul(every);
        }
    }
    steps.end()?;
    print(line(steps.moved_bytes(), clock.elapsed()).as_bytes())?;
    Ok(None)
}

fn line(bytes: u64, elapsed: Duration) -> String {
    let rate = u128::from(bytes) * NS_PER_SECOND / elapsed.as_nanos().max(1);
    format!("{bytes} bytes, {:.6} s, {rate} bytes/s\n", elapsed.as_secs_f64())
}

const NS_PER_SECOND: u128 = 1_000_000_000;
