//! Writes on btrfs: each marks the range of its folio "to be allocated later" in the extent-state
//! tree of its inode, whether the page was in the cache, dirty, or neither. That mark has a
//! tracepoint, which makes writes exact to the page without a look at descriptors.
//!
//! Ranges are whole blocks (4 KiB), one event a folio. The tracepoint knows the file system by its
//! UUID; `/sys/fs/btrfs` says which device that is. What sees nothing here: direct writes.
//! Wrong here: defragmentation, which counts as a write, and files of different subvolumes with one
//! inode number, which all tracepoints take for one file.

use std::fs;
use std::path::Path;

use super::events::{Field, FormatError, field_named, id, number};
use super::log::{Event, Kind};
use super::mounts::Mount;

/// Directory of the tracepoint.
pub const PATH: &str = "btrfs/btrfs_set_extent_bit";

/// Lets through marks in a file's tree (`IO_TREE_INODE_IO`) with `EXTENT_DELALLOC`: bit 5 in Linux
/// 6.18, bit 4 in 6.4. The other one of the two is not set by the task that writes.
pub const FILTER: &str = "owner == 3 && set_bits & 48";

/// How to read the records, and the mounted file systems they may be of.
#[derive(Clone, Debug)]
pub struct Btrfs {
    /// The tracepoint's number.
    pub id: u16,
    system: Field,
    inode: Field,
    start: Field,
    length: Field,
    systems: Vec<([u8; 16], u32)>,
}

impl Btrfs {
    /// Reads a `format` file.
    pub fn parse(text: &str, systems: Vec<([u8; 16], u32)>) -> Result<Self, FormatError> {
        let field = |name: &str| {
            let name = field_named(text, name).ok_or_else(|| FormatError::missing(PATH, name))?;
            Ok(name)
        };
        Ok(Self {
            id: id(text).ok_or_else(|| FormatError::missing(PATH, "ID"))?,
            system: field("fsid[16]")?,
            inode: field("ino")?,
            start: field("start")?,
            length: field("len")?,
            systems,
        })
    }

    /// Whether the writes of this device are seen here.
    pub fn sees(&self, device: u32) -> bool {
        self.systems.iter().any(|&(_, known)| known == device)
    }

    /// Reads a raw record; the system must be a mounted one.
    pub fn event(&self, raw: &[u8], task: u32, time_ns: u64) -> Option<Event> {
        let id = raw.get(self.system.offset..self.system.offset.checked_add(16)?)?;
        let &(_, device) = self.systems.iter().find(|(known, _)| known == id)?;
        Some(Event {
            time_ns,
            task,
            kind: Kind::Write,
            device,
            inode: number(raw, self.inode)?,
            index: number(raw, self.start)?,
            extent: number(raw, self.length)?,
        })
    }
}

/// UUID and device of the btrfs among the mounts.
pub fn systems(mounts: &[Mount]) -> Vec<([u8; 16], u32)> {
    let mounts = mounts.iter().filter(|mount| mount.filesystem == "btrfs");
    mounts.filter_map(|mount| Some((uuid_of(&mount.source)?, mount.device))).collect()
}

/// The UUID of the file system that a block device is part of.
fn uuid_of(source: &Path) -> Option<[u8; 16]> {
    // `/dev/mapper/x` is a link to what the kernel calls `dm-0`.
    let source = fs::canonicalize(source).ok()?;
    let member = Path::new("devices").join(source.file_name()?);
    let systems = fs::read_dir("/sys/fs/btrfs").ok()?;
    let system = systems.flatten().find(|system| system.path().join(&member).exists())?;
    parse_uuid(system.file_name().to_str()?)
}

fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|&c| c != '-').collect();
    let value = u128::from_str_radix(&digits, 16).ok()?;
    (digits.len() == 32).then(|| value.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMAT: &str = "ID: 1947
\tfield:u8 fsid[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:u64 ino;\toffset:32;\tsize:8;\tsigned:0;
\tfield:u64 start;\toffset:48;\tsize:8;\tsigned:0;
\tfield:u64 len;\toffset:56;\tsize:8;\tsigned:0;";

    #[test]
    fn a_mark_is_a_write_to_the_mounted_system() {
        let uuid = parse_uuid("434ef47d-50a4-469b-adf0-7a9443144f12").unwrap();
        let btrfs = Btrfs::parse(FORMAT, vec![(uuid, 39)]).unwrap();
        let mut raw = [0; 64];
        raw[8..24].copy_from_slice(&uuid);
        raw[32] = 7;
        raw[49] = 0x10;
        raw[57] = 0x10;
        let event = btrfs.event(&raw, 5, 9).unwrap();
        assert_eq!((event.device, event.inode, event.index, event.extent), (39, 7, 4096, 4096));
        raw[8] = 0;
        assert_eq!(btrfs.event(&raw, 5, 9), None, "another system");
    }

    proptest! {
        #[test]
        fn rubbish_is_no_event_and_no_panic(raw: Vec<u8>, text: String) {
            let btrfs = Btrfs::parse(FORMAT, vec![([0; 16], 1)]).unwrap();
            btrfs.event(&raw, 1, 1);
            let _ = Btrfs::parse(&text, Vec::new());
            parse_uuid(&text);
        }
    }
}
