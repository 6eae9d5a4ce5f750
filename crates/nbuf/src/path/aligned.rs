//! Memory that begins at a page: what `O_DIRECT` asks for, and what every path gets, so that
//! alignment is no difference between them.

/// So many zero bytes, from the beginning of a page on.
#[derive(Debug)]
pub(super) struct Aligned {
    /// A page more than is used. Never grown, so that it stays where it is.
    room: Vec<u8>,
    begin: usize,
    length: usize,
}

const PAGE: usize = 4096;

impl Aligned {
    pub(super) fn new(length: usize) -> Self {
        let room = vec![0; length + PAGE];
        let begin = room.as_ptr().align_offset(PAGE);
        Self { room, begin, length }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.room[self.begin..self.begin + self.length]
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.begin..self.begin + self.length]
    }
}
