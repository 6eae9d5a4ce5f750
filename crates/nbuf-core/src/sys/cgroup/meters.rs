//! What a group holds now, and how many operations it has asked discs for.
//!
//! Sources: `Documentation/admin-guide/cgroup-v1/blkio-controller.rst`, `cgroup-v2.rst`.

use std::fs;
use std::path::Path;

use super::{Error, Group, Hierarchies, Throttle, number};
use crate::units::Bytes;

impl Group {
    /// Makes a private group that also counts operations of discs, where a controller can.
    pub fn create_counting(hierarchies: &Hierarchies) -> Result<Self, Error> {
        // A rate without discs is a group of the controller, and nothing more.
        let counting = hierarchies.blkio_v1.as_ref().map(|_| Throttle::default());
        Self::create_with(hierarchies, counting.as_ref()).or_else(|error| match counting {
            Some(_) => Self::create(hierarchies),
            None => Err(error),
        })
    }

    /// All memory that is charged to it, page cache included. Cost: reads a file of the kernel.
    pub fn held(&self) -> Bytes {
        let file = |name| number(&self.limiter.directory().join(name));
        Bytes(file("memory.current").max(file("memory.usage_in_bytes")))
    }

    /// Reads and writes that it asked discs for so far; nothing where no controller counts them. Write-back
    /// is in it with cgroup v2 only.
    pub fn disc_operations(&self) -> Option<u64> {
        let read =
            |directory: Option<&Path>, file: &str| fs::read_to_string(directory?.join(file)).ok();
        let v1 = read(self.rate.as_deref(), "blkio.throttle.io_serviced_recursive");
        let v2 = || read(self.pressure.as_deref(), "io.stat");
        v1.map(|text| operations_v1(&text)).or_else(|| v2().map(|text| operations_v2(&text)))
    }
}

/// From lines such as `254:0 Read 8`.
fn operations_v1(text: &str) -> u64 {
    let count = |line: &str| {
        let mut words = line.split_whitespace();
        let (device, way, count) = (words.next()?, words.next()?, words.next()?);
        let is_counted = matches!(way, "Read" | "Write") && !is_stacked(device);
        count.parse::<u64>().ok().filter(|_| is_counted)
    };
    text.lines().filter_map(count).sum()
}

/// From lines such as `254:0 rbytes=8192 wbytes=0 rios=2 wios=0`.
fn operations_v2(text: &str) -> u64 {
    let count = |line: &str| {
        let (device, fields) = line.split_once(' ')?;
        let field = |field: &str| -> Option<u64> {
            let (key, count) = field.split_once('=')?;
            count.parse().ok().filter(|_| matches!(key, "rios" | "wios"))
        };
        (!is_stacked(device)).then(|| fields.split(' ').filter_map(field).sum::<u64>())
    };
    text.lines().filter_map(count).sum()
}

/// Whether the operations of a device are counted at the discs below it, too.
fn is_stacked(device: &str) -> bool {
    let below = fs::read_dir(format!("/sys/dev/block/{device}/slaves"));
    below.is_ok_and(|mut below| below.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_are_summed_over_discs() {
        let text = "7:999 Read 8\n7:999 Write 3\n7:999 Sync 11\n7:999 Total 11\nTotal 11\n";
        assert_eq!(operations_v1(text), 11);
        let text =
            "7:999 rbytes=8192 wbytes=0 rios=2 wios=0 dbytes=0 dios=5\n7:998 rios=1 wios=4\n";
        assert_eq!(operations_v2(text), 7);
        assert_eq!((operations_v1("Total 0\n"), operations_v2("")), (0, 0));
    }
}
