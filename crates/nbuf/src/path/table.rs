//! The table of all paths.

use std::fs::File;

use super::pattern::Direction::{self, Read, Write};
use super::{Error, Path, Request, call, null, standard};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it is called everywhere.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// What it can do.
    pub directions: &'static [Direction],
    /// The most operations it has under way.
    pub depth_max: u32,
    /// Makes it, of a request that is in order.
    opener: Opener,
}

/// What opens a path.
type Opener = fn(&Request<'_>) -> Result<Box<dyn Path>, Error>;

impl Row {
    /// Opens it. The error says what the machine or the file refuses.
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

/// The row of this name.
pub fn row(name: &str) -> Option<&'static Row> {
    PATHS.iter().find(|row| row.name == name)
}

use super::Pattern;

/// More than this in one call would be memory that nobody expects.
const BLOCK_BYTES_MAX: usize = 1 << 30;

const BOTH: &[Direction] = &[Read, Write];

/// All of them, from the plainest on.
pub const PATHS: &[Row] = &[
    Row {
        name: "null",
        about: "nothing but the loop, which measures the meter itself",
        directions: BOTH,
        depth_max: 1,
        opener: null::open,
    },
    Row {
        name: "read",
        about: "read and write, with an lseek before each where the order is not sequential",
        directions: BOTH,
        depth_max: 1,
        opener: call::open_read,
    },
    Row {
        name: "pread",
        about: "pread and pwrite",
        directions: BOTH,
        depth_max: 1,
        opener: call::open_pread,
    },
    Row {
        name: "stdio",
        about: "fgetc and fputc for single bytes, fread and fwrite for blocks, fseek for strides",
        directions: BOTH,
        depth_max: 1,
        opener: standard::open_plain,
    },
    Row {
        name: "stdio-unlocked",
        about: "getc_unlocked and putc_unlocked, fread_unlocked and fwrite_unlocked for blocks",
        directions: BOTH,
        depth_max: 1,
        opener: standard::open_unlocked,
    },
    Row {
        name: "stdio-fread",
        about: "fread and fwrite, for single bytes too",
        directions: BOTH,
        depth_max: 1,
        opener: standard::open_blocks,
    },
];

/// Opens the file of a request for what its pattern does.
pub(super) fn open_file(request: &Request<'_>) -> Result<File, Error> {
    let mut options = File::options();
    match request.pattern.direction {
        Read => options.read(true),
        Write => options.write(true),
    };
    Ok(options.open(request.file)?)
}
