//! The frames: one arena of bytes, and what each frame holds.
//!
//! Bytes are valid and dirty by the sector of 512 bytes, so that a small write needs no read before it,
//! and what a refused write touched does not make the rest of its frame invalid.

use super::State;

/// The unit in which bytes are valid or dirty.
pub(super) const SECTOR_BYTES: u64 = 512;

/// Sectors of a page, a bit each.
pub(super) type Mask = u64;

/// A frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// The page in it, by its number.
    pub id: u32,
    /// Sectors whose bytes are those of the page.
    pub valid: Mask,
    /// Sectors that the disc does not have and that no write under way has.
    pub dirty: Mask,
    /// Sectors that a write under way has.
    pub writing: Mask,
    /// The flush epoch in which the oldest bytes that are owed were written.
    pub epoch: u64,
    /// The same of bytes that were written while others were under way.
    pub epoch_next: u64,
    /// Whether the last write of it failed.
    pub is_failed: bool,
    /// The attempt in which that was.
    pub attempt: u64,
    /// Whether it was read ahead, and nothing has used it.
    pub is_ahead: bool,
}

impl Frame {
    /// Whether the disc lacks bytes of it.
    #[inline]
    pub(super) fn is_owed(&self) -> bool {
        self.dirty | self.writing != 0
    }

    /// Its state, for those who look.
    pub(super) fn state(&self) -> State {
        match (self.is_failed, self.writing != 0, self.dirty != 0) {
            (true, _, _) => State::Failed,
            (_, true, _) => State::Writing,
            (_, _, true) => State::Dirty,
            _ => State::Clean,
        }
    }
}

/// All frames.
pub(super) struct Frames {
    bytes: Vec<u8>,
    frame_bytes: usize,
    states: Vec<Frame>,
    free: Vec<u32>,
}

impl Frames {
    /// This many frames of this many bytes.
    pub(super) fn new(count: u32, frame_bytes: u32) -> Self {
        let frame_bytes = frame_bytes as usize;
        let length = (count as usize).checked_mul(frame_bytes).expect("a size in memory");
        Self {
            bytes: vec![0; length],
            frame_bytes,
            states: vec![Frame::default(); count as usize],
            free: (0..count).rev().collect(),
        }
    }

    /// A free frame for a page. The policy never holds more pages than there are frames.
    pub(super) fn take(&mut self, id: u32) -> u32 {
        let frame = self.free.pop().expect("as many frames as pages");
        self.states[frame as usize] = Frame { id, ..Frame::default() };
        frame
    }

    /// Frees a frame.
    pub(super) fn give(&mut self, frame: u32) {
        debug_assert!(!self.states[frame as usize].is_owed(), "what is owed does not go");
        self.free.push(frame);
    }

    /// What a frame holds.
    #[inline]
    pub(super) fn get(&self, frame: u32) -> &Frame {
        &self.states[frame as usize]
    }

    /// What a frame holds, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, frame: u32) -> &mut Frame {
        &mut self.states[frame as usize]
    }

    /// The bytes of a frame.
    #[inline]
    pub(super) fn bytes(&self, frame: u32) -> &[u8] {
        let from = frame as usize * self.frame_bytes;
        &self.bytes[from..from + self.frame_bytes]
    }

    /// The bytes of a frame, to be changed.
    #[inline]
    pub(super) fn bytes_mut(&mut self, frame: u32) -> &mut [u8] {
        let from = frame as usize * self.frame_bytes;
        &mut self.bytes[from..from + self.frame_bytes]
    }

    /// Frames in use.
    pub(super) fn used(&self) -> usize {
        self.states.len() - self.free.len()
    }
}

/// The sectors `from..to` of a page.
#[inline]
pub(super) fn sectors(from: u64, to: u64) -> Mask {
    if to <= from {
        return 0;
    }
    let ones = if to >= 64 { Mask::MAX } else { (1 << to) - 1 };
    ones & (Mask::MAX << from)
}

/// The runs of adjacent sectors in a mask, as `from..to`.
pub(super) fn runs(mut mask: Mask) -> impl Iterator<Item = (u64, u64)> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let from = u64::from(mask.trailing_zeros());
        let to = from + u64::from((mask >> from).trailing_ones());
        mask &= !sectors(from, to);
        Some((from, to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found() {
        assert_eq!(runs(0b1100_1011).collect::<Vec<_>>(), [(0, 2), (3, 4), (6, 8)]);
        assert_eq!(runs(Mask::MAX).collect::<Vec<_>>(), [(0, 64)]);
        assert_eq!((sectors(3, 3), sectors(1, 3), sectors(0, 64)), (0, 0b110, Mask::MAX));
    }
}
