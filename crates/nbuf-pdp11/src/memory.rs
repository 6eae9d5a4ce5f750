//! Core memory: words, up to the page of device registers.
//!
//! Addresses count bytes, and a word has its low byte first. Devices access it by words, without
//! the processor. **Invariant:** no access is outside the array.

/// The first address of the device registers.
pub const IO_PAGE: u16 = 0o160_000;

/// The core of a machine with 16 K words, the size for First Edition Unix.
pub const CORE_BYTES: u16 = 0o100_000;

/// The core of a machine.
#[derive(Clone)]
pub struct Memory {
    words: Box<[u16; 32_768]>,
    /// The first address without core; absent addresses go up to the page of registers.
    size_bytes: u16,
}

impl Memory {
    /// Makes zeroed core, at most up to the registers.
    #[expect(clippy::large_stack_arrays, reason = "it goes to the heap, once a machine")]
    pub fn new(size_bytes: u16) -> Self {
        Self { words: Box::new([0; 32_768]), size_bytes: size_bytes.min(IO_PAGE) & !1 }
    }

    /// The size of the core.
    pub fn size_bytes(&self) -> u16 {
        self.size_bytes
    }

    /// The word at an even address; `None` without core there.
    #[inline]
    pub fn word(&self, address: u16) -> Option<u16> {
        let answers = address < self.size_bytes && address & 1 == 0;
        answers.then(|| self.words[usize::from(address >> 1)])
    }

    /// Writes a word at an even address. Returns `false` without core there.
    #[inline]
    pub fn set_word(&mut self, address: u16, value: u16) -> bool {
        let answers = address < self.size_bytes && address & 1 == 0;
        if answers {
            self.words[usize::from(address >> 1)] = value;
        }
        answers
    }

    /// The byte at an address; `None` without core there.
    #[inline]
    pub fn byte(&self, address: u16) -> Option<u8> {
        let word = self.words[usize::from(address >> 1)];
        (address < self.size_bytes).then(|| word.to_le_bytes()[usize::from(address & 1)])
    }

    /// Writes a byte. Returns `false` without core there.
    #[inline]
    pub fn set_byte(&mut self, address: u16, value: u8) -> bool {
        let answers = address < self.size_bytes;
        if answers {
            let word = &mut self.words[usize::from(address >> 1)];
            let shift = (address & 1) * 8;
            *word = (*word & !(0xff << shift)) | (u16::from(value) << shift);
        }
        answers
    }

    /// Writes bytes from an even address on, up to the end of the core.
    pub fn load(&mut self, address: u16, bytes: &[u8]) {
        let mut at = address;
        for &byte in bytes {
            if !self.set_byte(at, byte) {
                return;
            }
            at = at.wrapping_add(1);
        }
    }

    /// Copies words to a device from a bus address of 18 bits. It takes consecutive words, or
    /// repeats the first (`is_fixed`). It returns fewer words if the core ends.
    pub fn gather(&self, address: u32, words: u32, is_fixed: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for at in (0..words).map(|word| if is_fixed { address } else { address + 2 * word }) {
            let Some(word) = u16::try_from(at).ok().and_then(|at| self.word(at)) else { break };
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Copies words from a device in the same way. Returns the number of words copied.
    pub fn scatter(&mut self, address: u32, bytes: &[u8], is_fixed: bool) -> u32 {
        let mut taken = 0;
        for pair in bytes.chunks_exact(2) {
            let at = if is_fixed { address } else { address + 2 * taken };
            let word = u16::from_le_bytes([pair[0], pair[1]]);
            if !u16::try_from(at).is_ok_and(|at| self.set_word(at, word)) {
                break;
            }
            taken += 1;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_low_byte_first_and_end_with_the_core() {
        let mut memory = Memory::new(8);
        assert!(memory.set_word(6, 0o123_456));
        assert_eq!((memory.byte(6), memory.byte(7)), (Some(0o56), Some(0o247)));
        assert!(memory.set_byte(7, 1));
        assert_eq!(memory.word(6), Some(0o456 & 0o377 | 0o400));
        assert_eq!((memory.word(8), memory.word(5), memory.byte(8)), (None, None, None));
        assert!(!memory.set_word(8, 1) && !memory.set_byte(8, 1));
    }

    #[test]
    fn devices_stop_where_core_ends() {
        let mut memory = Memory::new(8);
        assert_eq!(memory.scatter(4, &[1, 0, 2, 0, 3, 0], false), 2);
        assert_eq!(memory.gather(4, 3, false), [1, 0, 2, 0]);
        assert_eq!(memory.gather(4, 3, true), [1, 0, 1, 0, 1, 0]);
        assert_eq!(memory.scatter(0o200_000, &[1, 0], false), 0);
    }
}
