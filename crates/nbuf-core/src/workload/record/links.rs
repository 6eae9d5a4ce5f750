//! Where `/proc` has the file that advice is about: a link among the task's descriptors, or among its
//! mappings. Links of mappings need `CAP_CHECKPOINT_RESTORE` (`proc(5)`).
//!
//! Cost: for advice on mappings, the list of the process's mappings is read once for all advice that is
//! taken together.

use std::fs;
use std::ops::Range;

use super::advice::{About, Advice, Advised};
use super::area::Area;
use super::log::Event;
use super::names::Names;

/// The files that the process of the last advice has mapped.
#[derive(Debug, Default)]
pub(super) struct Links {
    task: u32,
    /// Addresses, and where in the file they begin.
    mapped: Vec<(Range<u64>, u64)>,
}

impl Links {
    /// The link, which is gone if the task is, and for an address its place in the file. `None` if no file
    /// is mapped there.
    pub(super) fn of(&mut self, said: &Advice) -> Option<(String, u64)> {
        let task = said.task;
        match said.about {
            About::Descriptor(file) => Some((format!("/proc/{task}/fd/{file}"), 0)),
            About::Address(address) => {
                let known = if self.task == task { self.at(address) } else { None };
                let (Range { start, end }, offset) = match known {
                    Some(mapped) => mapped,
                    None if !self.look_at(task) => (0..0, 0),
                    None => self.at(address)?,
                };
                let place = offset.saturating_add(address.saturating_sub(start));
                Some((format!("/proc/{task}/map_files/{start:x}-{end:x}"), place))
            }
        }
    }

    /// Keeps advice on a file; a request for pages ahead of time is an event.
    pub(super) fn take(
        &mut self,
        said: &Advice,
        advised: &mut Advised,
        names: &mut Names,
    ) -> Option<Event> {
        let (link, offset) = self.of(said)?;
        let file = advised.file_of(said, names.key_of(said.task, &link));
        advised.say(said, file);
        said.prefetch(file, offset)
    }

    fn at(&self, address: u64) -> Option<(Range<u64>, u64)> {
        let at = self.mapped.partition_point(|(range, _)| range.end <= address);
        self.mapped.get(at).filter(|(range, _)| range.contains(&address)).cloned()
    }

    /// Whether the task is there.
    fn look_at(&mut self, task: u32) -> bool {
        let text = fs::read(format!("/proc/{task}/maps")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        self.task = task;
        let areas = text.lines().filter_map(Area::parse);
        self.mapped = areas.map(|area| (area.range, area.offset)).collect();
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
            Links::default().of(&Advice { time_ns: 0, task, about, range: (0, 0), advice: 1 })
        };
        let task = std::process::id();
        let text = fs::read_to_string("/proc/self/maps").unwrap();
        let area = text.lines().find_map(Area::parse).unwrap();
        let Range { start, end } = area.range;
        let want = |place| Some((format!("/proc/{task}/map_files/{start:x}-{end:x}"), place));
        assert_eq!(said(task, start), want(area.offset));
        assert_eq!(said(task, end - 1), want(area.offset + end - 1 - start));
        let stack = text.lines().find(|line| line.ends_with("[stack]")).unwrap();
        let stack = u64::from_str_radix(stack.split('-').next().unwrap(), 16).unwrap();
        assert_eq!(said(task, stack), None, "no file");
        assert_eq!(said(0, start), Some(("/proc/0/map_files/0-0".into(), start)), "it is gone");
    }
}
