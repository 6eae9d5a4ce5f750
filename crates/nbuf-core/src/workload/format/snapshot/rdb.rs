//! Redis' keys, from an RDB file.
//!
//! Behind `REDIS` and four digits, or `VALKEY` and three, stand opcodes of one byte each. Types of values are opcodes, too: a
//! key and its value follow. Opcodes before a key say when it expires, by the clock. `ctime` is the moment of the snapshot,
//! so a key lived for the time between them or longer. A key of another database is another one, as in the log of MONITOR.
//! Source: Redis 7.0 to 8.0 (`rdb.h`, `rdb.c`), and files of 7.0.15.

use std::io::BufRead;

use super::bytes::{Bytes, Stop};
use super::{Found, Item};
use crate::trace::Lifetime;
use crate::workload::format::fields::number;
use crate::workload::format::hash::key_in;

const MILLISECOND_NS: u64 = 1_000_000;

/// Reads keys up to the end.
pub(super) fn read<R: BufRead>(bytes: &mut Bytes<R>, found: &mut Found<'_>) -> Result<(), Stop> {
    let is_valkey = header(bytes.array()?).ok_or(Stop::Unknown)?;
    let (mut name, mut text) = (Vec::new(), Vec::new());
    let (mut database, mut now_ms, mut ends_ms) = (0, None, None);
    loop {
        match bytes.byte()? {
            0xff => return Ok(()),
            0xfe => {
                let number = u32::try_from(bytes.count()?);
                database = number.map_err(|_| Stop::Wrong("the number of a database"))?;
            }
            0xfd => ends_ms = Some(i64::from(i32::from_le_bytes(bytes.array()?)) * 1000),
            0xfc => ends_ms = Some(i64::from_le_bytes(bytes.array()?)),
            // Sizes of the hash tables.
            0xfb => skip_counts(bytes, 2)?,
            0xfa => {
                bytes.text(&mut name)?;
                if name == b"ctime" {
                    bytes.text(&mut text)?;
                    let ms = number(&text).and_then(|seconds| seconds.checked_mul(1000));
                    now_ms = ms.and_then(|ms| i64::try_from(ms).ok());
                } else {
                    bytes.string()?;
                }
            }
            // How often and how lately the key was used.
            0xf9 => bytes.skip(1)?,
            0xf8 => skip_counts(bytes, 1)?,
            // What a module keeps next to the keys: its name, and when it is loaded.
            0xf7 => {
                skip_counts(bytes, 3)?;
                bytes.module()?;
            }
            // A library of functions.
            0xf5 => {
                bytes.string()?;
            }
            // A slot of a cluster, its size, and its keys that expire.
            0xf4 => skip_counts(bytes, 3)?,
            kind => {
                bytes.text(&mut name)?;
                let value_bytes = bytes.value(kind, is_valkey)?;
                let lifetime = left(ends_ms.take(), now_ms);
                found.add(key_in(database, &name), Item::new(&name, value_bytes, lifetime))?;
            }
        }
    }
}

fn skip_counts<R: BufRead>(bytes: &mut Bytes<R>, counts: u32) -> Result<(), Stop> {
    for _ in 0..counts {
        bytes.count()?;
    }
    Ok(())
}

/// Whether a file is one of Valkey; nothing if it is no RDB file.
fn header(bytes: [u8; 9]) -> Option<bool> {
    let is_valkey = bytes.starts_with(b"VALKEY");
    let digits = if is_valkey { &bytes[6..] } else { bytes.strip_prefix(b"REDIS")? };
    digits.iter().all(u8::is_ascii_digit).then_some(is_valkey)
}

/// What was left to live. A file without its moment, of Redis before 3.2, does not state it.
fn left(ends_ms: Option<i64>, now_ms: Option<i64>) -> Lifetime {
    let (Some(ends_ms), Some(now_ms)) = (ends_ms, now_ms) else { return Lifetime::NONE };
    let left_ms = u64::try_from(ends_ms.saturating_sub(now_ms)).unwrap_or(0).max(1);
    Lifetime::from_ns(left_ms.saturating_mul(MILLISECOND_NS))
}
