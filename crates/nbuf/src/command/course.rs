//! `nbuf writer`, `nbuf reader`, `nbuf memreader`: the programs of the CS61 course, with its options.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use nbuf::experiment::course::{self, Error, Program, Spec};
use nbuf::experiment::result::CourseDocument;
use nbuf::experiment::session::Interim;
use nbuf::units::{Bytes, Size};

use crate::console::Console;
use crate::exit;
use crate::fail::UsageError;
use crate::output::{as_io, print};
use crate::show::bench::rate;

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
    /// Print the progress every PRINTFREQUENCY bytes; 0 is never
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
  nbuf writer -S 1                # w05-stdiobyte

Exit status:
  0    done
  2    usage error
  125  nbuf failed; standard error says why")]
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
  nbuf reader -s 1048576 -b 512   # r07-strideblock

Exit status:
  0    done
  2    usage error
  125  nbuf failed; standard error says why")]
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
  nbuf memreader -s 1048576       # r13-mmapstridebyte

Exit status:
  0    done
  2    usage error
  125  nbuf failed; standard error says why")]
pub(crate) struct Memreader {
    #[command(flatten)]
    common: Common,
    /// File to read
    #[arg(value_name = "FILENAME", default_value = "data")]
    file: PathBuf,
}

pub(crate) fn write(arguments: &Writer) -> Result<u8> {
    let Writer { common, stdio, sync, force, file } = arguments;
    let (uses_stdio, is_synced, force) = (*stdio == 1, *sync == 1, *force);
    run(&Spec { uses_stdio, is_synced, force, ..common.spec(Program::Writer, file)? })
}

pub(crate) fn read(arguments: &Reader) -> Result<u8> {
    let Reader { common, stdio, file } = arguments;
    run(&Spec { uses_stdio: *stdio == 1, ..common.spec(Program::Reader, file)? })
}

pub(crate) fn read_mapped(arguments: &Memreader) -> Result<u8> {
    run(&arguments.common.spec(Program::Memreader, &arguments.file)?)
}

impl Common {
    /// What the experiment is asked.
    fn spec(&self, program: Program, file: &Path) -> Result<Spec> {
        Ok(Spec {
            program,
            file: file.to_owned(),
            size_bytes: bytes(self.size, "-n")?,
            block_bytes: bytes(self.block, "-b")?,
            stride_bytes: bytes(self.stride, "-s")?,
            print_bytes: bytes(self.print, "-p")?,
            ..Spec::default()
        })
    }
}

fn bytes(size: Size, option: &str) -> Result<u64> {
    match size {
        Size::Absolute(Bytes(bytes)) => Ok(bytes),
        Size::Percent(_) => {
            bail!(UsageError(format!("{option} is a number of bytes; give it without %")))
        }
    }
}

fn run(spec: &Spec) -> Result<u8> {
    let take = |interim: Interim<'_>| match interim {
        Interim::Moved(moved) => tell(moved).map_err(as_io),
        _ => Ok(()),
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    match course::run(spec, &mut session) {
        // Who reads no further has the file all the same.
        Ok(moved) => tell(&moved).map(|()| 0),
        Err(Error::Interrupted(signal)) => Ok(exit::command(128 + signal)),
        Err(Error::Observer(error)) => Err(error.into()),
        Err(other) => Err(other.into()),
    }
}

fn tell(moved: &CourseDocument) -> Result<()> {
    let CourseDocument { bytes, seconds, bytes_per_second, .. } = moved;
    let line = format!("{bytes} bytes, {seconds:.6} s, {}\n", rate(*bytes_per_second as f64));
    print(line.as_bytes())
}
