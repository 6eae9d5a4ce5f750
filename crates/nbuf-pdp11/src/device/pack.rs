//! The cartridge of an RK03 or RK05 drive: an arm, and twelve sectors a track.
//!
//! It has 203 cylinders of two surfaces; a block is a sector of 256 words. A request waits for the
//! arm, then for its first sector. The timing gives the arm's time for a distance. A transfer that
//! runs past a cylinder pays no second seek. DEC, *PDP-11 Peripherals Handbook* (1972), RK11. It
//! has no queue, because the controller runs one command at a time.

use nbuf::disc::{Breakdown, Completion, Disc};
use nbuf::trace::request::Request;
use nbuf::units::Nanos;

use super::drum::carry_out;
use super::transfer::Store;
use crate::timing::PackTiming;

/// The sectors of a track.
pub const SECTORS: u64 = 12;
/// The tracks of a cylinder.
pub const SURFACES: u64 = 2;
/// The cylinders of a pack.
pub const CYLINDERS: u64 = 203;
/// The bytes of a sector.
pub const SECTOR_BYTES: u64 = 512;
/// The bytes of a pack.
pub const PACK_BYTES: u64 = CYLINDERS * SURFACES * SECTORS * SECTOR_BYTES;

/// A pack, its contents, and the position of its arm.
#[derive(Clone)]
pub struct Pack {
    image: Vec<u8>,
    timing: PackTiming,
    cylinder: u64,
    done: Option<Completion>,
}

impl Pack {
    /// Makes a pack with this image, padded with zeros to its size, and the arm at the rim.
    pub fn new(mut image: Vec<u8>, timing: PackTiming) -> Self {
        image.resize(usize::try_from(PACK_BYTES).unwrap_or(0), 0);
        Self { image, timing, cylinder: 0, done: None }
    }

    fn breakdown(&self, now: Nanos, request: &Request) -> Breakdown {
        let timing = &self.timing;
        let sector = request.offset / SECTOR_BYTES;
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
        let words = request.length_bytes.div_ceil(2);
        let transfer = Nanos(sector_time * words / (SECTOR_BYTES / 2));
        Breakdown { queued: Nanos::ZERO, overhead: timing.overhead, seek, rotation, transfer }
    }
}

impl Disc for Pack {
    fn size_bytes(&self) -> u64 {
        self.image.len() as u64
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        let breakdown = self.breakdown(now, &request);
        self.cylinder = request.offset / (SECTOR_BYTES * SECTORS * SURFACES);
        self.done = Some(carry_out(&mut self.image, now, request, data, breakdown));
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
    use nbuf::disc::wait_for;
    use nbuf::trace::request::Op;

    use super::*;
    use crate::timing::Timing;

    #[test]
    fn the_arm_moves_and_then_the_sector_comes() {
        let mut pack = Pack::new(Vec::new(), Timing::hardware(60).pack);
        let mut check = |now: f64, block: u64, seek: f64, rotation: f64| {
            let read = Request::new(Op::Read, block * SECTOR_BYTES, 512);
            let now = Nanos::from_millis(now);
            let done = wait_for(&mut pack, now, read, vec![0; 512]).unwrap();
            let breakdown = done.breakdown;
            assert!((breakdown.seek.millis() - seek).abs() < 0.01, "{block}: {:?}", breakdown.seek);
            assert!(
                (breakdown.rotation.millis() - rotation).abs() < 0.01,
                "{block}: {breakdown:?}"
            );
            assert!((breakdown.transfer.millis() - 40.0 / 12.0).abs() < 0.01);
        };
        check(0.0, 0, 0.0, 0.0);
        check(0.0, 3, 0.0, 10.0);
        check(0.0, 24 * 202, 85.0, 35.0);
        check(0.0, 24 * 201, 10.0, 30.0);
    }
}
