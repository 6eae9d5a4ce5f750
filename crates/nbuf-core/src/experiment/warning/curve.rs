//! What a reader of curves over objects must know, and its words.

use std::fmt::{self, Display, Formatter};

use crate::units::Bytes;

/// A warning about curves over objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CurveWarning {
    /// The optimum has no rule for times to live.
    OptExpires,
    /// The optimum counts every access.
    OptStores,
    /// memcached may take more than a small limit.
    SmallSlabs {
        /// The least limit that it keeps.
        least_bytes: Bytes,
    },
    /// Keys of the trace are not in the snapshot.
    SnapshotLacks {
        /// How many.
        keys: u64,
        /// All keys of the trace.
        of: u64,
        /// Their requests without a size.
        requests: u64,
    },
    /// A snapshot cannot be read to its end.
    SnapshotBroken {
        /// The bytes before that place.
        at_bytes: u64,
        /// What should stand there.
        wanted: &'static str,
        /// The keys before it.
        keys: u64,
    },
    /// Times to live are those of a snapshot, which has what was left of them.
    SnapshotLifetimes {
        /// Keys with such a time.
        keys: u64,
    },
}

impl Display for CurveWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::OptExpires => f.write_str(
                "opt over objects has no rule for times to live: leave opt out of --policy, or leave --ttl \
                 out",
            ),
            Self::OptStores => f.write_str(
                "opt over objects counts every access: leave opt out of --policy, or leave out --writes \
                 store",
            ),
            Self::SmallSlabs { least_bytes } => write!(
                f,
                "memcached gives each class of sizes its first slab in any case: below {least_bytes} it may \
                 take more than its limit"
            ),
            Self::SnapshotLacks { keys, of, requests } => write!(
                f,
                "the snapshot lacks {keys} of the {of} keys of the trace: {requests} requests have no size, and their \
                 bytes are missing"
            ),
            Self::SnapshotBroken { at_bytes, wanted, keys } => write!(
                f,
                "the snapshot cannot be read behind byte {at_bytes} (expected {wanted}): nbuf takes the {keys} keys \
                 before that place"
            ),
            Self::SnapshotLifetimes { keys } => write!(
                f,
                "{keys} keys have their time to live from the snapshot, which has only the time that was left: the \
                 true time to live is as long or longer"
            ),
        }
    }
}
