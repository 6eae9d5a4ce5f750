//! The table of all paths.

use std::fs::File;

use super::option_driven::Means;
use super::pattern::Direction::{self, Read, Write};
use super::ring::{PLAIN, POLLED, REGISTERED};
use super::{
    Error, Path, Pattern, Request, buffered, call, direct, flagged, mapped, null, option_driven,
    over_direct, pool, raw, ring, several, standard,
};
use crate::sys::mapping::Advice;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name in options, tables and documents.
    pub name: &'static str,
    /// A short description of its calls.
    pub about: &'static str,
    /// The directions that it supports.
    pub directions: &'static [Direction],
    /// The most operations in flight.
    pub depth_max: u32,
    /// Opens the path for a valid request.
    opener: Opener,
}

/// The signature of a path's constructor.
type Opener = fn(&Request<'_>) -> Result<Box<dyn Path>, Error>;

impl Row {
    /// Opens the path. The error names what the machine or the file refuses.
    pub fn open(&self, request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
        let Pattern { direction, size_bytes, .. } = request.pattern;
        request.pattern.check()?;
        if !self.directions.contains(&direction) {
            return Err(Error::Direction { path: self.name, direction });
        }
        let Request { depth, .. } = *request;
        if !(1..=self.depth_max).contains(&depth) {
            return Err(Error::Depth { path: self.name, depth_max: self.depth_max, depth });
        }
        let longest = request.pattern.longest_bytes();
        if longest > BLOCK_BYTES_MAX {
            return Err(Error::Block(longest));
        }
        let metadata = std::fs::metadata(request.file)?;
        if !metadata.is_file() {
            return Err(Error::NotAFile);
        }
        let has_bytes = metadata.len();
        let is_growing = request.grows && direction == Write;
        if !is_growing && has_bytes < size_bytes {
            return Err(Error::Short { has_bytes, wanted_bytes: size_bytes });
        }
        (self.opener)(request)
    }
}

/// The row with this name.
pub fn row(name: &str) -> Option<&'static Row> {
    PATHS.iter().find(|row| row.name == name)
}

/// A longer block would allocate an unexpected amount of memory.
const BLOCK_BYTES_MAX: usize = 1 << 30;

/// Requests in deeper queues only wait longer.
const DEPTH_MAX: u32 = 1024;

const BOTH: &[Direction] = &[Read, Write];
const READ: &[Direction] = &[Read];
const WRITE: &[Direction] = &[Write];

/// All paths, the simplest first.
pub const PATHS: &[Row] = &[
    alone("null", BOTH, "nothing but the loop, which measures the meter itself", null::open),
    alone(
        "read",
        BOTH,
        "read and write, with an lseek before each where the order is not sequential",
        call::open_read,
    ),
    alone("pread", BOTH, "pread and pwrite", call::open_pread),
    alone("read-raw", READ, "read without the C library: the system call in place", raw::open_read),
    alone("pread-raw", READ, "pread without the C library", raw::open_pread),
    alone("write-sync", WRITE, "write to a file opened with O_SYNC", flagged::open_sync),
    alone("write-dsync", WRITE, "write to a file opened with O_DSYNC", flagged::open_dsync),
    alone("preadv2", BOTH, "preadv2 and pwritev2 without a flag", flagged::open_plain),
    alone(
        "preadv2-nowait",
        READ,
        "preadv2 with RWF_NOWAIT, and without it for what is not in memory",
        flagged::open_nowait,
    ),
    alone(
        "preadv2-dontcache",
        BOTH,
        "preadv2 and pwritev2 with RWF_DONTCACHE",
        flagged::open_dontcache,
    ),
    alone("direct", BOTH, "pread and pwrite of a file opened with O_DIRECT", direct::open),
    alone(
        "direct-dsync",
        WRITE,
        "pwrite to a file opened with O_DIRECT and O_DSYNC",
        direct::open_dsync,
    ),
    alone(
        "bytes-over-direct",
        BOTH,
        "any bytes, over whole blocks of O_DIRECT and a buffer of one for parts of them",
        over_direct::open,
    ),
    alone(
        "stdio",
        BOTH,
        "fgetc and fputc for single bytes, fread and fwrite for blocks, fseek for strides",
        standard::open_plain,
    ),
    alone(
        "stdio-unlocked",
        BOTH,
        "getc_unlocked and putc_unlocked, fread_unlocked and fwrite_unlocked for blocks",
        standard::open_unlocked,
    ),
    alone("stdio-fread", BOTH, "fread and fwrite, for single bytes too", standard::open_blocks),
    alone("stdio-multi", READ, "fgetc or fread on a file for each stride", several::open),
    alone("buffered", BOTH, "Rust's BufReader and BufWriter", buffered::open),
    alone(
        "mmap",
        BOTH,
        "a mapping: loads and stores for single bytes, copies for blocks",
        |request| mapped::open(request, Advice::Normal),
    ),
    alone("mmap-sum", READ, "a mapping whose bytes are added up, many at a time", mapped::open_sum),
    alone("mmap-sequential", READ, "a mapping with MADV_SEQUENTIAL", |request| {
        mapped::open(request, Advice::Sequential)
    }),
    alone("mmap-random", READ, "a mapping with MADV_RANDOM", |request| {
        mapped::open(request, Advice::Random)
    }),
    alone("mmap-willneed", READ, "a mapping with MADV_WILLNEED", |request| {
        mapped::open(request, Advice::WillNeed)
    }),
    alone("mmap-populate-read", READ, "a mapping with MADV_POPULATE_READ", |request| {
        mapped::open(request, Advice::PopulateRead)
    }),
    alone("mmap-populate", READ, "a mapping with MAP_POPULATE", |request| {
        mapped::open(request, Advice::Populate)
    }),
    queued("pool", BOTH, "pread and pwrite in four threads, as libuv does", |request| {
        pool::open(request, false)
    }),
    queued("pool-direct", BOTH, "the same with O_DIRECT", |request| pool::open(request, true)),
    queued("io_uring", BOTH, "io_uring, where every operation names file and memory", |request| {
        ring::open(request, PLAIN)
    }),
    queued("io_uring-registered", BOTH, "io_uring with registered file and memory", |request| {
        ring::open(request, REGISTERED)
    }),
    queued(
        "io_uring-sqpoll",
        BOTH,
        "io_uring-registered, where a thread of the kernel polls for submissions",
        |request| ring::open(request, POLLED),
    ),
    queued("io_uring-direct", BOTH, "io_uring with O_DIRECT", |request| {
        ring::open(request, PLAIN.past_cache())
    }),
    queued("io_uring-registered-direct", BOTH, "io_uring-registered with O_DIRECT", |request| {
        ring::open(request, REGISTERED.past_cache())
    }),
    queued("io_uring-sqpoll-direct", BOTH, "io_uring-sqpoll with O_DIRECT", |request| {
        ring::open(request, POLLED.past_cache())
    }),
    alone(
        "option-driven",
        BOTH,
        "read and write in a loop that looks at its options for every operation",
        |request| option_driven::open(request, Means::Calls),
    ),
    alone(
        "option-driven-stdio",
        BOTH,
        "fread and fwrite in a loop that looks at its options for every operation",
        |request| option_driven::open(request, Means::Streams),
    ),
    alone(
        "option-driven-mmap",
        READ,
        "copies out of a mapping in a loop that looks at its options for every operation",
        |request| option_driven::open(request, Means::Mapping),
    ),
];

/// Makes the row of a path with one operation in flight.
const fn alone(
    name: &'static str,
    directions: &'static [Direction],
    about: &'static str,
    opener: Opener,
) -> Row {
    Row { name, about, directions, depth_max: 1, opener }
}

/// Makes the row of a path with many operations in flight.
const fn queued(
    name: &'static str,
    directions: &'static [Direction],
    about: &'static str,
    opener: Opener,
) -> Row {
    Row { name, about, directions, depth_max: DEPTH_MAX, opener }
}

/// Opens the file of a request for the pattern's direction.
pub(super) fn open_file(request: &Request<'_>) -> Result<File, Error> {
    let mut options = File::options();
    match request.pattern.direction {
        Read => options.read(true),
        Write => options.write(true),
    };
    Ok(options.open(request.file)?)
}
