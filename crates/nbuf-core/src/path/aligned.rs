//! Memory that starts at a page boundary. `O_DIRECT` requires it, and every path gets it, so that
//! alignment makes no difference between them.

/// A zeroed buffer that starts at a page boundary.
#[derive(Debug)]
pub(super) struct Aligned {
    /// One page more than is used. It never grows, so that the buffer keeps its address.
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
