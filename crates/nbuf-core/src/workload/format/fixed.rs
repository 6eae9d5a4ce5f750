//! Records of a fixed size: what binary formats have in common.

use super::batch::{BATCH_REQUESTS, Batch, Fault, Place, ProblemKind};
use crate::trace::request::Request;

/// Takes whole records of `SIZE` bytes from the front, none of which can be wrong.
#[inline]
pub(super) fn each<const SIZE: usize>(
    bytes: &[u8],
    end: bool,
    out: &mut Batch,
    request: impl FnMut(&[u8; SIZE]) -> Request,
) -> usize {
    let records = whole::<SIZE>(bytes, out);
    out.requests.extend(records.iter().map(request));
    finish::<SIZE>(bytes, records.len() * SIZE, end, out)
}

/// Takes whole records of `SIZE` bytes from the front, some of which may be wrong or ask nothing.
#[inline]
pub(super) fn each_checked<const SIZE: usize>(
    bytes: &[u8],
    end: bool,
    out: &mut Batch,
    mut request: impl FnMut(&[u8; SIZE], &mut Batch) -> Result<(), Fault>,
) -> usize {
    let records = whole::<SIZE>(bytes, out);
    for (at, record) in records.iter().enumerate() {
        if let Err(fault) = request(record, out) {
            let place = Place::Byte(out.bytes + (at * SIZE) as u64);
            fault.tell_bytes(&mut out.problems, place, record);
        }
    }
    finish::<SIZE>(bytes, records.len() * SIZE, end, out)
}

/// As many whole records as the batch has room for.
fn whole<'a, const SIZE: usize>(bytes: &'a [u8], out: &Batch) -> &'a [[u8; SIZE]] {
    let (records, _) = bytes.as_chunks::<SIZE>();
    &records[..records.len().min(BATCH_REQUESTS.saturating_sub(out.requests.len()))]
}

/// Counts what was taken, and tells of half a record at the end.
fn finish<const SIZE: usize>(bytes: &[u8], taken: usize, end: bool, out: &mut Batch) -> usize {
    out.bytes += taken as u64;
    let left = bytes.len() - taken;
    if !end || left == 0 || left >= SIZE {
        return taken;
    }
    out.problems.add(ProblemKind::CutOff, Place::Byte(out.bytes), || {
        format!("the input ends {left} bytes into a record of {SIZE}; copy it again")
    });
    out.bytes += left as u64;
    bytes.len()
}

impl Fault {
    /// The problem it is, with the record in hexadecimal.
    #[cold]
    fn tell_bytes(self, out: &mut super::batch::Problems, place: Place, record: &[u8]) {
        let digits: Vec<String> = record.iter().map(|byte| format!("{byte:02x}")).collect();
        self.tell(out, place, digits.concat().as_bytes());
    }
}

/// A little-endian number at a place of a record.
macro_rules! little {
    ($kind:ty, $record:expr, $at:expr) => {{
        const SIZE: usize = size_of::<$kind>();
        let mut bytes = [0; SIZE];
        bytes.copy_from_slice(&$record[$at..$at + SIZE]);
        <$kind>::from_le_bytes(bytes)
    }};
}
pub(super) use little;

/// Seconds of 32 bits, in nanoseconds.
#[inline]
pub(super) fn seconds_ns(seconds: u32) -> i64 {
    i64::from(seconds) * 1_000_000_000
}
