//! The volumes, files and name spaces of a trace: names, numbered in the order they appear.

use std::collections::HashMap;

use super::hash::Hashes;
use crate::units::table_bytes;

/// Names and their numbers. Most traces ask the same object many times in a row, so the last one
/// is tried before the table.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    names: Vec<String>,
    numbers: HashMap<Box<[u8]>, u32, Hashes>,
    last: Vec<u8>,
    last_number: u32,
    /// Bytes of all names.
    text_bytes: u64,
}

impl Objects {
    /// The number of a name. Bytes that are no text are shown as `U+FFFD`, and stay apart.
    ///
    /// Names beyond 2^32 share the last number; no trace has as many.
    #[inline]
    pub fn number(&mut self, name: &[u8]) -> u32 {
        if !self.names.is_empty() && self.last == name {
            return self.last_number;
        }
        self.look_up(name)
    }

    /// The number of the name `first,second`: a device as `blkparse` writes it.
    pub(super) fn pair(&mut self, first: u64, second: u64) -> u32 {
        self.number(format!("{first},{second}").as_bytes())
    }

    fn look_up(&mut self, name: &[u8]) -> u32 {
        let number = if let Some(&number) = self.numbers.get(name) {
            number
        } else {
            let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            self.text_bytes += name.len() as u64;
            self.names.push(String::from_utf8_lossy(name).into_owned());
            self.numbers.insert(name.into(), number);
            number
        };
        self.last.clear();
        self.last.extend_from_slice(name);
        self.last_number = number;
        number
    }

    /// Memory in use, at the most: each name is kept twice.
    pub fn bytes(&self) -> u64 {
        const NAME_BYTES: u64 = 2 * size_of::<String>() as u64 + 2 * 16;
        const ENTRY_BYTES: u64 = size_of::<(Box<[u8]>, u32)>() as u64;
        let names = self.names.len() as u64;
        // What is no text grows to three times its length where it is shown.
        4 * self.text_bytes + names * NAME_BYTES + table_bytes(names, ENTRY_BYTES)
    }

    /// All names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_appear() {
        let mut objects = Objects::default();
        let numbers = [&b"usr.0"[..], b"usr.1", b"usr.1", b"", b"usr.0", b"\xff", b"\xfe", b""]
            .map(|name| objects.number(name));
        assert_eq!(numbers, [0, 1, 1, 2, 0, 3, 4, 2]);
        assert_eq!(objects.names(), ["usr.0", "usr.1", "", "\u{fffd}", "\u{fffd}"]);
    }

    #[test]
    fn a_first_name_without_letters_is_a_name() {
        let mut objects = Objects::default();
        assert_eq!(objects.number(b""), 0);
        assert_eq!(objects.number(b"a"), 1);
        assert_eq!(objects.names(), ["", "a"]);
    }
}
