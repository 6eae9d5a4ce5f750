//! Which disc a partition is on. A request is sent to a partition, and a device receives it for the whole disc.

use std::collections::HashMap;
use std::fs;

/// Numbers of devices as the kernel has them: 12 bits of class, 20 of the device. Each is looked up once.
#[derive(Debug, Default)]
pub(super) struct Discs {
    known: HashMap<u32, u32>,
}

impl Discs {
    /// The whole disc of a partition; itself for all other devices.
    pub(super) fn whole(&mut self, device: u32) -> u32 {
        *self.known.entry(device).or_insert_with(|| parent(device).unwrap_or(device))
    }
}

fn parent(device: u32) -> Option<u32> {
    let directory = format!("/sys/dev/block/{}:{}", device >> 20, device & 0xf_ffff);
    fs::metadata(format!("{directory}/partition")).ok()?;
    let text = fs::read_to_string(format!("{directory}/../dev")).ok()?;
    let (class, number) = text.trim_end().split_once(':')?;
    Some(class.parse::<u32>().ok()? << 20 | number.parse::<u32>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_partition_here_is_on_the_disc_that_is_named_for_it() {
        let mut discs = Discs::default();
        let number = |path: &std::path::Path| {
            let text = fs::read_to_string(path.join("dev")).unwrap();
            let (class, number) = text.trim_end().split_once(':').unwrap();
            class.parse::<u32>().unwrap() << 20 | number.parse::<u32>().unwrap()
        };
        for disc in fs::read_dir("/sys/block").unwrap() {
            let disc = disc.unwrap().path();
            assert_eq!(discs.whole(number(&disc)), number(&disc));
            for part in fs::read_dir(&disc).unwrap().map(|entry| entry.unwrap().path()) {
                if part.join("partition").exists() {
                    assert_eq!(discs.whole(number(&part)), number(&disc));
                }
            }
        }
        assert_eq!(discs.whole(u32::MAX), u32::MAX);
    }
}
