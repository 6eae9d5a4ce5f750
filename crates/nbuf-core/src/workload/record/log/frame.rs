//! The header of the log, and the head in front of each frame's payload.
//!
//! All numbers are little-endian. Invariant: a [`Head`] is only believed when its checksum, taken
//! over sequence number, length and payload, is right.

/// What a log begins with: the format's name, its version, and room.
pub(super) const LOG_HEADER: [u8; 16] = *b"nbuf log\x01\0\0\0\0\0\0\0";

/// The part of [`LOG_HEADER`] that names the format; the rest is the version.
pub(super) const LOG_NAME_BYTES: usize = 8;

/// What a frame begins with. No two of its bytes are equal, so it cannot begin inside itself; the
/// first is not zero, so it cannot be mistaken for padding.
pub(super) const MAGIC: [u8; 4] = [0xb5, b'n', 0x1f, 0xe9];

/// Bytes in front of the payload: magic, sequence number, payload length, checksum.
pub(super) const HEAD_BYTES: usize = 16;

/// A frame is closed once its payload is this long.
pub(super) const PAYLOAD_BYTES_USUAL: usize = 64 << 10;

/// No payload is longer; a head that says otherwise is damaged.
pub(super) const PAYLOAD_BYTES_MAX: usize = 32 << 20;

/// What stands in front of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Frames are numbered from 0; a gap is a loss.
    pub(super) sequence: u32,
    /// Bytes of payload.
    pub(super) payload_bytes: u32,
    /// CRC-32 of sequence number, length and payload.
    checksum: u32,
}

impl Head {
    /// The head for this payload.
    pub(super) fn of(sequence: u32, payload_bytes: u32, payload: &[u8]) -> Self {
        Self { sequence, payload_bytes, checksum: checksum(sequence, payload_bytes, payload) }
    }

    /// As it stands in the log.
    pub(super) fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[12..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// What these bytes say, if they begin with the magic and the length is possible.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let number = |at: usize| {
            let field = rest.get(at..at + 4)?;
            Some(u32::from_le_bytes(field.try_into().ok()?))
        };
        let head = Self { sequence: number(0)?, payload_bytes: number(4)?, checksum: number(8)? };
        let possible = head.payload_len() <= PAYLOAD_BYTES_MAX && head.payload_bytes > 0;
        possible.then_some(head)
    }

    /// Bytes of payload, to index with.
    pub(super) fn payload_len(self) -> usize {
        usize::try_from(self.payload_bytes).unwrap_or(usize::MAX)
    }

    /// Whether this payload belongs to this head.
    pub(super) fn fits(self, payload: &[u8]) -> bool {
        checksum(self.sequence, self.payload_bytes, payload) == self.checksum
    }
}

fn checksum(sequence: u32, payload_bytes: u32, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&sequence.to_le_bytes());
    hasher.update(&payload_bytes.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}
