//! What of a database file shows that it changed while no connection of this process held a lock.

/// The bytes of the file's header.
pub(crate) const HEADER_BYTES: usize = 100;

/// The first bytes of a database. They have the counter that each transaction outside WAL changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header(pub [u8; HEADER_BYTES]);

impl Header {
    /// A file that is too short for one.
    pub(crate) const NONE: Self = Self([0; HEADER_BYTES]);

    /// Whether its connections use a WAL, so that its lock does not keep writers away.
    pub(crate) fn is_wal(&self) -> bool {
        self.0[18] == 2 || self.0[19] == 2
    }

    /// Follows a write.
    pub(crate) fn write(&mut self, data: &[u8], offset: u64) {
        if let Ok(offset) = usize::try_from(offset)
            && offset < HEADER_BYTES
        {
            let length = data.len().min(HEADER_BYTES - offset);
            self.0[offset..offset + length].copy_from_slice(&data[..length]);
        }
    }
}

/// What the kernel says of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    /// Its length.
    pub length: u64,
    /// The times of the last change of its bytes, and of its inode: seconds and nanoseconds.
    pub times: [(i64, u64); 2],
}

/// What the kernel says, and whether a later change is sure to change the times: its clock ticks slowly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub status: Status,
    pub is_settled: bool,
}

/// Two equal stamps: no transaction of SQLite wrote the file in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// What the kernel says.
    pub status: Status,
    /// What SQLite wrote.
    pub header: Header,
}
