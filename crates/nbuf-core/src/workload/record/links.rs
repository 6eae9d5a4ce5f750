//! Where `/proc` has the file that advice is about: a link among the task's descriptors, or among its
//! mappings. Links of mappings need `CAP_CHECKPOINT_RESTORE` (`proc(5)`).
//!
//! Cost: for advice on mappings, the list of the process's mappings is read once for all advice that is
//! taken together.

use std::fs;
use std::ops::Range;

use super::advice::{About, Advice};
use super::area::Area;

/// The files that the process of the last advice has mapped.
#[derive(Debug, Default)]
pub(super) struct Links {
    task: u32,
    mapped: Vec<Range<u64>>,
}

impl Links {
    /// The link, which is gone if the task is. `None` if no file is mapped there.
    pub(super) fn of(&mut self, said: &Advice) -> Option<String> {
        let task = said.task;
        match said.about {
            About::Descriptor(file) => Some(format!("/proc/{task}/fd/{file}")),
            About::Address(address) => {
                let known = if self.task == task { self.at(address) } else { None };
                let Range { start, end } = match known {
                    Some(range) => range,
                    None if !self.look_at(task) => 0..0,
                    None => self.at(address)?,
                };
                Some(format!("/proc/{task}/map_files/{start:x}-{end:x}"))
            }
        }
    }

    fn at(&self, address: u64) -> Option<Range<u64>> {
        let at = self.mapped.partition_point(|range| range.end <= address);
        self.mapped.get(at).filter(|range| range.contains(&address)).cloned()
    }

    /// Whether the task is there.
    fn look_at(&mut self, task: u32) -> bool {
        let text = fs::read(format!("/proc/{task}/maps")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        self.task = task;
        self.mapped = text.lines().filter_map(Area::parse).map(|area| area.range).collect();
        !text.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_found_by_any_address_of_it() {
        let said = |task, address| {
            let about = About::Address(address);
            Links::default().of(&Advice { time_ns: 0, task, about, advice: 1 })
        };
        let task = std::process::id();
        let text = fs::read_to_string("/proc/self/maps").unwrap();
        let area = text.lines().find_map(Area::parse).unwrap();
        let Range { start, end } = area.range;
        let want = Some(format!("/proc/{task}/map_files/{start:x}-{end:x}"));
        assert_eq!(said(task, start), want);
        assert_eq!(said(task, end - 1), want);
        let stack = text.lines().find(|line| line.ends_with("[stack]")).unwrap();
        let stack = u64::from_str_radix(stack.split('-').next().unwrap(), 16).unwrap();
        assert_eq!(said(task, stack), None, "no file");
        assert_eq!(said(0, start), Some("/proc/0/map_files/0-0".into()), "it is gone");
    }
}
