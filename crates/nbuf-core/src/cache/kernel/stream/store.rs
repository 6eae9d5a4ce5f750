//! Packed touches in small pieces, which fit where the records they are made of stood.
//!
//! Invariant: all pieces but the last are full. Cost: 12 bytes a touch, and never more than one
//! piece too much, where a growing vector asks for one twice as large.

use super::touch::Packed;

/// Touches in a piece, as a power of two: 96 KiB.
const PIECE_BITS: u32 = 13;
const PIECE: usize = 1 << PIECE_BITS;

/// Touches in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    pieces: Vec<Vec<Packed>>,
}

impl Store {
    pub(super) fn push(&mut self, touch: Packed) {
        match self.pieces.last_mut() {
            Some(piece) if piece.len() < PIECE => piece.push(touch),
            _ => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(touch);
                self.pieces.push(piece);
            }
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&Packed> {
        self.pieces.get(at >> PIECE_BITS)?.get(at % PIECE)
    }

    pub(super) fn last(&self) -> Option<&Packed> {
        self.pieces.last()?.last()
    }

    pub(super) fn len(&self) -> usize {
        let last = self.pieces.last().map_or(0, Vec::len);
        self.pieces.len().saturating_sub(1) * PIECE + last
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Touch, TouchKind};
    use super::*;

    #[test]
    fn pieces_do_not_show() {
        let mut store = Store::default();
        assert_eq!((store.len(), store.last().is_none()), (0, true));
        let count = 2 * PIECE + 3;
        for first in (0..).take(count) {
            let kind = TouchKind::Read;
            let touch =
                Touch { file: 0, stream: 0, first, count: 1, file_pages: 1, work_us: 0, kind };
            store.push(Packed::of(&touch).0);
            assert_eq!(store.len(), first as usize + 1);
        }
        assert!((0..count).all(|at| store.get(at).is_some_and(|t| t.first as usize == at)));
        assert!(store.get(count).is_none());
        assert_eq!(store.last().map(|touch| touch.first as usize), Some(count - 1));
    }
}
