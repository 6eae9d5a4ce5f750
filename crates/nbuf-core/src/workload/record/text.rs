//! Which pages of the files that a command mapped are text: the kernel keeps text that is used longer than data
//! (`shrink_active_list` and `folio_check_references` in `mm/vmscan.c`).
//!
//! It stands in the headers of the files as they are after the recording. They are read with the caller's rights.
//! A file that cannot be read, or is gone, has no text. Cost: one open file and one read for each file that was mapped.

use std::io::{self, Read};
use std::path::Path;

use object::Endianness;
use object::elf::{FileHeader64, PF_X, PT_LOAD};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use crate::sys::files;
use crate::trace::{CacheEvent, Text, Trace};
use crate::units::PAGE_BYTES;

/// Headers are at the beginning of a file, and seldom longer than a page.
const HEAD_BYTES: u64 = 16 << 10;

/// Adds the text of the files to the facts of a trace that was just recorded on this machine.
pub(crate) fn note(trace: &mut Trace) {
    let mut is_mapped = vec![false; trace.files.len()];
    for record in &trace.records {
        if matches!(record.op, CacheEvent::Fault | CacheEvent::Map | CacheEvent::Touch)
            && let Some(is_mapped) = is_mapped.get_mut(record.file.0 as usize)
        {
            *is_mapped = true;
        }
    }
    let mapped = trace.files.iter().zip(is_mapped).filter(|(_, is_mapped)| *is_mapped);
    let text = mapped.filter_map(|(file, _)| {
        let (first, pages) = head(Path::new(file)).ok().as_deref().and_then(pages)?;
        Some(Text { file: file.clone(), first, pages })
    });
    trace.facts.text = text.collect();
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    files::regular(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// The first page of text and how many there are, by the head of a file. Linkers put text in one piece; several count
/// with what is between them.
fn pages(head: &[u8]) -> Option<(u32, u32)> {
    let header = FileHeader64::<Endianness>::parse(head).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, head).ok()?;
    let text = segments.iter().filter(|segment| {
        segment.p_type(endian) == PT_LOAD && segment.p_flags(endian).0 & PF_X.0 != 0
    });
    let ends = text.filter_map(|segment| {
        let (offset, bytes) = (segment.p_offset(endian), segment.p_filesz(endian));
        (bytes > 0)
            .then_some((offset / PAGE_BYTES, offset.checked_add(bytes)?.div_ceil(PAGE_BYTES)))
    });
    let (first, end) = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    Some((u32::try_from(first).ok()?, u32::try_from(end - first).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{FileId, Record};
    use proptest::prelude::*;

    #[test]
    fn a_program_has_text_and_the_kernel_maps_it_there() {
        // This program: its text by the kernel's list of what it has mapped.
        let path = std::env::current_exe().unwrap();
        let (first, pages) = pages(&head(&path).unwrap()).unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let is_it = |line: &&str| line.contains(" r-xp ") && line.ends_with(path.to_str().unwrap());
        let line = maps.lines().find(is_it).unwrap();
        let offset = line.split_whitespace().nth(2).unwrap();
        assert_eq!(u64::from_str_radix(offset, 16).unwrap(), u64::from(first) * PAGE_BYTES);
        assert!(pages > 10, "{pages}");
    }

    #[test]
    fn only_what_was_mapped_is_looked_at() {
        let path = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
        let record = |op| Record {
            time_ns: 0,
            offset_bytes: 0,
            file_bytes: 4096,
            length_bytes: 4096,
            file: FileId(0),
            task: 1,
            request: 0,
            op,
        };
        for (op, want) in [(CacheEvent::Read, 0), (CacheEvent::Touch, 1), (CacheEvent::Map, 1)] {
            let mut trace = Trace { files: vec![path.clone(), "/none".into()], ..Trace::default() };
            trace.records.push(record(op));
            note(&mut trace);
            assert_eq!(trace.facts.text.len(), want, "{op:?}");
        }
    }

    proptest! {
        #[test]
        fn rubbish_has_no_text_and_no_panic(bytes: Vec<u8>, cut in 0..200usize) {
            let _ = pages(&bytes);
            let program = head(&std::env::current_exe().unwrap()).unwrap();
            let mut broken = program[..program.len().min(cut * 8)].to_vec();
            for (at, byte) in bytes.iter().enumerate() {
                if let Some(old) = broken.get_mut(16 + at * 3) {
                    *old = *byte;
                }
            }
            let _ = pages(&broken);
        }
    }
}
