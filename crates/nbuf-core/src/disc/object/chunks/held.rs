//! What is in memory of a chunk and not yet in its object: the bytes that were written, or zeros.
//!
//! A write needs no byte of the object. The gaps between what was written are filled when the object is written.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use super::super::ObjectDiscError;
use super::covered::{Covered, span};

/// What an object has that stands for a chunk of zeros.
pub(super) const ZEROS: &[u8] = b"nbuf.chunks-zeros/1\n";
/// Bytes that are compared with zeros at once.
const STEP_BYTES: usize = 4096;

/// How the PUT of a chunk that is under way ends.
pub(super) type Outcome = watch::Receiver<Option<Result<(), ObjectDiscError>>>;

/// What is in memory of a chunk.
#[derive(Debug)]
pub(super) struct Held {
    content: Content,
    /// The number of the first write that is owed, and of the last one.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The last write that is in the object.
    pub(super) saved: u64,
    /// Hashes of what was sent since then. The object may have any of it, if an answer was lost.
    pub(super) sent: Vec<u64>,
    pub(super) put: Option<Outcome>,
}

#[derive(Clone, Debug)]
enum Content {
    /// The whole chunk is zeros.
    Zeros,
    /// A buffer of the length of a chunk. A PUT that is under way has it too, and then a write copies it.
    Bytes(Arc<Vec<u8>>, Covered),
}

/// The bytes of an object.
#[derive(Clone, Debug)]
pub(super) enum Payload {
    Zeros,
    Bytes(Arc<Vec<u8>>),
}

/// Lends a buffer to a client.
struct Lent(Arc<Vec<u8>>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Held {
    /// Nothing yet, before the write with this number.
    pub(super) fn new(length: usize, write: u64) -> Self {
        let content = Content::Bytes(Arc::new(vec![0; length]), Covered::default());
        let saved = write.saturating_sub(1);
        Self { content, first: write, last: write, saved, sent: Vec::new(), put: None }
    }

    /// Whether it takes the memory of a chunk.
    pub(super) fn has_bytes(&self) -> bool {
        matches!(self.content, Content::Bytes(..))
    }

    /// Takes a write of these bytes, or of zeros, with this number, into a chunk of this length.
    pub(super) fn write(
        &mut self,
        length: usize,
        within: Range<usize>,
        bytes: Option<&[u8]>,
        write: u64,
    ) {
        self.last = write;
        if let Content::Zeros = self.content {
            self.content = Content::Bytes(Arc::new(vec![0; length]), Covered::all(length));
        }
        if let Content::Bytes(buffer, covered) = &mut self.content {
            let room = &mut Arc::make_mut(buffer)[within.clone()];
            match bytes {
                Some(bytes) => room.copy_from_slice(bytes),
                None => room.fill(0),
            }
            covered.add(within);
        }
    }

    /// Makes the whole chunk zeros.
    pub(super) fn zero(&mut self, write: u64) {
        self.last = write;
        self.content = Content::Zeros;
    }

    /// Copies what is here of a range, and gives what is not.
    pub(super) fn copy(&self, within: Range<usize>, room: &mut [u8]) -> Vec<Range<usize>> {
        match &self.content {
            Content::Zeros => {
                room.fill(0);
                Vec::new()
            }
            Content::Bytes(buffer, covered) => {
                room.copy_from_slice(&buffer[within.clone()]);
                covered.gaps(within)
            }
        }
    }

    /// From the first gap to the end of the last one.
    pub(super) fn gap(&self) -> Option<Range<usize>> {
        match &self.content {
            Content::Zeros => None,
            Content::Bytes(buffer, covered) => span(&covered.gaps(0..buffer.len())),
        }
    }

    /// Fills the gaps of a range with what the object has there.
    pub(super) fn fill(&mut self, from: usize, base: &[u8]) {
        if let Content::Bytes(buffer, covered) = &mut self.content {
            let buffer = Arc::make_mut(buffer);
            for gap in covered.gaps(from..from + base.len()) {
                buffer[gap.clone()].copy_from_slice(&base[gap.start - from..gap.end - from]);
                covered.add(gap);
            }
        }
    }

    /// What a chunk without gaps is to be.
    pub(super) fn payload(&self) -> Payload {
        match &self.content {
            Content::Zeros => Payload::Zeros,
            Content::Bytes(buffer, _) => Payload::Bytes(Arc::clone(buffer)),
        }
    }
}

impl Payload {
    /// The same, where a buffer of zeros is found out.
    pub(super) fn simplified(self) -> Self {
        let is_zero = |step: &[u8]| step == &[0; STEP_BYTES][..step.len()];
        match self {
            Self::Bytes(buffer) if buffer.chunks(STEP_BYTES).all(is_zero) => Self::Zeros,
            other => other,
        }
    }

    /// What its object has.
    pub(super) fn bytes(&self) -> Bytes {
        match self {
            Self::Zeros => Bytes::from_static(ZEROS),
            Self::Bytes(buffer) => Bytes::from_owner(Lent(Arc::clone(buffer))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LENGTH: usize = 48;

    #[derive(Clone, Debug)]
    enum Step {
        Write(usize, Vec<u8>),
        Zeros(usize, usize),
        Zero,
        Fill,
        Read(usize, usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let range = || (0..LENGTH, 1..LENGTH);
        let step = prop_oneof![
            4 => (0..LENGTH, proptest::collection::vec(1_u8..=255, 1..20))
                .prop_map(|(at, bytes)| Step::Write(at, bytes)),
            2 => range().prop_map(|(at, length)| Step::Zeros(at, length)),
            1 => Just(Step::Zero),
            1 => Just(Step::Fill),
            4 => range().prop_map(|(at, length)| Step::Read(at, length)),
        ];
        proptest::collection::vec(step, 1..40)
    }

    proptest! {
        /// The oracle: an array that begins as the object.
        #[test]
        fn writes_over_an_object_are_those_over_an_array(steps in steps()) {
            let base: Vec<u8> = (0..LENGTH).map(|at| u8::try_from(at).unwrap() + 100).collect();
            let (mut array, mut held) = (base.clone(), Held::new(LENGTH, 1));
            for (at, step) in steps.into_iter().enumerate() {
                let write = at as u64 + 1;
                // A PUT that is under way keeps what it has.
                let (sent, before) = (held.payload(), held.payload().bytes().to_vec());
                match step {
                    Step::Write(at, bytes) => {
                        let bytes = &bytes[..bytes.len().min(LENGTH - at)];
                        held.write(LENGTH, at..at + bytes.len(), Some(bytes), write);
                        array[at..at + bytes.len()].copy_from_slice(bytes);
                    }
                    Step::Zeros(at, length) => {
                        let end = (at + length).min(LENGTH);
                        held.write(LENGTH, at..end, None, write);
                        array[at..end].fill(0);
                    }
                    Step::Zero => {
                        held.zero(write);
                        array.fill(0);
                    }
                    Step::Fill => {
                        if let Some(gap) = held.gap() {
                            held.fill(gap.start, &base[gap]);
                        }
                        prop_assert_eq!(held.gap(), None);
                    }
                    Step::Read(at, length) => {
                        let end = (at + length).min(LENGTH);
                        let mut room = vec![9; end - at];
                        for gap in held.copy(at..end, &mut room) {
                            room[gap.start - at..gap.end - at].copy_from_slice(&base[gap]);
                        }
                        prop_assert_eq!(&room[..], &array[at..end]);
                    }
                }
                prop_assert_eq!(sent.bytes().to_vec(), before);
            }
            if let Some(gap) = held.gap() {
                held.fill(gap.start, &base[gap]);
            }
            let want = if array == [0; LENGTH] { ZEROS } else { &array[..] };
            prop_assert_eq!(&held.payload().simplified().bytes()[..], want);
        }
    }
}
