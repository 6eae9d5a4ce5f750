//! What coder and decoder remember within a frame.
//!
//! Invariant: both sides step through the same [`State`]; it starts empty at each frame. Cost: an
//! ordered look-up when the file or the task changes, none when it repeats. The dictionaries grow
//! by at least two bytes of payload an entry, so their memory is bounded by the payload.

use std::collections::BTreeMap;

use super::entry::{Event, Kind};
use crate::trace::varint::{put, take};

/// Where accesses of each sort last ended in one file.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    pages: u64,
    deleted: u64,
    bytes: u64,
}

impl Places {
    fn of(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::GetPages | Kind::Fault | Kind::MapPages | Kind::Add | Kind::Touch => {
                &mut self.pages
            }
            Kind::Delete => &mut self.deleted,
            Kind::Write | Kind::Read | Kind::Splice | Kind::Advise | Kind::Prefetch => {
                &mut self.bytes
            }
        }
    }
}

/// What both sides remember within a frame.
#[derive(Debug, Default)]
pub(super) struct State {
    time_ns: u64,
    files: Vec<(u32, u64, Places)>,
    tasks: Vec<u32>,
    file_last: usize,
    task_last: usize,
    bytes_last: u64,
    file_numbers: BTreeMap<(u32, u64), usize>,
    task_numbers: BTreeMap<u32, usize>,
}

impl State {
    /// Forgets everything: a new frame begins.
    pub(super) fn reset(&mut self) {
        self.time_ns = 0;
        self.files.clear();
        self.tasks.clear();
        self.file_last = 0;
        self.task_last = 0;
        self.bytes_last = 0;
        self.file_numbers.clear();
        self.task_numbers.clear();
    }

    /// The extent that is not written out.
    pub(super) fn extent_usual(&self, kind: Kind, index: u64) -> u64 {
        match kind {
            Kind::GetPages | Kind::MapPages => index,
            Kind::Fault | Kind::Add | Kind::Delete | Kind::Advise | Kind::Touch => 0,
            Kind::Write | Kind::Read | Kind::Splice | Kind::Prefetch => self.bytes_last,
        }
    }

    /// Moves on past an event that both sides know in full.
    pub(super) fn advance(&mut self, event: &Event) {
        self.time_ns = event.time_ns;
        let end = match event.kind {
            Kind::GetPages | Kind::MapPages => event.extent.wrapping_add(1),
            Kind::Fault | Kind::Touch => event.index.wrapping_add(1),
            Kind::Advise => event.index,
            Kind::Add | Kind::Delete => {
                let order = u32::try_from(event.extent).unwrap_or(u32::MAX);
                event.index.wrapping_add(1_u64.checked_shl(order).unwrap_or(0))
            }
            Kind::Write | Kind::Read | Kind::Splice | Kind::Prefetch => {
                self.bytes_last = event.extent;
                event.index.wrapping_add(event.extent)
            }
        };
        if let Some((_, _, places)) = self.files.get_mut(self.file_last) {
            *places.of(event.kind) = end;
        }
    }

    pub(super) fn put_time(&mut self, out: &mut Vec<u8>, time_ns: u64) {
        // Time goes forward, with few exceptions; each of these may cost ten bytes.
        put(out, time_ns.wrapping_sub(self.time_ns));
        self.time_ns = time_ns;
    }

    pub(super) fn take_time(&mut self, bytes: &mut &[u8]) -> Option<u64> {
        self.time_ns = self.time_ns.wrapping_add(take(bytes)?);
        Some(self.time_ns)
    }

    /// Whether the file is the one of the entry before.
    pub(super) fn file_repeats(&self, device: u32, inode: u64) -> bool {
        matches!(self.files.get(self.file_last), Some(&(d, i, _)) if (d, i) == (device, inode))
    }

    /// Where the last access of this sort to the current file ended.
    pub(super) fn place(&mut self, kind: Kind) -> u64 {
        let current = self.files.get_mut(self.file_last);
        current.map_or(0, |(_, _, places)| *places.of(kind))
    }

    /// Whether the task is the one of the entry before.
    pub(super) fn task_repeats(&self, task: u32) -> bool {
        self.tasks.get(self.task_last) == Some(&task)
    }

    pub(super) fn put_file(&mut self, out: &mut Vec<u8>, device: u32, inode: u64) {
        let next = self.files.len();
        let number = *self.file_numbers.entry((device, inode)).or_insert(next);
        put(out, number as u64);
        if number == next {
            put(out, u64::from(device));
            put(out, inode);
            self.files.push((device, inode, Places::default()));
        }
        self.file_last = number;
    }

    pub(super) fn take_file(&mut self, bytes: &mut &[u8], repeats: bool) -> Option<(u32, u64)> {
        if !repeats {
            let number = usize::try_from(take(bytes)?).ok()?;
            if number == self.files.len() {
                let device = u32::try_from(take(bytes)?).ok()?;
                let inode = take(bytes)?;
                self.files.push((device, inode, Places::default()));
            }
            self.file_last = number;
        }
        let &(device, inode, _) = self.files.get(self.file_last)?;
        Some((device, inode))
    }

    pub(super) fn put_task(&mut self, out: &mut Vec<u8>, task: u32) {
        let next = self.tasks.len();
        let number = *self.task_numbers.entry(task).or_insert(next);
        put(out, number as u64);
        if number == next {
            put(out, u64::from(task));
            self.tasks.push(task);
        }
        self.task_last = number;
    }

    pub(super) fn take_task(&mut self, bytes: &mut &[u8], repeats: bool) -> Option<u32> {
        if !repeats {
            let number = usize::try_from(take(bytes)?).ok()?;
            if number == self.tasks.len() {
                self.tasks.push(u32::try_from(take(bytes)?).ok()?);
            }
            self.task_last = number;
        }
        self.tasks.get(self.task_last).copied()
    }
}
