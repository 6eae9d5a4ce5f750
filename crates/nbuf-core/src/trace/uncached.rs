//! Files that a command used without the page cache of files, and the words for them in reports.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Files of one kind that are named one by one.
const NAMED_MAX: usize = 3;

/// How a file is used without the page cache of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detour {
    /// Past it, with `O_DIRECT`.
    Direct,
    /// The file is in memory itself: tmpfs, ramfs.
    Memory,
}

/// A file that was used without the page cache of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncached {
    /// Its name, as in [`super::Trace::files`].
    pub file: String,
    /// How.
    pub detour: Detour,
    /// Calls that went past the cache, or opens of a file in memory.
    pub calls: u64,
    /// What these calls moved, 0 where that is not known; or the size of a file in memory.
    pub bytes: Bytes,
}

/// A file that was used without the page cache, or several of one kind together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detoured {
    /// How.
    pub detour: Detour,
    /// The name of the one file; none where they are summed up.
    pub file: Option<String>,
    /// How many files.
    pub files: usize,
    /// Calls that went past the cache, or opens of files in memory.
    pub calls: u64,
    /// What these calls moved, or the sizes of files in memory.
    pub bytes: Bytes,
}

/// The largest of these files by name, the others summed up.
pub fn summed(uncached: &[Uncached]) -> Vec<Detoured> {
    [Detour::Direct, Detour::Memory]
        .into_iter()
        .flat_map(|detour| summed_of(uncached, detour))
        .collect()
}

fn summed_of(uncached: &[Uncached], detour: Detour) -> Vec<Detoured> {
    let mut files: Vec<&Uncached> = uncached.iter().filter(|file| file.detour == detour).collect();
    files.sort_by_key(|file| (std::cmp::Reverse((file.bytes, file.calls)), &file.file));
    let (named, others) = files.split_at(files.len().min(NAMED_MAX));
    let one = |of: &&Uncached| {
        let Uncached { calls, bytes, .. } = **of;
        Detoured { detour, file: Some(of.file.clone()), files: 1, calls, bytes }
    };
    let mut summed: Vec<Detoured> = named.iter().map(one).collect();
    if !others.is_empty() {
        let calls = others.iter().map(|of| of.calls).sum();
        let bytes = others.iter().fold(Bytes(0), |sum, of| sum + of.bytes);
        summed.push(Detoured { detour, file: None, files: others.len(), calls, bytes });
    }
    summed
}

impl Display for Detoured {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { detour, file, files, calls, bytes } = self;
        let moved = moved(*calls, *bytes);
        match (detour, file) {
            (Detour::Direct, Some(file)) => write!(
                f,
                "{moved} of {file} went past the page cache (O_DIRECT): no size of the cache changes that"
            ),
            (Detour::Direct, None) => {
                write!(f, "{moved} of {files} other files went past the page cache, too")
            }
            (Detour::Memory, Some(file)) => {
                write!(f, "{file} ({bytes}) is on tmpfs: counted as memory, not as cache")
            }
            (Detour::Memory, None) => write!(f, "so are {files} other files ({bytes})"),
        }
    }
}

fn moved(calls: u64, bytes: Bytes) -> String {
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    if bytes == Bytes(0) { calls } else { format!("{bytes} in {calls}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, detour: Detour, calls: u64, bytes: u64) -> Uncached {
        Uncached { file: name.into(), detour, calls, bytes: Bytes(bytes) }
    }

    fn words(uncached: &[Uncached]) -> Vec<String> {
        summed(uncached).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_largest_are_named_and_the_others_counted() {
        let direct = |name, mib: u64| file(name, Detour::Direct, mib, mib << 20);
        let all = [
            direct("/a", 1),
            direct("/b", 5),
            direct("/c", 4),
            direct("/d", 2),
            direct("/e", 3),
            file("/dev/shm/x", Detour::Memory, 1, 4096),
        ];
        let past = "went past the page cache (O_DIRECT): no size of the cache changes that";
        assert_eq!(
            words(&all),
            [
                format!("5.00 MiB in 5 calls of /b {past}"),
                format!("4.00 MiB in 4 calls of /c {past}"),
                format!("3.00 MiB in 3 calls of /e {past}"),
                "3.00 MiB in 3 calls of 2 other files went past the page cache, too".into(),
                "/dev/shm/x (4.00 KiB) is on tmpfs: counted as memory, not as cache".into(),
            ]
        );
        let unknown = words(&[file("/a", Detour::Direct, 1, 0)]);
        assert_eq!(unknown, [format!("1 call of /a {past}")]);
        assert!(words(&[]).is_empty());
    }
}
