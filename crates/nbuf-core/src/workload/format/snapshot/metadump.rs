//! memcached's items, as `lru_crawler metadump all` prints them.
//!
//! `key=user%3A1 exp=1795957359 la=1795956359 cas=2 fetch=no cls=1 size=79`: a line for each item, and `END`. The key has
//! escapes as in the log of `watch`. `exp` is the second in which the item expires, or -1; `la` is its last access or
//! store. So it lived for `exp - la` seconds or longer. `size` is all that the item takes: a header of 48 bytes, 8 for
//! `cas` unless that is 0, 4 for client flags unless these are 0, key and its end, value and its line end. Versions
//! without `flags=` print the same size: the value then has 4 bytes too many if the client sets flags.
//! Source: memcached 1.6 (`crawler.c`, `ITEM_ntotal` in `memcached.h`), and dumps of 1.6.18.

use std::io::BufRead;

use super::bytes::{Bytes, Stop};
use super::{Found, Item};
use crate::trace::Lifetime;
use crate::workload::format::fields::number;
use crate::workload::format::hash::key;
use crate::workload::format::memcached_watch::decode;

/// What an item takes next to key and value.
const HEADER_BYTES: u64 = 48;
const CAS_BYTES: u64 = 8;
const FLAGS_BYTES: u64 = 4;
/// The zero byte of the key and the line end of the value.
const ENDS_BYTES: u64 = 1 + 2;

const LINE: &str = "a line key=KEY exp=SECOND la=SECOND cas=N size=BYTES, or END";

/// Reads items up to the end.
pub(super) fn read<R: BufRead>(bytes: &mut Bytes<R>, found: &mut Found<'_>) -> Result<(), Stop> {
    let (mut line, mut name) = (Vec::new(), Vec::new());
    let mut is_first = true;
    loop {
        match bytes.line(&mut line) {
            // `ERROR` begins like `END`.
            Ok(()) | Err(Stop::Wrong(_)) if is_first && !begins(&line) => {
                return Err(Stop::Unknown);
            }
            taken => taken?,
        }
        is_first = false;
        if line == b"END" {
            return Ok(());
        }
        let item = item(&line, &mut name).ok_or(Stop::Wrong(LINE))?;
        found.add(key(&name), item)?;
    }
}

/// Whether a first line is one of a dump, as far as it goes.
fn begins(line: &[u8]) -> bool {
    line.starts_with(b"key=") || b"key=".starts_with(line) || b"END".starts_with(line)
}

/// The item of a line; its key is in `name`.
fn item(line: &[u8], name: &mut Vec<u8>) -> Option<Item> {
    name.clear();
    let (mut size, mut used, mut ends) = (None, None, None);
    let (mut has_cas, mut has_flags) = (false, false);
    for word in line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()) {
        let (what, value) = word.split_at(memchr::memchr(b'=', word)?);
        let value = &value[1..];
        match what {
            b"key" if name.is_empty() => decode(value, name),
            b"exp" if value == b"-1" => {}
            b"exp" => ends = Some(number(value)?),
            b"la" => used = Some(number(value)?),
            b"cas" => has_cas = number(value)? > 0,
            b"flags" => has_flags = number(value)? > 0,
            b"size" => size = Some(number(value)?),
            _ => {}
        }
    }
    if name.is_empty() {
        return None;
    }
    let lifetime = match ends {
        None => Lifetime::NONE,
        Some(ends) => Lifetime::from_seconds(ends.saturating_sub(used?).max(1)),
    };
    let cas = if has_cas { CAS_BYTES } else { 0 };
    let flags = if has_flags { FLAGS_BYTES } else { 0 };
    let other = HEADER_BYTES + cas + flags + ENDS_BYTES + name.len() as u64;
    Some(Item::new(name, size?.saturating_sub(other), lifetime))
}
