//! lcs: libCacheSim's own binary, versions 1 to 3.
//!
//! A header of 8192 bytes: u64 magic, u64 version, statistics, and the magic again at byte 8184.
//! Then records, little-endian: u32 seconds, u64 key, then in version 1 u32 size; in 2 u32 size, u32
//! of which the low 8 bits are the operation and the rest the tenant; in 3 i64 size, the same, u32
//! time to live in seconds (0 is none). Each ends in i64 next request, which is not taken over. An operation 0 is a read.
//! Unit: keys; the object is the tenant. Source: `lcs.h`, and the sample in its `data/`.

use super::batch::{Batch, Fault};
use super::fixed::{each, each_checked, little, seconds_ns};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::twr::op;
use crate::trace::Lifetime;
use crate::trace::request::{Op, Request, Unit};

const MAGIC: u64 = 0x1234_5678_9abc_def0;
const HEADER_BYTES: usize = 8192;

pub(super) const ROW: Format = Format {
    name: "lcs",
    summary: "libCacheSim's own binary, versions 1 to 3",
    unit: Unit::Keys,
    source: "github.com/1a1a11a/libCacheSim (lcs.h)",
    suffixes: &[".lcs"],
    parameters: "",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

struct Lcs {
    version: u64,
    header_left: usize,
    /// The last tenant, and its number: names are made of tenants only when they change.
    tenant: Option<(u32, u32)>,
}

fn make(parameters: &Parameters, head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    let wrong = |wanted| ParameterError::Beginning { format: "lcs", wanted };
    let header = head.bytes.get(..HEADER_BYTES).ok_or(wrong("a header of 8192 bytes"))?;
    if little!(u64, header, 0) != MAGIC || little!(u64, header, 8184) != MAGIC {
        return Err(wrong("its magic number, at bytes 0 and 8184"));
    }
    let version = little!(u64, header, 8);
    if !(1..=3).contains(&version) {
        return Err(wrong(
            "a header of version 1, 2 or 3; convert it with libCacheSim's traceConv",
        ));
    }
    Ok(Made::keys(Lcs { version, header_left: HEADER_BYTES, tenant: None }))
}

impl Lcs {
    fn tenant(&mut self, tenant: u32, out: &mut Batch) -> u32 {
        match self.tenant {
            Some((last, number)) if last == tenant => number,
            _ => {
                let number = out.objects.number(format!("tenant {tenant}").as_bytes());
                self.tenant = Some((tenant, number));
                number
            }
        }
    }

    fn operated(
        &mut self,
        record: &[u8],
        length_bytes: u64,
        operation_at: usize,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        let word = little!(u32, record, operation_at);
        let op = op(word & 0xff)?;
        let object = self.tenant(word >> 8, out);
        let time_ns = seconds_ns(little!(u32, record, 0));
        let lifetime = match record.get(operation_at + 4..operation_at + 8) {
            Some(field) if self.version == 3 => {
                Lifetime::from_seconds(little!(u32, field, 0).into())
            }
            _ => Lifetime::NONE,
        };
        let request = Request::new(op, little!(u64, record, 4), length_bytes);
        out.requests.push(Request { time_ns, object, lifetime, ..request });
        Ok(())
    }
}

impl Parser for Lcs {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        let header = self.header_left.min(bytes.len());
        self.header_left -= header;
        out.bytes += header as u64;
        let bytes = &bytes[header..];
        if self.header_left > 0 {
            return header;
        }
        header
            + match self.version {
                1 => each::<24>(bytes, end, out, |record| Request {
                    time_ns: seconds_ns(little!(u32, record, 0)),
                    ..Request::new(
                        Op::Read,
                        little!(u64, record, 4),
                        u64::from(little!(u32, record, 12)),
                    )
                }),
                2 => each_checked::<28>(bytes, end, out, |record, out| {
                    let length_bytes = u64::from(little!(u32, record, 12));
                    self.operated(record, length_bytes, 16, out)
                }),
                _ => each_checked::<36>(bytes, end, out, |record, out| {
                    let length_bytes = u64::try_from(little!(i64, record, 12))
                        .map_err(|_| Fault::malformed("a size of 0 or more"))?;
                    self.operated(record, length_bytes, 20, out)
                }),
            }
    }
}

fn looks(head: Head) -> Likeness {
    match head.bytes.first_chunk() {
        Some(first) if u64::from_le_bytes(*first) == MAGIC => Likeness::Certain,
        _ => Likeness::No,
    }
}
