//! Files that a command used without the page cache of files, and how that is told.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Files of one kind that are told one by one.
const TOLD_MAX: usize = 3;

/// How a file is used without the page cache of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detour {
    /// Past it, with `O_DIRECT`.
    Direct,
    /// It lies in memory itself: tmpfs, ramfs.
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

/// What is to be said of these files: the largest by name, the others summed up.
pub fn told(uncached: &[Uncached]) -> Vec<String> {
    [Detour::Direct, Detour::Memory]
        .into_iter()
        .flat_map(|detour| told_of(uncached, detour))
        .collect()
}

fn told_of(uncached: &[Uncached], detour: Detour) -> Vec<String> {
    let mut files: Vec<&Uncached> = uncached.iter().filter(|file| file.detour == detour).collect();
    files.sort_by_key(|file| (std::cmp::Reverse((file.bytes, file.calls)), &file.file));
    let (named, others) = files.split_at(files.len().min(TOLD_MAX));
    let mut told: Vec<String> = named
        .iter()
        .map(|of| match detour {
            Detour::Direct => format!(
                "{} of {} went past the page cache (O_DIRECT): no size of the cache changes that",
                moved(of.calls, of.bytes),
                of.file
            ),
            Detour::Memory => {
                format!("{} ({}) is on tmpfs: counted as memory, not as cache", of.file, of.bytes)
            }
        })
        .collect();
    if !others.is_empty() {
        let calls = others.iter().map(|of| of.calls).sum();
        let bytes = others.iter().fold(Bytes(0), |sum, of| sum + of.bytes);
        told.push(match (detour, others.len()) {
            (Detour::Direct, count) => format!(
                "{} of {count} other files went past the page cache, too",
                moved(calls, bytes)
            ),
            (Detour::Memory, count) => format!("so are {count} other files ({bytes})"),
        });
    }
    told
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
            told(&all),
            [
                format!("5.00 MiB in 5 calls of /b {past}"),
                format!("4.00 MiB in 4 calls of /c {past}"),
                format!("3.00 MiB in 3 calls of /e {past}"),
                "3.00 MiB in 3 calls of 2 other files went past the page cache, too".into(),
                "/dev/shm/x (4.00 KiB) is on tmpfs: counted as memory, not as cache".into(),
            ]
        );
        let unknown = told(&[file("/a", Detour::Direct, 1, 0)]);
        assert_eq!(unknown, [format!("1 call of /a {past}")]);
        assert!(told(&[]).is_empty());
    }
}
