//! RS11, the fixed-head disc that Unix calls the drum: no arm, only rotation.
//!
//! 2048 words a turn; a word passes its head when the turn has come round to it. Cost: no time of
//! ours, an image in memory. DEC, *PDP-11 Peripherals Handbook* (1972), RF11. Not for discs with
//! sectors.

use nbuf::disc::{Completion, Disc, DiscError, Operation, Request, Spent};
use nbuf::units::Nanos;

use super::transfer::Store;
use crate::timing::DrumTiming;

/// Words that pass a head in a turn.
pub const TURN_WORDS: u64 = 2048;

/// See the module.
#[derive(Clone)]
pub struct Drum {
    image: Vec<u8>,
    timing: DrumTiming,
    done: Option<Completion>,
}

impl Drum {
    /// A drum with these bytes on it, zeroes up to its size.
    pub fn new(mut image: Vec<u8>, size_bytes: usize, timing: DrumTiming) -> Self {
        image.resize(size_bytes, 0);
        Self { image, timing, done: None }
    }

    /// How long until the word at this byte passes, and until the last of the request has.
    fn spent(&self, now: Nanos, request: &Request) -> Spent {
        let word = self.timing.word;
        if word == Nanos::ZERO {
            return Spent::default();
        }
        let at = (now + self.timing.phase).0 / word.0 % TURN_WORDS;
        let first = request.offset_bytes / 2 % TURN_WORDS;
        let rotation = word * ((first + TURN_WORDS - at) % TURN_WORDS);
        let words = u64::from(request.length_bytes / 2);
        let transfer = if self.timing.is_burst { Nanos::ZERO } else { word * words };
        Spent { rotation, transfer, ..Spent::default() }
    }
}

impl Disc for Drum {
    fn size_bytes(&self) -> u64 {
        self.image.len() as u64
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        let spent = self.spent(now, &request);
        self.done = Some(carry_out(&mut self.image, now, request, spent));
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

/// Moves the bytes between a request and an image.
pub(super) fn carry_out(
    image: &mut [u8],
    now: Nanos,
    mut request: Request,
    spent: Spent,
) -> Completion {
    let size_bytes = image.len() as u64;
    let from = usize::try_from(request.offset_bytes).unwrap_or(usize::MAX);
    let outcome = match image.get_mut(from..from.saturating_add(request.data.len())) {
        Some(place) => {
            match request.operation {
                Operation::Read => request.data.copy_from_slice(place),
                Operation::Write => place.copy_from_slice(&request.data),
                Operation::Flush => {}
            }
            Ok(())
        }
        None => Err(DiscError::PastTheEnd {
            offset_bytes: request.offset_bytes,
            length_bytes: request.length_bytes,
            size_bytes,
        }),
    };
    Completion { request, at: now + spent.total(), spent, outcome }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_waited_for_until_it_comes_round() {
        let word = Nanos(10);
        let timing = DrumTiming { word, phase: Nanos::ZERO, is_burst: false };
        let mut drum = Drum::new(vec![7], 8192, timing);
        let mut check = |now, offset_bytes, rotation, transfer| {
            let request = Request {
                tag: 1,
                operation: Operation::Read,
                offset_bytes,
                length_bytes: 4,
                data: vec![0; 4],
            };
            let done = nbuf::disc::wait_for(&mut drum, Nanos(now), request).unwrap();
            assert_eq!(
                (done.spent.rotation, done.spent.transfer),
                (Nanos(rotation), Nanos(transfer))
            );
            assert_eq!(done.at, Nanos(now + rotation + transfer));
            done.request.data
        };
        assert_eq!(check(0, 0, 0, 20), [7, 0, 0, 0]);
        check(5, 2, 10, 20);
        check(25, 2, 20_470, 20);
        check(20_480, 4096, 0, 20);
    }
}
