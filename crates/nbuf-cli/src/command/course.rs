//! `nbuf writer`, `nbuf reader`, `nbuf memreader`: the programs of the CS61 course, with its options.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nbuf::clock::Stopwatch;
use nbuf::path::option_driven::{Loop, Means};
use nbuf::path::ours::Draft;
use nbuf::path::{Direction, Order, Pattern};
use nbuf::sys::input;
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
/// The file is made, or replaced if all of it is what `nbuf writer` writes. It gets its name when it is
/// whole: whatever ends the writing before, nothing has the name, or what had it. That takes room for
/// both, and a directory that may be written to.
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
    let draft = Draft::begin(path, *force).with_context(name)?;
    let file = draft.file(waits).with_context(name)?;
    let left = if draft.replaces() { "it is as it was" } else { "it was not made" };
    let whole = || format!("{}; {left}; make room or name another", name());
    let look = looks(&pattern, *stdio, waits);
    match run(file, pattern, means(*stdio), common, Some((&signals, look))) {
        Ok(Ended::Signal(signal)) => {
            note(format_args!("interrupted; {}: {left}", path.display()));
            Ok(u8::try_from(128 + signal).unwrap_or(exit::OURS))
        }
        Ok(Ended::All(line)) => {
            draft.publish().with_context(whole)?;
            // Whoever does not hear this has his file all the same.
            print(line.as_bytes())?;
            Ok(0)
        }
        Err(Failure::Moving(error)) => Err(error).with_context(whole),
        Err(Failure::Telling(error)) => {
            if error.downcast_ref::<io::Error>().is_none() {
                note(format_args!("{}: {left}", path.display()));
            }
            Err(error)
        }
    }
}

pub(crate) fn read(arguments: &Reader) -> Result<u8> {
    let Reader { common, stdio, file: path } = arguments;
    let pattern = pattern(common, Direction::Read)?;
    let file = open(path, &pattern)?;
    let ended = run(file, pattern, means(*stdio), common, None);
    tell_read(ended, || format!("cannot read {}", path.display()))
}

pub(crate) fn read_mapped(arguments: &Memreader) -> Result<u8> {
    let Memreader { common, file: path } = arguments;
    let pattern = pattern(common, Direction::Read)?;
    let file = open(path, &pattern)?;
    let ended = run(file, pattern, Means::Mapping, common, None);
    tell_read(ended, || format!("cannot map {}", path.display()))
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
    input::open(path).with_context(|| format!("cannot read {shown}; name a file that you may read"))
}

/// Bytes, or operations if they are small, between two looks for a signal: a look costs a call.
const LOOK_BYTES: u64 = 1 << 20;
const LOOK_OPERATIONS: u64 = 1 << 10;
/// What stdio gathers before it asks the disc.
const STDIO_BYTES: u64 = 4096;

/// Operations between two looks for a signal. Where each call waits for the disc, a look costs
/// nothing beside it, and Ctrl-C would have to wait for all of them.
fn looks(pattern: &Pattern, stdio: u8, waits: bool) -> u64 {
    let bytes = match (waits, stdio) {
        (true, 1) => STDIO_BYTES,
        (true, _) => 1,
        (false, _) => LOOK_BYTES,
    };
    (bytes / pattern.block_bytes.max(1)).clamp(1, LOOK_OPERATIONS)
}

/// How a run ended.
enum Ended {
    /// All was moved; this is to be said.
    All(String),
    /// A signal came.
    Signal(i32),
}

/// Why a run failed: of the file, or of standard output.
enum Failure {
    Moving(anyhow::Error),
    Telling(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Moving(error.into())
    }
}

/// Says what came of reading.
fn tell_read(ended: Result<Ended, Failure>, what: impl FnOnce() -> String) -> Result<u8> {
    match ended {
        Ok(Ended::All(line)) => print(line.as_bytes()).map(|()| 0),
        // Nobody listened for one.
        Ok(Ended::Signal(_)) => Ok(0),
        Err(Failure::Moving(error)) => Err(error).with_context(what),
        Err(Failure::Telling(error)) => Err(error),
    }
}

/// All of it, with lines on the way; or until a signal comes, for which it looks every so many
/// operations.
fn run(
    file: File,
    pattern: Pattern,
    means: Means,
    common: &Common,
    signals: Option<(&Signals, u64)>,
) -> Result<Ended, Failure> {
    let every = bytes(common.print, "-p")?;
    let mut steps = Loop::new(file, pattern, means)?;
    let mut next = every;
    let clock = Stopwatch::start();
    steps.begin()?;
    for operation in 0..pattern.operations() {
        if let Some((signals, look)) = signals
            && operation % look == 0
            && let Some(signal) = signals.next()
        {
            return Ok(Ended::Signal(signal.number));
        }
        steps.step()?;
        if every > 0 && steps.moved_bytes() >= next {
            let line = line(steps.moved_bytes(), clock.elapsed());
            print(line.as_bytes()).map_err(Failure::Telling)?;
            next = (steps.moved_bytes() / every + 1).saturating_mul(every);
        }
    }
    steps.end()?;
    Ok(Ended::All(line(steps.moved_bytes(), clock.elapsed())))
}

fn line(bytes: u64, elapsed: Duration) -> String {
    let rate = u128::from(bytes) * NS_PER_SECOND / elapsed.as_nanos().max(1);
    format!("{bytes} bytes, {:.6} s, {rate} bytes/s\n", elapsed.as_secs_f64())
}

const NS_PER_SECOND: u128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_the_disc_looks_up_each_time() {
        let check = |block_bytes, stdio, waits, want| {
            let size_bytes = 10 << 20;
            let (direction, order) = (Direction::Write, Order::Sequential);
            let pattern = Pattern { direction, order, block_bytes, size_bytes };
            assert_eq!(looks(&pattern, stdio, waits), want, "{block_bytes} {stdio} {waits}");
        };
        check(1, 0, true, 1);
        check(4096, 0, true, 1);
        check(1, 1, true, 1024);
        check(512, 1, true, 8);
        check(1, 0, false, 1024);
        check(65536, 0, false, 16);
        check(4 << 20, 1, false, 1);
    }
}
