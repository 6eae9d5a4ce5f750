//! Requests that change bytes: they go to the backing, and what the tier has of these bytes is not valid from then on.

use super::Tiered;
use crate::disc::Disc;
use crate::trace::request::{Op, Request};

impl<D: Disc, T: Disc> Tiered<D, T> {
    /// Begins a write, zeros or a trim. What is written fills the tier when the backing has it. A write that the backing
    /// refuses may have changed a part of its bytes.
    pub(super) fn change(&mut self, request: Request, data: Vec<u8>) {
        let from = request.offset;
        let to = from.saturating_add(request.length_bytes).min(self.geometry.size_bytes);
        if from < to {
            self.blocks.invalidate(from, to, request.op == Op::Discard);
        }
        self.pass(request, data);
    }
}
