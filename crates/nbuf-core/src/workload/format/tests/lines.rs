//! Inputs for readers that take common lines in a quick way: lines as a recorder writes them, and then changed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::batch::{Batch, Problems};
use crate::trace::request::Request;

/// Bytes that mean something in some format of lines, and some that do not.
const BYTES: &[u8] = b" \t\r\n\x0c:,.;=+-<>\"\\()[]{}/0123456789abfxQDWRS\xff";

/// What was read of an input.
#[derive(Debug, PartialEq)]
pub(in crate::workload::format) struct Seen {
    requests: Vec<Request>,
    problems: Problems,
    names: Vec<String>,
    lines: u64,
    bytes: u64,
}

/// Reads an input that comes in two parts.
pub(in crate::workload::format) fn read(
    input: &[u8],
    cut: Index,
    mut parse: impl FnMut(&[u8], bool, &mut Batch) -> usize,
) -> Seen {
    let mut out = Batch::default();
    let taken = parse(&input[..cut.index(input.len() + 1)], false, &mut out);
    let rest = parse(&input[taken..], true, &mut out);
    assert_eq!(taken + rest, input.len());
    let Batch { requests, objects, problems, lines, bytes, .. } = out;
    Seen { requests, problems, names: objects.names().to_vec(), lines, bytes }
}

/// Lines with up to three bytes replaced, added or left out, or with the end cut off.
pub(in crate::workload::format) fn changed(
    line: impl Strategy<Value = String>,
) -> impl Strategy<Value = Vec<u8>> {
    let changes = vec((any::<Index>(), 0..7_u8, select(BYTES)), 0..4);
    (vec(line, 1..6), changes).prop_map(|(lines, changes)| {
        let mut input = lines.concat().into_bytes();
        for (at, change, byte) in changes {
            if input.is_empty() {
                break;
            }
            let at = at.index(input.len());
            match change {
                0..=2 => input[at] = byte,
                3 | 4 => input.insert(at, byte),
                5 => {
                    input.remove(at);
                }
                _ => input.truncate(at),
            }
        }
        input
    })
}
