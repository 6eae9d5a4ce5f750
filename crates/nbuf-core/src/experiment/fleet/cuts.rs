//! Where the inputs of a plan are cut into pieces: by time, or by the hash of their pages.
//!
//! Invariant: the pieces of an input have all of its accesses, and with hash parts an exact head besides.

use super::plan::Candidate;
use super::{Spec, Split};
use crate::experiment::result::FleetPiece;
use crate::meter::hashed::first_size;

/// Memory of a distinct page.
const PAGE_MEMORY_BYTES: u64 = 40;
/// Accesses for each distinct page, in an estimate.
const ACCESSES_PER_PAGE: u64 = 10;
/// Pieces of a volume at most, and accesses of a piece at least: a smaller one costs more than it saves.
const PIECES_MAX: u64 = 64;
const PIECE_ACCESSES_MIN: u64 = 1_000_000;

/// Memory for the pages of these accesses, in an estimate.
pub(super) fn memory_of(accesses: u64) -> u64 {
    accesses / ACCESSES_PER_PAGE * PAGE_MEMORY_BYTES
}

/// The pieces of an input, each with the part of its accesses that it counts.
pub(super) fn pieces(
    candidate: &Candidate,
    share: u64,
    memory: u64,
    spec: &Spec,
    in_group: usize,
) -> Vec<(FleetPiece, u64)> {
    let accesses = candidate.accesses;
    let needed = memory_of(accesses);
    let is_giant = accesses > share;
    // Parts of one volume are added up by their number, so all inputs of a group need the same.
    let can_hash = in_group == 1;
    match spec.split {
        Split::Time(pieces) => by_time(accesses, pieces.into()),
        Split::Hash(parts) => by_hash(parts),
        Split::Auto if needed > memory && can_hash => {
            let parts = needed.div_ceil(memory.max(1)).min(1 << 12).next_power_of_two();
            by_hash(u32::try_from(parts).unwrap_or(1 << 12))
        }
        Split::Auto if is_giant => {
            by_time(accesses, accesses.div_ceil(share).min(accesses / PIECE_ACCESSES_MIN))
        }
        Split::None | Split::Auto => vec![(FleetPiece::Whole, 1)],
    }
}

fn by_time(accesses: u64, pieces: u64) -> Vec<(FleetPiece, u64)> {
    let pieces = pieces.clamp(1, PIECES_MAX);
    if pieces == 1 {
        return vec![(FleetPiece::Whole, 1)];
    }
    let length = accesses.div_ceil(pieces).max(1);
    // The number of requests is an estimate: the last piece has the rest.
    let ends = (0..pieces).map(|piece| {
        let to = (piece + 1 < pieces).then(|| (piece + 1) * length);
        (FleetPiece::Time { from: piece * length, to }, pieces)
    });
    ends.collect()
}

fn by_hash(parts: u32) -> Vec<(FleetPiece, u64)> {
    if parts < 2 {
        return vec![(FleetPiece::Whole, 1)];
    }
    let pages = u32::try_from(first_size(parts)).unwrap_or(u32::MAX);
    let head = (FleetPiece::Head { pages, parts }, 1);
    let parts = (0..parts).map(|part| (FleetPiece::Hash { part, parts }, parts.into()));
    std::iter::once(head).chain(parts).collect()
}
