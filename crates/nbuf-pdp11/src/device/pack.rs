//! The cartridge of an RK03 or RK05 drive: an arm, and twelve sectors that come round.
//!
//! 203 cylinders of two surfaces; a block is a sector of 256 words. The arm takes as long as the
//! timing says for so many cylinders, then the first sector must come. A transfer that runs past a
//! cylinder is charged no second seek. DEC, *PDP-11 Peripherals Handbook* (1972), RK11. Not for
//! queues: the controller does one command at a time.

use nbuf::disc::{Completion, Disc, Request, Spent};
use nbuf::units::Nanos;

use super::drum::carry_out;
use super::transfer::Store;
use crate::timing::PackTiming;

/// Sectors of a track.
pub const SECTORS: u64 = 12;
/// Tracks of a cylinder.
pub const SURFACES: u64 = 2;
/// Cylinders of a pack.
pub const CYLINDERS: u64 = 203;
/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 512;
/// Bytes of a pack.
pub const PACK_BYTES: u64 = CYLINDERS * SURFACES * SECTORS * SECTOR_BYTES;

/// See the module.
#[derive(Clone)]
pub struct Pack {
    image: Vec<u8>,
    timing: PackTiming,
    cylinder: u64,
    done: Option<Completion>,
}

impl Pack {
    /// A pack with these bytes on it, zeroes up to its size, its arm at the rim.
    pub fn new(mut image: Vec<u8>, timing: PackTiming) -> Self {
        image.resize(usize::try_from(PACK_BYTES).unwrap_or(0), 0);
        Self { image, timing, cylinder: 0, done: None }
    }

    fn spent(&self, now: Nanos, request: &Request) -> Spent {
        let timing = &self.timing;
        let sector = request.offset_bytes / SECTOR_BYTES;
        let cylinder = sector / (SECTORS * SURFACES);
        let seek = timing.seek(cylinder.abs_diff(self.cylinder));
        let sector_time = timing.turn.0 / SECTORS;
        let rotation = if sector_time == 0 || request.length_bytes == 0 {
            Nanos::ZERO
        } else {
            let angle = (now + timing.phase + timing.overhead + seek).0 % timing.turn.0;
            let first = sector % SECTORS * sector_time;
            Nanos((first + timing.turn.0 - angle) % timing.turn.0)
        };
        let words = u64::from(request.length_bytes.div_ceil(2));
        let transfer = Nanos(sector_time * words / (SECTOR_BYTES / 2));
        Spent { queued: Nanos::ZERO, overhead: timing.overhead, seek, rotation, transfer }
    }
}

impl Disc for Pack {
    fn size_bytes(&self) -> u64 {
        self.image.len() as u64
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        let spent = self.spent(now, &request);
        self.cylinder = request.offset_bytes / (SECTOR_BYTES * SECTORS * SURFACES);
        self.done = Some(carry_out(&mut self.image, now, request, spent));
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        self.done.take_if(|done| done.at <= until)
    }

    fn under_way(&self) -> usize {
        usize::from(self.done.is_some())
    }
}

impl Store for Pack {
    fn image(&self) -> &[u8] {
        &self.image
    }

    fn copy(&self) -> Box<dyn Store> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use nbuf::disc::{Operation, wait_for};

    use super::*;
    use crate::timing::Timing;

    #[test]
    fn the_arm_moves_and_then_the_sector_comes() {
        let mut pack = Pack::new(Vec::new(), Timing::hardware(60).pack);
        let mut check = |now: f64, block: u64, seek: f64, rotation: f64| {
            let request = Request {
                tag: 0,
                operation: Operation::Read,
                offset_bytes: block * SECTOR_BYTES,
                length_bytes: 512,
                data: vec![0; 512],
            };
            let done = wait_for(&mut pack, Nanos::from_millis(now), request).unwrap();
            let spent = done.spent;
            assert!((spent.seek.millis() - seek).abs() < 0.01, "{block}: {:?}", spent.seek);
            assert!((spent.rotation.millis() - rotation).abs() < 0.01, "{block}: {spent:?}");
            assert!((spent.transfer.millis() - 40.0 / 12.0).abs() < 0.01);
        };
        check(0.0, 0, 0.0, 0.0);
        check(0.0, 3, 0.0, 10.0);
        check(0.0, 24 * 202, 85.0, 35.0);
        check(0.0, 24 * 201, 10.0, 30.0);
    }
}
