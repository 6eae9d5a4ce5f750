//! A disc whose bytes are in memory. Every request completes on arrival.
//!
//! Use it if you need the bytes and not the time: images of emulated machines, tests of caches. A
//! request costs a copy. For times, use [`super::table`].

use std::collections::VecDeque;

use super::{Breakdown, Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// A disc that completes every request at once and keeps its bytes.
#[derive(Clone, Debug, Default)]
pub struct Ram {
    image: Vec<u8>,
    done: VecDeque<Completion>,
}

impl Ram {
    /// Makes a disc with these bytes and of their size.
    pub fn new(image: Vec<u8>) -> Self {
        Self { image, done: VecDeque::new() }
    }

    /// Makes a disc of zeros.
    pub fn zeroed(size_bytes: usize) -> Self {
        Self::new(vec![0; size_bytes])
    }

    /// The current contents.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// The final contents.
    pub fn into_image(self) -> Vec<u8> {
        self.image
    }

    fn serve(&mut self, request: &Request, data: &mut [u8]) -> Result<(), DiscError> {
        DiscError::check(request, self.image.len() as u64)?;
        if request.zeros && request.op == Op::Discard {
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            self.image[place(request.offset)..place(request.offset + request.length_bytes)].fill(0);
        }
        if matches!(request.op, Op::Flush | Op::Discard) {
            return Ok(());
        }
        if data.len() as u64 != request.length_bytes {
            let what = format!(
                "a request of {} B with {} B of data: a disc in memory moves them all",
                request.length_bytes,
                data.len()
            );
            return Err(DiscError::Failed { what });
        }
        // The request is within the image, so it fits into the address space.
        let from = usize::try_from(request.offset).unwrap_or(usize::MAX);
        let place = &mut self.image[from..from + data.len()];
        if request.op == Op::Read {
            data.copy_from_slice(place);
        } else {
            place.copy_from_slice(data);
        }
        Ok(())
    }
}

impl Disc for Ram {
    fn size_bytes(&self) -> u64 {
        self.image.len() as u64
    }

    fn submit(&mut self, now: Nanos, request: Request, mut data: Vec<u8>) {
        let outcome = self.serve(&request, &mut data);
        self.done.push_back(Completion {
            request,
            data,
            at: now,
            breakdown: Breakdown::default(),
            outcome,
        });
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        if self.done.front()?.at > until {
            return None;
        }
        self.done.pop_front()
    }

    fn under_way(&self) -> usize {
        self.done.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::wait_for;
    use super::*;

    const SIZE: usize = 64;

    proptest! {
        /// Compares it with a plain vector: requests within the disc are kept, and others change
        /// nothing.
        #[test]
        fn it_holds_what_was_written(
            steps in prop::collection::vec((0..80_usize, prop::collection::vec(1..=255_u8, 0..24)), 0..40)
        ) {
            let mut disc = Ram::zeroed(SIZE);
            let mut model = vec![0; SIZE];
            for (at, (offset, data)) in steps.into_iter().enumerate() {
                let now = Nanos(at as u64);
                let fits = offset + data.len() <= SIZE;
                let range = offset..offset + data.len();
                let write = Request::new(Op::Write, offset as u64, data.len() as u64);
                let done = wait_for(&mut disc, now, write, data.clone()).unwrap();
                prop_assert_eq!(done.outcome.is_ok(), fits);
                prop_assert_eq!(done.at, now);
                if fits {
                    model[range].copy_from_slice(&data);
                }
                let read = Request::new(Op::Read, 0, SIZE as u64);
                let read = wait_for(&mut disc, now, read, vec![0; SIZE]).unwrap();
                prop_assert_eq!(&read.data, &model);
            }
            prop_assert_eq!(disc.image(), &model[..]);
            prop_assert_eq!(disc.under_way(), 0);
        }
    }

    #[test]
    fn a_request_without_room_for_its_bytes_fails() {
        let mut disc = Ram::zeroed(SIZE);
        let read = Request::new(Op::Read, 0, 9);
        let done = wait_for(&mut disc, Nanos(3), read, vec![0; 8]).unwrap();
        assert!(matches!(done.outcome, Err(DiscError::Failed { .. })));
        let flush = Request::new(Op::Flush, 0, 0);
        assert_eq!(wait_for(&mut disc, Nanos(3), flush, Vec::new()).unwrap().outcome, Ok(()));
        assert_eq!(disc.next_completion(Nanos::MAX), None);
    }
}
