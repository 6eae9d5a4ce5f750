//! Fills of the tier, after the owner has the bytes.

use super::geometry::{mask, runs};
use super::{Move, Tiered};
use crate::disc::Disc;
use crate::trace::request::{Op, Request};

/// Bytes of fills under way. A tier that is slower than the backing gets a part of what is read.
const FILLING_BYTES_MAX: u64 = 8 << 20;

/// The sum of a part at a byte of the disc. The byte is in it, so that a part in a wrong place is not taken for another.
pub(super) fn sum(at: u64, data: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&at.to_le_bytes());
    sum.update(data);
    sum.finalize()
}

impl<D: Disc, T: Disc> Tiered<D, T> {
    /// Takes bytes in that are the newest ones from this byte on: the parts that they cover.
    pub(super) fn fill(&mut self, from: u64, data: &[u8]) {
        let to = from + data.len() as u64;
        if data.is_empty() || self.lost.is_some() || self.is_settling {
            return;
        }
        for number in self.geometry.blocks_of(from, to) {
            let covered = self.geometry.covered(number, from, to);
            if covered == 0 {
                continue;
            }
            if self.filling_bytes >= FILLING_BYTES_MAX {
                self.counts.skipped += 1;
                continue;
            }
            let Some((slot, is_other)) = self.blocks.take_in(number) else { continue };
            self.counts.evictions += u64::from(is_other);
            for run in runs(self.blocks.fillable(slot, covered)) {
                self.fill_run((slot, number), run, (from, data));
            }
        }
    }

    /// Writes a run of parts to its slot.
    fn fill_run(
        &mut self,
        (slot, number): (u32, u64),
        run: (u32, u32),
        (from, data): (u64, &[u8]),
    ) {
        let (begins, ends) = self.geometry.bytes_of(number, run);
        let place = |byte: u64| usize::try_from(byte - from).unwrap_or(usize::MAX);
        let Some(bytes) = data.get(place(begins)..place(ends)) else { return };
        let part_bytes = self.geometry.part_bytes;
        let sums = (0_u64..).zip(bytes.chunks(part_bytes as usize));
        let sums: Vec<u32> =
            sums.map(|(part, data)| sum(begins + part * u64::from(part_bytes), data)).collect();
        self.blocks.begin_fill(slot, run, &sums);
        let length = ends - begins;
        self.filling_bytes += length;
        self.counts.fills += 1;
        self.counts.fill_bytes += length;
        let request = Request::new(Op::Write, self.geometry.place(slot, run.0), length);
        let what = Move::Fill { slot, parts: mask(run), bytes: length };
        self.ask_tier(what, request, bytes.to_vec());
    }
}
