//! The mappings of one process, by address.

use std::collections::BTreeMap;

/// A part of a process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// Its first address.
    pub start: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// Whether its bytes may be executed.
    pub is_code: bool,
}

/// What is mapped where.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    /// By the first address: the end, the offset of the first byte, the number of the object.
    parts: BTreeMap<u64, (u64, u64, u32)>,
    /// A program was executed, and its code is not mapped yet.
    awaits_program: bool,
}

impl Space {
    /// After `execve`: nothing is mapped.
    pub(super) fn executed() -> Self {
        Self { awaits_program: true, ..Self::default() }
    }

    /// The space of a child process, which has the same mappings.
    pub(super) fn forked(&self) -> Self {
        Self { parts: self.parts.clone(), awaits_program: false }
    }

    /// Whether this mapping is the first code after `execve`, which is the program's own.
    pub(super) fn executes(&mut self, mapping: &Mapping) -> bool {
        mapping.is_code && std::mem::take(&mut self.awaits_program)
    }

    /// What was mapped there before is gone.
    pub(super) fn map(&mut self, mapping: Mapping, object: u32) {
        let Mapping { start, bytes, offset, .. } = mapping;
        let end = start.saturating_add(bytes);
        if end == start {
            return;
        }
        let under: Vec<u64> = self
            .parts
            .range(..end)
            .rev()
            .take_while(|(_, part)| part.0 > start)
            .map(|(&at, _)| at)
            .collect();
        for at in under {
            let Some((old_end, old_offset, old)) = self.parts.remove(&at) else { continue };
            if at < start {
                self.parts.insert(at, (start, old_offset, old));
            }
            if old_end > end {
                let offset = old_offset.wrapping_add(end - at);
                self.parts.insert(end, (old_end, offset, old));
            }
        }
        self.parts.insert(start, (end, offset, object));
    }

    /// The object at an address, and the offset in it.
    pub(super) fn find(&self, address: u64) -> Option<(u32, u64)> {
        let (&start, &(end, offset, object)) = self.parts.range(..=address).next_back()?;
        (address < end).then(|| (object, offset.wrapping_add(address - start)))
    }
}
