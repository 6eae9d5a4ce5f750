//! A pattern as a person writes it: `512 B, stride 1 MiB, hot`. What a trace shows is in
//! [`super::pattern_trace`].

mod parts;

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use parts::{Parts, Way};
use serde::{Deserialize, Serialize};

use super::table::{Layout, Test, is_direct, modern};
use crate::experiment::result::State;
use crate::units::{Bytes, Size, whole};

/// What is asked about. In a file it is its text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AccessPattern {
    /// Bytes of an operation.
    pub block_bytes: u64,
    /// Which blocks.
    pub layout: Layout,
    /// Whether they are written.
    pub is_write: bool,
    /// What the file is like.
    pub state: State,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of it that are touched, each block once.
    pub touched_bytes: u64,
    /// The same as a share of any file, from 0 to 100; without, it is these bytes of any file.
    pub touched_percent: Option<f64>,
    /// Operations under way at a time.
    pub depth: u32,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// A part that was not understood.
    #[error(
        "`{0}` is no part of a pattern: write parts with commas, such as 4KiB, random, cold, file 1GiB; \
         the parts are SIZE, `stride SIZE`, `random`, `sequential`, `read`, `write`, `append`, `hot`, \
         `cold`, `file SIZE`, `touches SIZE`, `touches N%` and `depth N`"
    )]
    Part(String),
    /// More than one call moves.
    #[error("a block of {0} is too large for one call; give at most 1 GiB")]
    Block(Bytes),
    /// Nothing would be moved.
    #[error(
        "a block of {block} does not fit into a file of {file}; say how large yours is: file SIZE"
    )]
    File {
        /// A block.
        block: Bytes,
        /// The file.
        file: Bytes,
    },
    /// Blocks share bytes, of which a device is asked once.
    #[error(
        "blocks of {block} overlap at a stride of {stride}; give a stride of at least the block, or `random`"
    )]
    Overlap {
        /// A block.
        block: Bytes,
        /// The stride.
        stride: Bytes,
    },
    /// Writes of a part leave the rest as it was, which is not measured.
    #[error("`touches` is for reads; leave it out, or give the size of what is written: file SIZE")]
    Touches,
    /// More is touched than there is.
    #[error("`touches` is larger than the file of {file}; give less, or a larger file: file SIZE")]
    TouchesMore {
        /// The file.
        file: Bytes,
    },
    /// No share, or more than all.
    #[error("`touches` takes a share above 0 and at most 100 %, or a size; give one: touches 25%")]
    TouchesShare,
    /// Two parts say what one can.
    #[error("`{0}` gives the {1} a second time; leave one out")]
    Twice(String, &'static str),
    /// Not as many.
    #[error("a depth of {0} is out of range; give 1 to 1024")]
    Depth(u32),
}

/// What a call moves at most here.
const BLOCK_BYTES_MAX: u64 = 1 << 30;
/// Operations under way at most.
const DEPTH_MAX: u32 = 1024;

impl FromStr for AccessPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let wrong = |part: &str| PatternError::Part(part.to_owned());
        let mut parts = Parts::default();
        let mut said = Vec::new();
        for part in text.split(',').map(str::trim) {
            let subject = parts.take(part).ok_or_else(|| wrong(part))?;
            if said.contains(&subject) {
                return Err(PatternError::Twice(part.to_owned(), subject));
            }
            said.push(subject);
        }
        let Parts { layout, way, is_cold, file_bytes, touched, depth, .. } = parts;
        let is_write = way != Way::Read;
        let state = match way {
            Way::Read if is_cold => State::Cold,
            Way::Read => State::Hot,
            // There is nothing to find before it is written.
            _ if is_cold => return Err(wrong("cold")),
            Way::Append => State::Append,
            Way::Write => State::Overwrite,
        };
        let block_bytes = parts.block.ok_or_else(|| wrong(text))?;
        let (touched_bytes, touched_percent) = match touched {
            None => (file_bytes, Some(100.0)),
            Some(_) if is_write => return Err(PatternError::Touches),
            Some(Size::Absolute(Bytes(0))) => return Err(PatternError::TouchesShare),
            Some(Size::Absolute(Bytes(bytes))) => (bytes, None),
            Some(Size::Percent(percent)) if percent > 0.0 && percent <= 100.0 => {
                (share(file_bytes, percent), Some(percent))
            }
            Some(Size::Percent(_)) => return Err(PatternError::TouchesShare),
        };
        let pattern = Self {
            block_bytes,
            layout,
            is_write,
            state,
            file_bytes,
            touched_bytes,
            touched_percent,
            depth,
        };
        pattern.check()?;
        // Without a size here, the file may be the caller's.
        if said.contains(&"file") { pattern.on(file_bytes) } else { Ok(pattern) }
    }
}

/// All of it, as it is read.
impl Display for AccessPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.block_bytes)?;
        match self.layout {
            Layout::Strided(bytes) => write!(f, "stride {bytes}")?,
            layout => f.write_str(layout.name())?,
        }
        f.write_str(match self.state {
            State::Append => ", append",
            _ if self.is_write => ", write",
            State::Cold => ", cold",
            _ => "",
        })?;
        write!(f, ", file {}", self.file_bytes)?;
        match self.touched_percent {
            _ if self.is_write => {}
            Some(percent) => write!(f, ", touches {percent}%")?,
            None => write!(f, ", touches {}", self.touched_bytes)?,
        }
        write!(f, ", depth {}", self.depth)
    }
}

impl TryFrom<String> for AccessPattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

/// A share of a file, a byte at least.
fn share(file_bytes: u64, percent: f64) -> u64 {
    whole(file_bytes as f64 * percent / 100.0).clamp(1, file_bytes.max(1))
}

impl From<AccessPattern> for String {
    fn from(pattern: AccessPattern) -> Self {
        pattern.to_string()
    }
}

impl AccessPattern {
    fn check(&self) -> Result<(), PatternError> {
        let block = Bytes(self.block_bytes);
        match () {
            () if block.0 > BLOCK_BYTES_MAX => Err(PatternError::Block(block)),
            () if self.stride() < block => {
                Err(PatternError::Overlap { block, stride: self.stride() })
            }
            () if !(1..=DEPTH_MAX).contains(&self.depth) => Err(PatternError::Depth(self.depth)),
            () => Ok(()),
        }
    }

    /// From one block to the next; of a random order a block.
    fn stride(&self) -> Bytes {
        match self.layout {
            Layout::Strided(bytes) => Bytes(bytes),
            Layout::Sequential | Layout::Random => Bytes(self.block_bytes),
        }
    }

    /// The same on a file of this size.
    ///
    /// # Errors
    /// If a block does not fit into it, or it has less than is touched.
    pub fn on(self, file_bytes: u64) -> Result<Self, PatternError> {
        let (block, file) = (Bytes(self.block_bytes), Bytes(file_bytes));
        if block > file {
            return Err(PatternError::File { block, file });
        }
        let part = self.touched_percent.map(|percent| share(file_bytes, percent));
        let touched_bytes = part.unwrap_or(self.touched_bytes);
        if touched_bytes > file_bytes {
            return Err(PatternError::TouchesMore { file });
        }
        Ok(Self { file_bytes, touched_bytes, ..self })
    }

    /// The test that does it by this path, with as many operations under way as it has.
    pub fn test(&self, path: &'static str, block_bytes: u64) -> Test {
        let state = if is_direct(path) { State::Device } else { self.state };
        let depth_max = crate::path::row(path).map_or(1, |row| row.depth_max);
        let depth = if self.depth <= depth_max { self.depth } else { 1 };
        let test = modern(path, self.is_write, (self.layout, block_bytes), state, depth);
        let is_part = self.touched_bytes < self.file_bytes;
        let touched_bytes = if is_part { self.touched_bytes } else { 0 };
        Test { size_bytes: self.file_bytes, touched_bytes, ..test }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::COURSE_BYTES;
    use super::*;

    #[test]
    fn the_file_the_share_and_the_depth_are_parts_of_it() {
        let pattern = |text: &str| -> AccessPattern { text.parse().unwrap() };
        let plain = pattern("4KiB, random, cold");
        assert_eq!((plain.file_bytes, plain.touched_bytes), (COURSE_BYTES, COURSE_BYTES));
        let part = pattern("4KiB, random, cold, file 1GiB, touches 4MiB, depth 8");
        assert_eq!((part.file_bytes, part.touched_bytes, part.depth), (1 << 30, 4 << 20, 8));
        assert_eq!(pattern("4KiB, file 1GiB, touches 25%").touched_bytes, 1 << 28);
        assert_eq!(plain.on(1 << 30).unwrap().touched_bytes, 1 << 30);
        assert_eq!(part.on(1 << 24).unwrap().touched_bytes, 4 << 20);
        let share = pattern("4KiB, touches 25%").on(1 << 20);
        assert_eq!(share.unwrap().touched_bytes, 1 << 18);
        // What the file of the course does not have, another may.
        let much = pattern("4KiB, touches 20MiB");
        assert_eq!(much.on(64 << 20).unwrap().touched_bytes, 20 << 20);
        let block = pattern("16MiB, sequential");
        assert!(block.on(64 << 20).is_ok());
        for (pattern, want) in
            [(much, "`touches` is larger"), (block, "a block of 16.0 MiB does not")]
        {
            assert!(
                pattern.on(COURSE_BYTES).unwrap_err().to_string().starts_with(want),
                "{pattern}"
            );
        }
        let test = part.test("pread", 4096);
        assert_eq!((test.depth, test.task().operations_max), (1, 1024));
        let test = part.test("io_uring", 4096);
        assert_eq!((test.depth, test.size_bytes), (8, 1 << 30));
        assert_eq!(plain.test("pread", 4096).task().operations_max, 0);
    }

    #[test]
    fn patterns_as_people_write_them() {
        let check = |text: &str, want: (u64, Layout, State)| {
            let pattern: AccessPattern = text.parse().unwrap();
            assert_eq!((pattern.block_bytes, pattern.layout, pattern.state), want, "{text}");
            assert_eq!(pattern.to_string().parse(), Ok(pattern), "{pattern}");
            assert_eq!(pattern.is_write, matches!(want.2, State::Append | State::Overwrite));
        };
        let far = Layout::Strided(1 << 20);
        check("512 B, stride 1 MiB, hot", (512, far, State::Hot));
        check("4096, random, cold", (4096, Layout::Random, State::Cold));
        check("1", (1, Layout::Sequential, State::Hot));
        check("append, 4KiB", (4096, Layout::Sequential, State::Append));
        check("64KiB, write", (65536, Layout::Sequential, State::Overwrite));
        for (text, part) in [
            ("", "``"),
            ("hot", "`hot`"),
            ("0, hot", "`0`"),
            ("10 %", "`10 %`"),
            ("1, stride 0", "`stride 0`"),
            ("1, sideways", "`sideways`"),
            ("1, write, cold", "`cold`"),
            ("1, file", "`file`"),
            ("1, depth many", "`depth many`"),
            ("1TiB, random", "a block of 1.00 TiB is too large"),
            (
                "64MiB, random, file 10MiB",
                "a block of 64.0 MiB does not fit into a file of 10.0 MiB",
            ),
            ("4KiB, touches 0", "`touches` takes a share above 0"),
            ("1, write, touches 10%", "`touches` is for reads"),
            ("4KiB, stride 512", "blocks of 4.00 KiB overlap at a stride of 512 B"),
            ("1, depth 0", "a depth of 0"),
            ("4KiB, random, sequential", "`sequential` gives the order a second time"),
            ("4KiB, hot, 512", "`512` gives the block a second time"),
            ("4KiB, touches 150%", "`touches` takes a share above 0 and at most 100 %"),
            ("4KiB, touches 0%", "`touches` takes a share above 0"),
            ("4KiB, file 1MiB, touches 4MiB", "`touches` is larger than the file of 1.00 MiB"),
        ] {
            let error = text.parse::<AccessPattern>().unwrap_err().to_string();
            assert!(error.starts_with(part), "{text}: {error}");
        }
    }
}
