//! How a process reads the files that it has open, where it gave advice before anybody looked.
//!
//! The kernel keeps advice with the open file and shows it nowhere: `POSIX_FADV_RANDOM` is a bit of its mode, and
//! `POSIX_FADV_SEQUENTIAL` doubles its window (`generic_fadvise` in `mm/fadvise.c`). Both are read from the kernel's
//! memory. A window that is neither the disc's nor twice that means that the disc's was changed since; it is left
//! out. So is an overlay's file, whose layer has an open file of its own. Cost: four reads of memory for 256 files.

use std::collections::BTreeSet;
use std::io;

use super::super::btf::Btf;
use super::super::names::Key;
use super::memory::{KernelMemory, half};
use super::tables::{Memory, Table};

/// Structures whose members are read.
pub(super) const STRUCTURES: [&str; 7] = [
    "files_struct",
    "fdtable",
    "file",
    "file_ra_state",
    "inode",
    "super_block",
    "backing_dev_info",
];
/// More descriptors of a process are not looked at.
const FILES_MAX: usize = 1 << 14;
/// A bit of the mode of an open file (`FMODE_RANDOM`).
const RANDOM: u32 = 1 << 12;

/// Where members are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets {
    files: u64,
    table: u64,
    count: u64,
    array: u64,
    mode: u64,
    window: u64,
    inode: u64,
    number: u64,
    system: u64,
    device: u64,
    backing: u64,
    backing_window: u64,
}

impl Offsets {
    pub(super) fn of(btf: &Btf<'_>) -> Option<Self> {
        let window = btf.offset("file", "f_ra")? + btf.offset("file_ra_state", "ra_pages")?;
        Some(Self {
            files: btf.offset("task_struct", "files")?,
            table: btf.offset("files_struct", "fdt")?,
            count: btf.offset("fdtable", "max_fds")?,
            array: btf.offset("fdtable", "fd")?,
            mode: btf.offset("file", "f_mode")?,
            window,
            inode: btf.offset("file", "f_inode")?,
            number: btf.offset("inode", "i_ino")?,
            system: btf.offset("inode", "i_sb")?,
            device: btf.offset("super_block", "s_dev")?,
            backing: btf.offset("super_block", "s_bdi")?,
            backing_window: btf.offset("backing_dev_info", "ra_pages")?,
        })
    }
}

/// The kernel's number of the advice that an open file shows.
fn advice(mode: u32, window: u32, device_window: u64) -> Option<u64> {
    if mode & RANDOM != 0 {
        return Some(1);
    }
    (device_window > 0 && u64::from(window) == 2 * device_window).then_some(2)
}

/// The word at this many bytes from what was copied; members are aligned.
pub(super) fn word(table: &Table, offset: u64) -> u64 {
    let at = usize::try_from(offset / 8).unwrap_or(usize::MAX);
    table.get(at).copied().unwrap_or(0)
}

/// The same of four bytes.
pub(super) fn small(table: &Table, offset: u64) -> u32 {
    half(word(table, offset) >> (offset % 8 * 8))
}

/// The open files of a process: inode, mode and window of each.
fn open_files(
    memory: &mut KernelMemory,
    process: u32,
    offsets: &Offsets,
) -> io::Result<Vec<(u64, u32, u32)>> {
    let Some(task) = memory.task(process)? else { return Ok(Vec::new()) };
    let [files] = memory.words([task + offsets.files])?;
    let [table] = memory.words([files + offsets.table])?;
    let [count, array] = memory.words([table + offsets.count, table + offsets.array])?;
    let count = usize::try_from(half(count)).unwrap_or(0).min(FILES_MAX);
    let parts: Vec<u64> = (0..count as u64).step_by(512).map(|first| array + first * 8).collect();
    let mut open = Vec::new();
    memory.tables(&parts, &mut |part, words| {
        let left = count - (part * 512).min(count);
        open.extend(words.iter().take(left).copied().filter(|&file| file != 0));
    })?;
    let mut seen = Vec::new();
    memory.tables(&open, &mut |_, file| {
        let inode = word(file, offsets.inode);
        seen.push((inode, small(file, offsets.mode), small(file, offsets.window)));
    })?;
    seen.retain(|&(inode, ..)| inode != 0);
    Ok(seen)
}

/// The inodes of the open files of a process: the file, and where the inode is.
pub(super) fn inodes(memory: &mut KernelMemory, process: u32) -> io::Result<Vec<(Key, u64)>> {
    let Some(offsets) = memory.files() else { return Ok(Vec::new()) };
    let open = open_files(memory, process, &offsets)?;
    let inodes: BTreeSet<u64> = open.into_iter().map(|(inode, ..)| inode).collect();
    let inodes: Vec<u64> = inodes.into_iter().collect();
    let (mut numbers, mut systems) = (Vec::new(), Vec::new());
    memory.tables(&inodes, &mut |_, inode| {
        numbers.push(word(inode, offsets.number));
        systems.push(word(inode, offsets.system));
    })?;
    let mut devices = Vec::new();
    memory.tables(&systems, &mut |_, system| devices.push(small(system, offsets.device)))?;
    let keys = devices.into_iter().zip(numbers);
    Ok(keys.zip(inodes).collect())
}

/// The advice that was given of each open file of a process.
pub(super) fn advised(memory: &mut KernelMemory, process: u32) -> io::Result<Vec<(Key, u64)>> {
    let Some(offsets) = memory.files() else { return Ok(Vec::new()) };
    let seen = open_files(memory, process, &offsets)?;
    let inodes: Vec<u64> = seen.iter().map(|&(inode, ..)| inode).collect();
    let mut systems = Vec::new();
    memory.tables(&inodes, &mut |_, inode| {
        systems.push((word(inode, offsets.number), word(inode, offsets.system)));
    })?;
    let all: BTreeSet<u64> = systems.iter().map(|&(_, system)| system).collect();
    let all: Vec<u64> = all.into_iter().collect();
    let mut devices = Vec::new();
    memory.tables(&all, &mut |_, system| {
        devices.push((small(system, offsets.device), word(system, offsets.backing)));
    })?;
    let backings: Vec<u64> = devices.iter().map(|&(_, backing)| backing).collect();
    let mut windows = Vec::new();
    memory
        .tables(&backings, &mut |_, backing| windows.push(word(backing, offsets.backing_window)))?;
    let found = seen.iter().zip(&systems).filter_map(|(&(_, mode, window), &(number, system))| {
        let at = all.binary_search(&system).ok()?;
        let advice = advice(mode, window, *windows.get(at)?)?;
        Some(((devices.get(at)?.0, number), advice))
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{Advice, fadvise};

    use super::*;

    #[test]
    fn advice_of_our_own_files_is_found_in_the_kernel() {
        // Without the rights there is nothing to see; `nbuf doctor` says so.
        let Ok(mut memory) = KernelMemory::open() else { return };
        let folder = std::env::temp_dir();
        let ways = [Some(Advice::Random), Some(Advice::Sequential), None, Some(Advice::Normal)];
        let files: Vec<File> = ways
            .iter()
            .enumerate()
            .map(|(at, way)| {
                let path = folder.join(format!("nbuf-opened-{}-{at}", std::process::id()));
                let file = File::create_new(&path).unwrap();
                std::fs::remove_file(&path).unwrap();
                if let Some(way) = way {
                    fadvise(&file, 0, None, *way).unwrap();
                }
                file
            })
            .collect();
        let found = advised(&mut memory, std::process::id()).unwrap();
        let got: Vec<Option<u64>> = files
            .iter()
            .map(|file| {
                let inode = file.metadata().unwrap().ino();
                found.iter().find(|((_, number), _)| *number == inode).map(|&(_, advice)| advice)
            })
            .collect();
        assert_eq!(got, [Some(1), Some(2), None, None], "{found:?}");
        assert_eq!(advised(&mut memory, u32::MAX).unwrap(), []);
    }

    #[test]
    fn a_window_that_is_the_discs_is_no_advice() {
        assert_eq!(advice(0, 32, 32), None);
        assert_eq!(advice(RANDOM, 32, 32), Some(1));
        assert_eq!(advice(0, 64, 32), Some(2));
        assert_eq!(advice(0, 2048, 32), None);
        assert_eq!(advice(0, 0, 0), None);
    }
}
