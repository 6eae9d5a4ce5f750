//! Where a file has holes, looked for by a thread of its own: a file system may keep a look waiting while it writes.
//!
//! A hole reads as zeros. What is unknown counts as data: a device, and a file system without `SEEK_HOLE`. What was
//! in the file when a look began is never reported as a hole, unless something else made it one.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Bytes of a file to look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Comes back with the answer.
    pub(crate) task: u32,
    /// The first.
    pub(crate) from: u64,
    /// The one behind the last.
    pub(crate) to: u64,
    /// The most extents of the answer, which is shorter then.
    pub(crate) most: usize,
}

/// Flags of an extent that is a hole and reads as zeros, as NBD has them.
pub(crate) const HOLE: u32 = 3;
/// Flags of data.
pub(crate) const DATA: u32 = 0;

/// An answer: lengths from the first byte on, and flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The look.
    pub(crate) task: u32,
    /// None is empty.
    pub(crate) extents: Vec<(u64, u32)>,
}

/// The looks at a file.
#[derive(Debug)]
pub(crate) struct Holes {
    asks: Option<Sender<Look>>,
    found: Receiver<Found>,
    thread: Option<JoinHandle<()>>,
}

impl Holes {
    /// Looks for holes in this file. The thread writes to `wake`, an eventfd, for each answer.
    pub(crate) fn new(file: File, wake: OwnedFd) -> io::Result<Self> {
        let (asks, looks) = channel::<Look>();
        let (tell, found) = channel();
        let work = move || {
            for Look { task, from, to, most } in looks {
                let extents = extents(&file, from, to, most);
                if tell.send(Found { task, extents }).is_err() {
                    return;
                }
                let _ = rustix::io::write(&wake, &1_u64.to_ne_bytes());
            }
        };
        let thread = std::thread::Builder::new().name("holes".to_owned()).spawn(work)?;
        Ok(Self { asks: Some(asks), found, thread: Some(thread) })
    }

    /// Asks for a look.
    pub(crate) fn ask(&self, look: Look) {
        if let Some(asks) = &self.asks {
            let _ = asks.send(look);
        }
    }

    /// The next answer that is there.
    pub(crate) fn next(&self) -> Option<Found> {
        self.found.try_recv().ok()
    }
}

impl Drop for Holes {
    fn drop(&mut self) {
        self.asks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The extents between two bytes: as many as asked for at the most, and at least one.
fn extents(file: &File, from: u64, to: u64, most: usize) -> Vec<(u64, u32)> {
    let mut extents: Vec<(u64, u32)> = Vec::new();
    let mut at = from;
    let mut is_hole = false;
    while at < to && extents.len() < most.max(1) {
        let next = if is_hole { SeekFrom::Data(at) } else { SeekFrom::Hole(at) };
        let end = match seek(file, next) {
            Ok(end) => end.clamp(at, to),
            // Behind the last data is a hole up to the end of the file.
            Err(Errno::NXIO) if is_hole => to,
            // Also where the file ends before: reads there fail, which a hole would hide.
            Err(_) => {
                extents.push((to - at, DATA));
                return extents;
            }
        };
        if end > at {
            extents.push((end - at, if is_hole { HOLE } else { DATA }));
            at = end;
        }
        is_hole = !is_hole;
    }
    extents
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use rustix::fs::{FallocateFlags, fallocate};

    use super::*;
    use crate::clock::Random;

    const BLOCK: u64 = 4096;
    const BLOCKS: u64 = 64;

    /// Against a map of the blocks that were written.
    #[test]
    fn what_was_written_is_data_and_holes_are_zeros() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.set_len(BLOCKS * BLOCK).unwrap();
        let mut random = Random::new(3);
        let mut is_data = vec![false; usize::try_from(BLOCKS).unwrap()];
        for round in 0..400 {
            let block = random.below(BLOCKS);
            let index = usize::try_from(block).unwrap();
            let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            if random.below(3) == 0 {
                if fallocate(&file, punch, block * BLOCK, BLOCK).is_err() {
                    return; // a file system without holes
                }
                is_data[index] = false;
            } else {
                file.write_all_at(&[7; 512], block * BLOCK + 512).unwrap();
                is_data[index] = true;
            }
            let from = random.below(BLOCKS * BLOCK - 1);
            let to = from + 1 + random.below(BLOCKS * BLOCK - from);
            let most = 1 + usize::try_from(random.below(8)).unwrap();
            let found = extents(&file, from, to.min(BLOCKS * BLOCK), most);
            assert!(!found.is_empty() && found.len() <= most);
            assert!(
                found.windows(2).all(|pair| pair[0].1 != pair[1].1),
                "round {round}: {found:?}"
            );
            let mut at = from;
            for (length, flags) in found {
                assert!(length > 0);
                for byte in [at, at + length / 2, at + length - 1] {
                    let block = usize::try_from(byte / BLOCK).unwrap();
                    assert_eq!(is_data[block], flags == DATA, "round {round}: byte {byte}");
                }
                at += length;
            }
            assert!(at <= to);
        }
    }

    #[test]
    fn what_is_unknown_is_data() {
        let pipe = rustix::pipe::pipe().unwrap().0;
        assert_eq!(extents(&File::from(pipe), 5, 105, 9), [(100, DATA)]);
        let short = tempfile::tempfile().unwrap();
        assert_eq!(extents(&short, 0, 4096, 9), [(4096, DATA)]);
    }

    #[test]
    fn answers_come_in_order_and_wake() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let wake = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        let holes = Holes::new(file, wake.try_clone().unwrap()).unwrap();
        for task in 0..3 {
            holes.ask(Look { task, from: 0, to: 1 << 20, most: 4 });
        }
        for task in 0..3 {
            let found = loop {
                match holes.next() {
                    Some(found) => break found,
                    None => rustix::io::read(&wake, &mut [0; 8]).map(drop).unwrap(),
                }
            };
            assert_eq!(found.task, task);
        }
    }
}
