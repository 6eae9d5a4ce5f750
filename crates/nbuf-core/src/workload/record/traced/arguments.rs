//! Arguments of calls that are in the memory of the process: paths, and lengths of vectors.

use std::path::PathBuf;

use super::request::{Much, Named};
use crate::sys::ptrace::read_memory;
use crate::units::PAGE_BYTES;

const PATH_BYTES_MAX: usize = 4096;
/// Entries of one array of `iovec` (`IOV_MAX`).
const VECTOR_MAX: u64 = 1024;

/// The bytes a call asks for.
pub(super) fn length(task: i32, much: Much) -> u64 {
    let (address, count) = match much {
        Much::Bytes(bytes) => return bytes,
        Much::Vector { address, count } => (address, count.min(VECTOR_MAX)),
    };
    let mut bytes = vec![0; usize::try_from(count * 16).unwrap_or(0)];
    let got = read_memory(task, address, &mut bytes);
    vector_length(&bytes[..got])
}

/// The sum of the lengths in an array of `iovec`.
fn vector_length(bytes: &[u8]) -> u64 {
    let (entries, _) = bytes.as_chunks::<16>();
    let length = |entry: &[u8; 16]| entry.last_chunk().map_or(0, |word| u64::from_ne_bytes(*word));
    entries.iter().map(length).fold(0, u64::saturating_add)
}

pub(super) fn word(task: i32, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (read_memory(task, address, &mut bytes) == 8).then(|| u64::from_ne_bytes(bytes))
}

/// A path as we can walk it, whatever directory or root the process has.
pub(super) fn path(task: i32, named: Named) -> Option<PathBuf> {
    let text = text(task, named.path)?;
    let text = std::str::from_utf8(&text).ok()?;
    let path = match (text.strip_prefix('/'), named.directory) {
        (Some(rest), _) => format!("/proc/{task}/root/{rest}"),
        (None, libc::AT_FDCWD) => format!("/proc/{task}/cwd/{text}"),
        (None, directory) => format!("/proc/{task}/fd/{directory}/{text}"),
    };
    Some(path.into())
}

/// A string in a process's memory, read page by page: the next one need not be there.
fn text(task: i32, address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < PATH_BYTES_MAX {
        let mut page = [0; 4096];
        let room = usize::try_from(PAGE_BYTES - at % PAGE_BYTES).unwrap_or(1);
        let got = read_memory(task, at, &mut page[..room]);
        if let Some(end) = page[..got].iter().position(|&byte| byte == 0) {
            text.extend(&page[..end]);
            return (!text.is_empty()).then_some(text);
        }
        if got < room {
            return None;
        }
        text.extend(&page[..got]);
        at = at.checked_add(got as u64)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_string_of_our_own_is_read() {
        let ours = i32::try_from(std::process::id()).unwrap();
        let long = vec![b'x'; 4095];
        for want in [b"a/b".as_slice(), &long] {
            let bytes = [want, b"\0rest"].concat();
            assert_eq!(text(ours, bytes.as_ptr() as u64), Some(want.to_vec()));
        }
        assert_eq!(text(ours, 16), None);
    }

    proptest! {
        #[test]
        fn vectors_sum_up(lengths in prop::collection::vec(0u64..1 << 40, 0..20), cut in 0usize..16) {
            let mut bytes: Vec<u8> = lengths
                .iter()
                .flat_map(|length| [7u64.to_ne_bytes(), length.to_ne_bytes()].concat())
                .collect();
            bytes.extend(vec![1; cut]);
            prop_assert_eq!(vector_length(&bytes), lengths.iter().sum::<u64>());
        }
    }
}
