//! What is mounted while a command runs: here, and what its processes mount or see in name spaces of
//! their own, as containers do.

use std::collections::HashMap;
use std::path::PathBuf;

use super::mounts::{self, Mount};
use super::names::Key;

/// Tasks that were gone when they were asked about a device, before it is given up.
const TRIES: u8 = 16;

/// The mounts that are known.
#[derive(Clone, Debug, Default)]
pub struct Mounted {
    backed: Vec<Mount>,
    in_memory: Vec<Mount>,
    /// Devices that were looked up, and how often.
    tries: HashMap<u32, u8>,
}

impl Mounted {
    /// Those of this process.
    pub fn here() -> Self {
        let (backed, in_memory) = (mounts::backed(), mounts::in_memory());
        Self { backed, in_memory, tries: HashMap::new() }
    }

    /// The mounts with files behind them, one for each device; the last are those met.
    pub fn backed(&self) -> &[Mount] {
        &self.backed
    }

    /// Whether this may be a file on one of them. Other inodes are the kernel's own: a block device's
    /// buffers, and on btrfs number 1, its trees.
    pub fn may_be_file(&self, (device, inode): Key) -> bool {
        let mount = self.backed.iter().find(|mount| mount.device == device);
        mount.is_some_and(|mount| inode != 1 || mount.filesystem != "btrfs")
    }

    /// Whether the files of a device lie in memory.
    pub fn is_in_memory(&self, device: u32) -> bool {
        self.in_memory.iter().any(|mount| mount.device == device)
    }

    /// A task came upon a device: if it is not known, it is looked up, among the mounts that the task
    /// sees, once; if the task is no more, among ours, and again for another one. Gives a mount with files behind it that is news, by a path that leads there as long as
    /// the task lives.
    pub fn meet(&mut self, device: u32, task: u32) -> Option<&Mount> {
        let is_known = self.backed.iter().chain(&self.in_memory).any(|m| m.device == device);
        let tries = self.tries.entry(device).or_default();
        if is_known || *tries >= TRIES {
            return None;
        }
        let theirs = mounts::seen_by(task);
        *tries = if theirs.is_some() { TRIES } else { *tries + 1 };
        let all = theirs.unwrap_or_else(mounts::all);
        let found = all.into_iter().find(|mount| mount.device == device);
        match found {
            Some(mount) if mount.is_in_memory() => self.in_memory.push(mount),
            Some(mount) if mount.is_pseudo() => {}
            Some(mount) => {
                let root = PathBuf::from(format!("/proc/{task}/root"));
                let inside = mount.point.strip_prefix("/").unwrap_or(&mount.point);
                let point = root.join(inside);
                self.backed.push(Mount { point, ..mount });
                return self.backed.last();
            }
            // The kernel's own inodes have no block device's number.
            None if device >> 20 != 0 => {
                self.backed.push(Mount { device, ..Mount::default() });
                return self.backed.last();
            }
            None => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_mounted_is_met_once() {
        let mut mounted = Mounted::here();
        let (task, count) = (std::process::id(), mounted.backed().len());
        let (gone, kernels) = (4094 << 20 | 7, 0xf_fff0);
        assert!(!mounted.may_be_file((gone, 5)));
        assert_eq!(mounted.meet(gone, task).map(|mount| mount.device), Some(gone));
        assert!(mounted.meet(gone, task).is_none() && mounted.may_be_file((gone, 5)));
        // An anonymous device that is not mounted here is no file system.
        assert!(mounted.meet(kernels, task).is_none() && !mounted.may_be_file((kernels, 5)));
        let first = mounted.backed()[0].device;
        assert!(mounted.meet(first, task).is_none());
        assert_eq!(mounted.backed().len(), count + 1);
    }
}
