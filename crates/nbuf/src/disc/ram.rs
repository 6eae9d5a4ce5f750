//! Bytes in memory behind the interface of a disc: every request is done at the moment it comes.
//!
//! For what needs the bytes and not the time: images of emulated machines, tests of caches. A request
//! costs a copy. Not for asking how long something takes, which is what [`super::table`] is for.

use std::collections::VecDeque;

use super::{Completion, Disc, DiscError, Operation, Request, Spent};
use crate::units::Nanos;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Ram {
    image: Vec<u8>,
    done: VecDeque<Completion>,
}

impl Ram {
    /// A disc that holds these bytes, and ends where they do.
    pub fn new(image: Vec<u8>) -> Self {
        Self { image, done: VecDeque::new() }
    }

    /// A disc of zeros.
    pub fn zeroed(size_bytes: usize) -> Self {
        Self::new(vec![0; size_bytes])
    }

    /// What it holds now.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// What it held last.
    pub fn into_image(self) -> Vec<u8> {
        self.image
    }

    fn serve(&mut self, request: &mut Request) -> Result<(), DiscError> {
        request.within(self.image.len() as u64)?;
        if request.operation == Operation::Flush {
            return Ok(());
        }
        let length = request.length_bytes as usize;
        if request.data.len() != length {
            let what = format!(
                "a request of {length} B with {} B of data: a disc in memory moves them all",
                request.data.len()
            );
            return Err(DiscError::Failed { what });
        }
        // It lies within the image, so it fits into the address space.
        let from = usize::try_from(request.offset_bytes).unwrap_or(usize::MAX);
        let place = &mut self.image[from..from + length];
        match request.operation {
            Operation::Read => request.data.copy_from_slice(place),
            Operation::Write => place.copy_from_slice(&request.data),
            Operation::Flush => {}
        }
        Ok(())
    }
}

impl Disc for Ram {
    fn size_bytes(&self) -> u64 {
        self.image.len() as u64
    }

    fn submit(&mut self, now: Nanos, mut request: Request) {
        let outcome = self.serve(&mut request);
        self.done.push_back(Completion { request, at: now, spent: Spent::default(), outcome });
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

    fn request(operation: Operation, offset_bytes: u64, data: Vec<u8>) -> Request {
        let length_bytes = u32::try_from(data.len()).unwrap();
        Request { tag: 7, operation, offset_bytes, length_bytes, data }
    }

    proptest! {
        /// Against a plain vector: what lies within is kept, what does not changes nothing.
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
                let write = request(Operation::Write, offset as u64, data.clone());
                let done = wait_for(&mut disc, now, write).unwrap();
                prop_assert_eq!(done.outcome.is_ok(), fits);
                prop_assert_eq!(done.at, now);
                if fits {
                    model[range].copy_from_slice(&data);
                }
                let read = request(Operation::Read, 0, vec![0; SIZE]);
                let read = wait_for(&mut disc, now, read).unwrap();
                prop_assert_eq!(&read.request.data, &model);
            }
            prop_assert_eq!(disc.image(), &model[..]);
            prop_assert_eq!(disc.under_way(), 0);
        }
    }

    #[test]
    fn a_request_without_room_for_its_bytes_fails() {
        let mut disc = Ram::zeroed(SIZE);
        let short = Request { length_bytes: 9, ..request(Operation::Read, 0, vec![0; 8]) };
        let done = wait_for(&mut disc, Nanos(3), short).unwrap();
        assert!(matches!(done.outcome, Err(DiscError::Failed { .. })));
        let flush = Request { length_bytes: 0, ..request(Operation::Flush, 0, Vec::new()) };
        assert_eq!(wait_for(&mut disc, Nanos(3), flush).unwrap().outcome, Ok(()));
        assert_eq!(disc.next_completion(Nanos::MAX), None);
    }
}
