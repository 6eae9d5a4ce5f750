//! A rate for the discs of a group: `blkio.throttle` of cgroup v1, `io.max` of v2.
//!
//! Reads by system call and by fault are held to it, direct ones too. Writes are held to it only as far
//! as the group itself sends them to the disc: cgroup v1 knows not whose pages write-back writes.
//! Sources: `Documentation/admin-guide/cgroup-v1/blkio-controller.rst`, `cgroup-v2.rst`.

use std::fs;
use std::io;
use std::path::Path;

use crate::units::Bytes;

/// A rate for some discs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// Major and minor numbers of the devices that files lie on; partitions stand for their disc.
    pub devices: Vec<(u32, u32)>,
    /// Requests a second.
    pub iops: Option<u64>,
    /// Bytes a second.
    pub bytes_per_second: Option<Bytes>,
}

impl Throttle {
    /// Sets it in a group of the v1 `blkio` hierarchy.
    pub(super) fn set_v1(&self, directory: &Path) -> io::Result<()> {
        for (major, minor) in self.discs() {
            for way in ["read", "write"] {
                let set = |kind: &str, rate: Option<u64>| {
                    let file = directory.join(format!("blkio.throttle.{way}_{kind}_device"));
                    rate.map_or(Ok(()), |rate| fs::write(file, format!("{major}:{minor} {rate}")))
                };
                set("iops", self.iops)?;
                set("bps", self.bytes_per_second.map(|bytes| bytes.0))?;
            }
        }
        Ok(())
    }

    /// Sets it in a group of the unified hierarchy that has the `io` controller.
    pub(super) fn set_v2(&self, directory: &Path) -> io::Result<()> {
        for (major, minor) in self.discs() {
            fs::write(directory.join("io.max"), self.line_v2(major, minor))?;
        }
        Ok(())
    }

    fn line_v2(&self, major: u32, minor: u32) -> String {
        let iops = self.iops.map(|iops| format!(" riops={iops} wiops={iops}"));
        let bytes = self.bytes_per_second.map(|Bytes(bytes)| format!(" rbps={bytes} wbps={bytes}"));
        format!("{major}:{minor}{}{}", iops.unwrap_or_default(), bytes.unwrap_or_default())
    }

    /// The discs, each once.
    fn discs(&self) -> Vec<(u32, u32)> {
        let mut discs: Vec<(u32, u32)> =
            self.devices.iter().map(|&device| disc_of(device)).collect();
        discs.sort_unstable();
        discs.dedup();
        discs
    }
}

/// The disc that a partition is on; a rate cannot be set for a partition.
fn disc_of(device: (u32, u32)) -> (u32, u32) {
    let place = format!("/sys/dev/block/{}:{}", device.0, device.1);
    if !Path::new(&place).join("partition").exists() {
        return device;
    }
    let text = fs::read_to_string(Path::new(&place).join("../dev")).unwrap_or_default();
    let number = |text: &str| text.trim().parse().ok();
    let parts = text.split_once(':').and_then(|(a, b)| Some((number(a)?, number(b)?)));
    parts.unwrap_or(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_where_the_kernel_looks_for_them() {
        let place = tempfile::tempdir().unwrap();
        let throttle = Throttle {
            devices: vec![(7, 999), (7, 999)],
            iops: Some(100),
            bytes_per_second: Some(Bytes(5 << 20)),
        };
        throttle.set_v1(place.path()).unwrap();
        let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(read("blkio.throttle.read_iops_device"), "7:999 100");
        assert_eq!(read("blkio.throttle.write_bps_device"), "7:999 5242880");
        throttle.set_v2(place.path()).unwrap();
        assert_eq!(read("io.max"), "7:999 riops=100 wiops=100 rbps=5242880 wbps=5242880");
        let only = Throttle { bytes_per_second: None, ..throttle };
        assert_eq!(only.line_v2(8, 0), "8:0 riops=100 wiops=100");
    }
}
