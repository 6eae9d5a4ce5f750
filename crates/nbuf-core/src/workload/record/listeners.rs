//! On which file systems opens are listened to, and how: by handles, or by open files.
//!
//! Invariant: on a file system with handles, a report that was not taken never holds the file
//! system. Network file systems are not asked for handles, because a server that does not answer
//! would hold us up.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;

use super::mounts::Mount;
use super::roots;
use crate::sys::fanotify::{Listener, Opened, Seen};
use crate::sys::handle::FileHandle;

/// File systems without a block device of their own that make handles by themselves.
const LOCAL: [&str; 4] = ["btrfs", "tmpfs", "overlay", "bcachefs"];

/// Most listeners besides the two that are shared; the kernel has 128 for each user.
const ALONE_MAX: usize = 16;

/// The listeners.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    listener: Listener,
    how: How,
    systems: Vec<System>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Handles of all file systems that have different numbers.
    Handles,
    /// Handles of one file system whose number is not enough, such as the number of a subvolume of
    /// btrfs.
    HandlesOfOne,
    /// Open files.
    Files,
}

/// A file system that is listened to.
#[derive(Debug)]
struct System {
    number: u64,
    device: u32,
    filesystem: String,
}

/// A file was opened.
#[derive(Debug)]
pub(super) struct OpenSeen {
    /// Who opened it.
    pub(super) process: i32,
    /// The file.
    pub(super) what: What,
}

/// What is reported of a file.
#[derive(Debug)]
pub(super) enum What {
    /// The file itself, open.
    File(std::os::fd::OwnedFd),
    /// Its names.
    Handle {
        /// The device it is on.
        device: u32,
        /// Its inode, where the handle says that.
        inode: Option<u64>,
        /// The file.
        file: FileHandle,
        /// The directory it was opened in, and its name there.
        place: Option<(FileHandle, Box<[u8]>)>,
    },
}

impl Listeners {
    /// Listens on these, as far as we may: one that cannot be listened to is no reason to miss the
    /// others.
    pub(super) fn listen(mounts: &[Mount]) -> Self {
        let mut listeners = Self::default();
        for mount in mounts {
            listeners.add(mount);
        }
        listeners
    }

    /// Checks that the files on a mount can be listened to.
    ///
    /// # Errors
    /// What the kernel says of it.
    pub(super) fn probe(mount: &Mount) -> io::Result<()> {
        drop(Listener::for_files()?);
        let mut listeners = Self::default();
        listeners
            .add(mount)
            .ok_or_else(|| io::Error::other("the file system cannot be listened to"))
    }

    fn add(&mut self, mount: &Mount) -> Option<()> {
        let place = roots::place(&mount.point, mount.device)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", place.as_raw_fd()));
        let of =
            |number| System { number, device: mount.device, filesystem: mount.filesystem.clone() };
        if has_handles(mount)
            && let Ok(found) = rustix::fs::fstatvfs(&place)
        {
            let number = found.f_fsid;
            let is_news = |group: &Group| group.systems.iter().all(|one| one.number != number);
            let shared = self.group(How::Handles).filter(|group| is_news(group));
            if let Some(shared) = shared
                && shared.listener.listen_to(&path).is_ok()
            {
                shared.systems.push(of(number));
                return Some(());
            }
            let alone = self.groups.iter().filter(|group| group.how == How::HandlesOfOne).count();
            if alone < ALONE_MAX
                && let Ok(listener) = Listener::for_handles()
                && listener.listen_to(&path).is_ok()
            {
                let systems = vec![of(number)];
                self.groups.push(Group { listener, how: How::HandlesOfOne, systems });
                return Some(());
            }
        }
        let shared = self.group(How::Files)?;
        shared.listener.listen_to(&path).ok()?;
        shared.systems.push(of(0));
        Some(())
    }

    /// The group that several file systems share.
    fn group(&mut self, how: How) -> Option<&mut Group> {
        let at = self.groups.iter().position(|group| group.how == how);
        let at = if let Some(at) = at {
            at
        } else {
            let listener = match how {
                How::Files => Listener::for_files(),
                How::Handles | How::HandlesOfOne => Listener::for_handles(),
            };
            self.groups.push(Group { listener: listener.ok()?, how, systems: Vec::new() });
            self.groups.len() - 1
        };
        self.groups.get_mut(at)
    }

    /// What to wait for.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.groups.iter().map(|group| group.listener.descriptor().as_fd())
    }

    /// Hands on what was opened since the last time.
    pub(super) fn drain(&mut self, mut each: impl FnMut(OpenSeen)) -> io::Result<Seen> {
        let mut all = Seen::default();
        for Group { listener, how, systems } in &mut self.groups {
            let seen = listener.drain(|opened, process| {
                let what = match opened {
                    Opened::File(file) => What::File(file),
                    Opened::Handle(called) => {
                        let is_it = |system: &&System| {
                            *how == How::HandlesOfOne || system.number == called.filesystem
                        };
                        let Some(system) = systems.iter().find(is_it) else { return };
                        let inode = inode(&system.filesystem, &called.file);
                        let (file, place) = (called.file, called.place);
                        What::Handle { device: system.device, inode, file, place }
                    }
                };
                each(OpenSeen { process, what });
            })?;
            all.files += seen.files;
            all.overflowed |= seen.overflowed;
        }
        Ok(all)
    }
}

/// Whether a file system may be asked for handles.
fn has_handles(mount: &Mount) -> bool {
    let system = mount.filesystem.as_str();
    let has_disc = mount.device >> 20 != 0 && !system.starts_with("fuse");
    has_disc || LOCAL.contains(&system)
}

/// The inode that a handle is of, where it is known how that file system makes them.
fn inode(filesystem: &str, handle: &FileHandle) -> Option<u64> {
    match (filesystem, handle.kind()) {
        // `FILEID_INO32_GEN`, alone and with the directory.
        ("ext2" | "ext3" | "ext4" | "f2fs" | "xfs", 1 | 2) => handle.word(0).map(u64::from),
        // The same in 64 bits (`fs/xfs/xfs_export.h`), and `FILEID_BTRFS_WITHOUT_PARENT` and its kin.
        ("xfs", 0x81 | 0x82) | ("btrfs", 0x4d..=0x4f) => handle.long(),
        // The generation comes first (`mm/shmem.c`, `shmem_encode_fh`).
        ("tmpfs", 1) => Some(u64::from(handle.word(1)?) | u64::from(handle.word(2)?) << 32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_inode_is_read_from_the_handle() {
        let bytes = [7u32, 1, 2, 9].into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>();
        let (low, long) = (Some(7), Some(7 | 1 << 32));
        let cases = [
            ("ext4", 1, low),
            ("ext4", 2, low),
            ("xfs", 1, low),
            ("xfs", 0x82, long),
            ("btrfs", 0x4d, long),
            ("tmpfs", 1, Some(1 | 2 << 32)),
            ("ext4", 3, None),
            ("iso9660", 1, None),
        ];
        for (system, kind, want) in cases {
            let handle = FileHandle::new(kind, &bytes).unwrap();
            let got = inode(system, &handle);
            assert!(cfg!(target_endian = "big") || got == want, "{system} {kind}: {got:?}");
        }
        assert_eq!(inode("tmpfs", &FileHandle::new(1, &[0; 8]).unwrap()), None);
    }

    #[test]
    fn what_the_kernel_calls_a_file_has_its_inode() {
        let file = tempfile::tempfile().unwrap();
        let system = roots::superblock_of(&file.as_fd());
        let all = super::super::mounts::all();
        let mount = all.iter().find(|mount| Some(mount.device) == system);
        let (Some(mount), Ok(handle)) = (mount, FileHandle::of_file(file.as_fd())) else { return };
        let got = inode(&mount.filesystem, &handle);
        let want = file.metadata().unwrap().ino();
        assert!(got.is_none_or(|got| got == want), "{got:?} {want} {}", mount.filesystem);
    }

    #[test]
    fn servers_are_not_asked_for_handles() {
        let mount = |device, filesystem: &str| Mount {
            device,
            filesystem: filesystem.into(),
            ..Mount::default()
        };
        let yes = [(8 << 20, "ext4"), (8 << 20, "vfat"), (40, "btrfs"), (41, "tmpfs")];
        let no = [(40, "nfs4"), (41, "fuse.sshfs"), (8 << 20, "fuseblk"), (42, "9p")];
        assert!(yes.iter().all(|&(device, system)| has_handles(&mount(device, system))));
        assert!(!no.iter().any(|&(device, system)| has_handles(&mount(device, system))));
    }
}
