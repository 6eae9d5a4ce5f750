//! The RS11, a fixed-head disc that Unix calls the drum. It has no arm, only rotation.
//!
//! A turn has 2048 words, and a word can move when it comes under its head. Cost: an image in
//! memory, and no host time for waiting. DEC, *PDP-11 Peripherals Handbook* (1972), RF11. Do not
//! use it for discs with sectors.

use nbuf::disc::{Breakdown, Completion, Disc, DiscError};
use nbuf::trace::request::{Op, Request};
use nbuf::units::Nanos;

use super::transfer::Store;
use crate::timing::DrumTiming;

/// The words that pass a head in a turn.
pub const TURN_WORDS: u64 = 2048;

/// A drum and its contents.
#[derive(Clone)]
pub struct Drum {
    image: Vec<u8>,
    timing: DrumTiming,
    done: Option<Completion>,
}

impl Drum {
    /// Makes a drum with this image, padded with zeros to its size.
    pub fn new(mut image: Vec<u8>, size_bytes: usize, timing: DrumTiming) -> Self {
        image.resize(size_bytes, 0);
        Self { image, timing, done: None }
    }

    /// The time until the first word of the request passes, and until the last has passed.
    fn breakdown(&self, now: Nanos, request: &Request) -> Breakdown {
        let word = self.timing.word;
        if word == Nanos::ZERO {
            return Breakdown::default();
        }
        let at = (now + self.timing.phase).0 / word.0 % TURN_WORDS;
        let first = request.offset / 2 % TURN_WORDS;
        let rotation = word * ((first + TURN_WORDS - at) % TURN_WORDS);
        let words = request.length_bytes / 2;
        let transfer = if self.timing.is_burst { Nanos::ZERO } else { word * words };
        Breakdown { rotation, transfer, ..Breakdown::default() }
    }
}

impl Disc for Drum {
    fn size_bytes(&self) -> u64 {
        self.image.len() as u64
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        let breakdown = self.breakdown(now, &request);
        self.done = Some(carry_out(&mut self.image, now, request, data, breakdown));
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        self.done.take_if(|done| done.at <= until)
    }

    fn under_way(&self) -> usize {
        usize::from(self.done.is_some())
    }
}

impl Store for Drum {
    fn image(&self) -> &[u8] {
        &self.image
    }

    fn copy(&self) -> Box<dyn Store> {
        Box::new(self.clone())
    }
}

/// Copies the bytes between a request and an image.
pub(super) fn carry_out(
    image: &mut [u8],
    now: Nanos,
    request: Request,
    mut data: Vec<u8>,
    breakdown: Breakdown,
) -> Completion {
    let size_bytes = image.len() as u64;
    let from = usize::try_from(request.offset).unwrap_or(usize::MAX);
    let outcome = match image.get_mut(from..from.saturating_add(data.len())) {
        Some(place) => {
            match request.op {
                Op::Read => data.copy_from_slice(place),
                Op::Write => place.copy_from_slice(&data),
                Op::Flush | Op::Discard => {}
            }
            Ok(())
        }
        None => Err(DiscError::PastTheEnd {
            offset_bytes: request.offset,
            length_bytes: request.length_bytes,
            size_bytes,
        }),
    };
    Completion { request, data, at: now + breakdown.total(), breakdown, outcome }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_waited_for_until_it_comes_round() {
        let word = Nanos(10);
        let timing = DrumTiming { word, phase: Nanos::ZERO, is_burst: false };
        let mut drum = Drum::new(vec![7], 8192, timing);
        let mut check = |now, offset, rotation, transfer| {
            let read = Request::new(Op::Read, offset, 4);
            let done = nbuf::disc::wait_for(&mut drum, Nanos(now), read, vec![0; 4]).unwrap();
            assert_eq!(
                (done.breakdown.rotation, done.breakdown.transfer),
                (Nanos(rotation), Nanos(transfer))
            );
            assert_eq!(done.at, Nanos(now + rotation + transfer));
            done.data
        };
        assert_eq!(check(0, 0, 0, 20), [7, 0, 0, 0]);
        check(5, 2, 10, 20);
        check(25, 2, 20_470, 20);
        check(20_480, 4096, 0, 20);
    }
}
