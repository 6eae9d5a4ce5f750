//! From what is known of an opened file to what may be known of it later.

use std::collections::HashMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};

use super::Key;
use super::clues::Clue;
use crate::sys::handle::FileHandle;
use crate::workload::record::key::mount_of;
use crate::workload::record::listeners::{OpenSeen, What};
use crate::workload::record::overlay::Overlays;
use crate::workload::record::roots::{Roots, superblock_of};
use crate::workload::record::writes::FdInfo;

/// Files of overlays that are remembered, to see at the end what stands behind them.
const OVERLAID_MAX: usize = 100_000;

/// What is known of a file, and by what tracepoints know it.
pub(super) fn clue(
    roots: &mut Roots<'_>,
    overlays: &mut Overlays,
    opened: OpenSeen,
) -> Option<(Key, Clue)> {
    let process = opened.process;
    match opened.what {
        What::Handle { device, inode, file, place } => {
            let opened = inode.is_none() || overlays.has_device(device);
            let seen = if opened { roots.look(device, &file, place.as_ref(), true) } else { None };
            let inode = inode.or_else(|| Some(seen.as_ref()?.file?.0))?;
            let seen = seen.filter(|_| overlays.has_device(device));
            let clue = Clue { process, file: Some(file), place, seen };
            Some(((device, inode), clue))
        }
        What::File(file) => {
            let mut look = roots.look_at(&file)?;
            // A subvolume of btrfs has a device number of its own, which tracepoints do not use.
            let device = superblock_of(&file)?;
            if !overlays.is_empty()
                && mount_of(file.as_fd()).is_some_and(|mount| !overlays.reaches(mount))
            {
                // The path of a file of an overlay's layer does not lead to it.
                look.path = None;
            }
            let file = FileHandle::of_file(file.as_fd()).ok();
            let key = (device, look.file?.0);
            Some((key, Clue { process, file, place: None, seen: Some(look) }))
        }
    }
}

/// The file of a layer that stands behind a file of an overlay, by the name of the latter.
pub(super) fn overlaid_by(
    overlays: &Overlays,
    overlaid: &mut HashMap<(u32, Vec<u8>), u64>,
    (device, _): Key,
    clue: &Clue,
) -> Option<(Key, Clue)> {
    let seen = clue.seen.clone().filter(|_| overlays.has_device(device))?;
    let path = seen.path.as_ref()?;
    let key = overlays.behind(device, path)?;
    if overlaid.len() < OVERLAID_MAX {
        let bytes = seen.file.map_or(0, |(_, bytes)| bytes);
        overlaid.insert((device, path.clone()), bytes);
    }
    Some((key, Clue { process: clue.process, seen: Some(seen), ..Clue::default() }))
}

/// The descriptors that are looked at of a process.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload::record) enum Open<'a> {
    /// Those that it keeps when it executes: the ones given to it, and those without `O_CLOEXEC`.
    Kept(&'a [i32]),
    /// All of them.
    All,
}

/// Files that a process has open.
///
/// With the capabilities of a file instead of root's, a child that has not executed yet is closed to
/// us; what it inherited is open here too.
pub(in crate::workload::record) fn open_files(pid: i32, which: Open<'_>) -> Vec<(i32, OwnedFd)> {
    let theirs = format!("/proc/{pid}");
    let places = match which {
        Open::Kept(_) => vec![theirs.as_str(), "/proc/self"],
        Open::All => vec![theirs.as_str()],
    };
    let found = places.into_iter().find_map(|process| {
        Some((process.to_owned(), fs::read_dir(format!("{process}/fd")).ok()?))
    });
    let Some((process, entries)) = found else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let chosen = numbers.filter(|number: &i32| {
        let Open::Kept(given) = which else { return true };
        let info = fs::read_to_string(format!("{process}/fdinfo/{number}"));
        let info = info.ok().and_then(|text| FdInfo::parse(&text));
        given.contains(number) || info.is_some_and(|info| !info.has(libc::O_CLOEXEC))
    });
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let open = |number| {
        let path = format!("{process}/fd/{number}");
        Some((number, rustix::fs::open(path, flags, Mode::empty()).ok()?))
    };
    chosen.filter_map(open).collect()
}
