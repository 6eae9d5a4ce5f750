//! The working set over time: how many distinct keys each piece of time asks for.
//!
//! P. Denning, *The Working Set Model for Program Behavior*, 1968. The end of the clock is not known, so
//! the counts are kept at seven widths, each twice the one before. When the narrowest has too many pieces,
//! it goes. Invariant: every count is exact. Cost: seven additions an access at the most.

use super::columns::COLUMNS;

/// Widths that are kept: the widest has one piece.
const LEVELS: usize = COLUMNS.ilog2() as usize + 1;

/// Distinct keys by piece of time.
#[derive(Clone, Debug)]
pub(crate) struct WorkingSet {
    /// The power of two that the narrowest pieces are wide.
    base: u32,
    levels: Vec<Vec<u64>>,
    distinct: u64,
}

impl Default for WorkingSet {
    fn default() -> Self {
        Self { base: 0, levels: vec![Vec::new(); LEVELS], distinct: 0 }
    }
}

impl WorkingSet {
    /// An access at `tick` to a key that was used `before`. Ticks never fall.
    pub(crate) fn add(&mut self, tick: u64, before: Option<u64>) {
        while tick >> self.base >= COLUMNS {
            self.base += 1;
            self.levels.remove(0);
            // All that came so far is in one piece of this width.
            self.levels.push(vec![self.distinct]);
        }
        self.distinct += u64::from(before.is_none());
        for (level, pieces) in (self.base..).zip(&mut self.levels) {
            // The widest level of the longest clock is wider than the clock.
            let piece_of = |tick: u64| tick.checked_shr(level).unwrap_or(0);
            let piece = piece_of(tick);
            if before.is_some_and(|before| piece_of(before) == piece) {
                return;
            }
            let piece = usize::try_from(piece).unwrap_or(0);
            if piece >= pieces.len() {
                pieces.resize(piece + 1, 0);
            }
            pieces[piece] += 1;
        }
    }

    /// Ticks of a piece.
    pub(crate) fn width(&self) -> u64 {
        1 << self.base
    }

    /// Distinct keys of each piece.
    pub(crate) fn pieces(&self) -> &[u64] {
        &self.levels[0]
    }
}
