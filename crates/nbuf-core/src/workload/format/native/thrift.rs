//! Walks over a structure in Thrift's compact protocol, believing no count.
//!
//! Parquet keeps its own descriptions in this form. The `parquet` crate reserves memory for as many
//! row groups as a list claims to have; this walk, done first, refuses a list that claims more
//! elements than bytes are left, so that a damaged file is an error and not an end of the process.
//!
//! Cost: one pass, no allocation.
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

/// Structures within structures; Parquet's own go to about eight.
const DEPTH_MAX: u8 = 24;

/// Numbers of fields that are looked at.
const FIELDS: usize = 8;

/// What the walk found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Walked {
    /// Bytes the structure takes.
    pub(super) bytes: usize,
    /// The outermost structure's fields 0 to 7, as far as they are integers.
    pub(super) integers: [Option<i64>; FIELDS],
}

/// Walks over the structure at the front; `None` when it is damaged or cut off.
pub(super) fn walk(bytes: &[u8]) -> Option<Walked> {
    let mut walker = Walker { rest: bytes };
    let mut integers = [None; FIELDS];
    walker.structure(0, &mut |field, number| {
        let place = usize::try_from(field).ok();
        if let Some(slot) = place.and_then(|place| integers.get_mut(place)) {
            *slot = Some(number);
        }
    })?;
    Some(Walked { bytes: bytes.len() - walker.rest.len(), integers })
}

struct Walker<'a> {
    rest: &'a [u8],
}

impl Walker<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let folded = self.unsigned()?;
        Some((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }

    /// A count of elements that take at least a byte each.
    fn believable(&self, count: u64) -> Option<u64> {
        (count <= self.rest.len() as u64).then_some(count)
    }

    fn structure(&mut self, depth: u8, integer: &mut dyn FnMut(i64, i64)) -> Option<()> {
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.signed()?,
                step => field.checked_add(i64::from(step))?,
            };
            match head & 0x0f {
                // The value of a boolean field is its type.
                1 | 2 => {}
                4..=6 => integer(field, self.signed()?),
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u8) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.signed().map(drop),
            7 => self.skip(8),
            8 => {
                let bytes = self.unsigned()?;
                self.skip(bytes)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.unsigned()?,
                    few => u64::from(few),
                };
                for _ in 0..self.believable(count)? {
                    self.value(head & 0x0f, depth + 1)?;
                }
                Some(())
            }
            11 => {
                let count = self.unsigned()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                for _ in 0..self.believable(count)? {
                    self.value(kinds >> 4, depth + 1)?;
                    self.value(kinds & 0x0f, depth + 1)?;
                }
                Some(())
            }
            12 => self.structure(depth + 1, &mut |_, _| {}),
            13 => self.skip(16),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_found_and_the_rest_walked_over() {
        // 1: i32 -3, 2: true, 3: list of 2 bytes, 9 (long form): binary "ab", 10: {1: i64 5}.
        let bytes =
            [0x15, 5, 0x11, 0x19, 0x23, 7, 8, 0x08, 18, 2, b'a', b'b', 0x1c, 0x16, 10, 0, 0, 99];
        let walked = walk(&bytes).unwrap();
        assert_eq!(walked.bytes, bytes.len() - 1);
        assert_eq!(walked.integers[1], Some(-3));
        assert_eq!(walked.integers[2..], [None; 6]);
        for cut in 0..walked.bytes {
            assert_eq!(walk(&bytes[..cut]), None, "cut at {cut}");
        }
    }

    #[test]
    fn a_list_longer_than_its_bytes_is_refused() {
        let bytes = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0];
        assert_eq!(walk(&bytes), None);
    }

    #[test]
    fn nesting_without_end_is_refused() {
        assert_eq!(walk(&[0x1c; 10_000]), None);
        assert_eq!(walk(&[0x19; 10_000]), None);
    }
}
