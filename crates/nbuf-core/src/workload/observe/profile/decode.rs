//! From records of the kernel to records of a profile.
//!
//! Pure; never panics on whatever the kernel, or a test, hands over. Layouts: `perf_event_open(2)`.

use perf_event_open_sys::bindings as b;

use crate::meter::profile::{Address, Mapping, Object, Record};
use crate::workload::record::events::{Field, number};

/// Behind each record that is no sample: process, thread, time, identifier.
const TRAILER_BYTES: usize = 24;
/// `PROT_EXEC`.
const EXECUTABLE: u32 = 4;
/// Markers in a stack: `PERF_CONTEXT_*` are the numbers from here on.
const CONTEXTS: u64 = 4096_u64.wrapping_neg();
const CONTEXT_KERNEL: u64 = 128_u64.wrapping_neg();

/// Where a record of a filled page has its inode, device, and the logarithm of its number of pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FillLayout {
    pub(super) inode: Field,
    pub(super) device: Field,
    pub(super) order: Option<Field>,
}

/// Reads a record, and its time. `identifiers` has those of the samples of time, of minor and of major faults, and
/// of filled pages.
pub(crate) fn decode(
    identifiers: &[u64],
    fill: Option<FillLayout>,
    kind: u32,
    misc: u16,
    body: &[u8],
) -> Option<(u64, Record)> {
    if kind == b::PERF_RECORD_SAMPLE {
        return sample(identifiers, fill, body);
    }
    let end = body.len().checked_sub(TRAILER_BYTES)?;
    let time_ns = long(body, end + 8)?;
    let body = body.get(..end)?;
    let record = match kind {
        b::PERF_RECORD_MMAP2 => mapped(body)?,
        b::PERF_RECORD_COMM => Record::Named {
            process: word(body, 0)?,
            thread: word(body, 4)?,
            name: text(body.get(8..)?),
            executes: u32::from(misc) & b::PERF_RECORD_MISC_COMM_EXEC != 0,
        },
        b::PERF_RECORD_FORK => Record::Began {
            process: word(body, 0)?,
            parent: word(body, 4)?,
            thread: word(body, 8)?,
            parent_thread: word(body, 12)?,
        },
        b::PERF_RECORD_EXIT => Record::Ended { process: word(body, 0)?, thread: word(body, 8)? },
        _ => return None,
    };
    Some((time_ns, record))
}

fn mapped(body: &[u8]) -> Option<Record> {
    let path = text(body.get(64..)?);
    let device = (word(body, 32)? << 20) | (word(body, 36)? & 0xf_ffff);
    let object = match path.as_str() {
        "" | "//anon" | "[heap]" | "[stack]" | "/dev/zero" => Object::Anonymous,
        made if made.starts_with('[') || made.starts_with("anon_inode:") => Object::Made(path),
        _ => Object::File { path, device, inode: long(body, 40)? },
    };
    let mapping = Mapping {
        start: long(body, 8)?,
        bytes: long(body, 16)?,
        offset: long(body, 24)?,
        is_code: word(body, 56)? & EXECUTABLE != 0,
    };
    Some(Record::Mapped { process: word(body, 0)?, mapping, object })
}

fn sample(identifiers: &[u64], fill: Option<FillLayout>, body: &[u8]) -> Option<(u64, Record)> {
    let identifier = long(body, 0)?;
    let which = identifiers.iter().position(|&one| one == identifier)?;
    let (value, process, thread, time_ns) =
        (long(body, 8)?, word(body, 16)?, word(body, 20)?, long(body, 24)?);
    // The upper half of all addresses is the kernel's.
    let at = Address { value, in_kernel: value >> 63 == 1 };
    let record = match which {
        0 => {
            let (mut stack, _) = stack(body)?;
            if stack.is_empty() {
                stack.push(at);
            }
            Record::Ran { process, thread, stack }
        }
        1 | 2 => Record::Faulted { process, at, touched: long(body, 32)?, is_major: which == 2 },
        _ => {
            let (stack, raw) = stack(body)?;
            let raw = body.get(raw.checked_add(4)?..)?;
            let layout = fill?;
            let order = layout.order.and_then(|order| number(raw, order)).unwrap_or(0).min(32);
            Record::Filled {
                process,
                at: stack.into_iter().find(|at| !at.in_kernel),
                device: u32::try_from(number(raw, layout.device)?).ok()?,
                inode: number(raw, layout.inode)?,
                pages: 1 << order,
            }
        }
    };
    Some((time_ns, record))
}

/// The stack of a sample, innermost frame first, and where it ends.
fn stack(body: &[u8]) -> Option<(Vec<Address>, usize)> {
    let count = usize::try_from(long(body, 32)?).ok()?;
    let end = 40_usize.checked_add(count.checked_mul(8)?)?;
    let mut in_kernel = false;
    let mut stack = Vec::new();
    for bytes in body.get(40..end)?.chunks_exact(8) {
        let value = long(bytes, 0)?;
        if value >= CONTEXTS {
            in_kernel = value == CONTEXT_KERNEL;
        } else {
            stack.push(Address { value, in_kernel });
        }
    }
    Some((stack, end))
}

/// Up to its first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILL: FillLayout = FillLayout {
        inode: Field { offset: 16, bytes: 8 },
        device: Field { offset: 32, bytes: 4 },
        order: Some(Field { offset: 36, bytes: 1 }),
    };

    fn longs(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    /// Two words in one.
    fn pair(first: u32, second: u32) -> u64 {
        u64::from_ne_bytes(longs_of(first, second))
    }

    fn longs_of(first: u32, second: u32) -> [u8; 8] {
        [first.to_ne_bytes(), second.to_ne_bytes()].concat().try_into().unwrap()
    }

    fn read(kind: u32, misc: u16, body: &[u8]) -> Option<(u64, Record)> {
        decode(&[11, 12, 13, 14], Some(FILL), kind, misc, body)
    }

    #[test]
    fn samples_have_their_stack_their_fault_or_their_page() {
        let user = 512_u64.wrapping_neg();
        let top = 1 << 63;
        let head = [11, top | 1, pair(5, 6), 99];
        let chain = [4_u64, CONTEXT_KERNEL, top | 1, user, 0x40];
        let (time_ns, record) =
            read(b::PERF_RECORD_SAMPLE, 0, &longs(&[&head[..], &chain].concat())).unwrap();
        let frame = |value, in_kernel| Address { value, in_kernel };
        let stack = vec![frame(top | 1, true), frame(0x40, false)];
        assert_eq!((time_ns, record), (99, Record::Ran { process: 5, thread: 6, stack }));
        let fault = longs(&[13, 0x40, pair(5, 6), 99, 0x7000]);
        let at = frame(0x40, false);
        let want = Record::Faulted { process: 5, at, touched: 0x7000, is_major: true };
        assert_eq!(read(b::PERF_RECORD_SAMPLE, 0, &fault), Some((99, want)));
        let mut fill = longs(&[14, top, pair(5, 6), 99, 2, user, 0x40]);
        fill.extend(40_u32.to_ne_bytes());
        fill.extend(longs(&[0, 1, 77, 0, u64::from(8_u32) | 2 << 32]));
        let filled = Record::Filled { process: 5, at: Some(at), device: 8, inode: 77, pages: 4 };
        assert_eq!(read(b::PERF_RECORD_SAMPLE, 0, &fill), Some((99, filled)));
    }

    #[test]
    fn mappings_names_and_tasks_have_their_time_at_the_end() {
        let trailer = [pair(5, 6), 99, 11];
        let mut map = longs(&[pair(5, 6), 0x1000, 0x2000, 0x3000, pair(8, 1), 77, 0, pair(5, 2)]);
        map.extend(*b"/lib/x\0\0");
        map.extend(longs(&trailer));
        let mapping = Mapping { start: 0x1000, bytes: 0x2000, offset: 0x3000, is_code: true };
        let object = Object::File { path: "/lib/x".into(), device: 8 << 20 | 1, inode: 77 };
        let want = Record::Mapped { process: 5, mapping, object };
        assert_eq!(read(b::PERF_RECORD_MMAP2, 0, &map), Some((99, want)));
        let mut name = longs(&[pair(5, 6)]);
        name.extend(*b"sh\0\0\0\0\0\0");
        name.extend(longs(&trailer));
        let want = Record::Named { process: 5, thread: 6, name: "sh".into(), executes: true };
        let misc = u16::try_from(b::PERF_RECORD_MISC_COMM_EXEC).unwrap();
        assert_eq!(read(b::PERF_RECORD_COMM, misc, &name), Some((99, want)));
        let fork = longs(&[&[pair(7, 5), pair(8, 6), 99][..], &trailer].concat());
        let want = Record::Began { process: 7, parent: 5, thread: 8, parent_thread: 6 };
        assert_eq!(read(b::PERF_RECORD_FORK, 0, &fork), Some((99, want)));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(kind in 0_u32..20, misc: u16, first in 10_u64..16, bytes: Vec<u8>) {
            let _ = read(kind, misc, &bytes);
            let _ = read(b::PERF_RECORD_SAMPLE, misc, &[&longs(&[first])[..], &bytes].concat());
        }
    }
}
