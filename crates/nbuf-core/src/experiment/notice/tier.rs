//! What a server reports of its second tier, and the words.

use std::error::Error;
use std::fmt::{self, Formatter};
use std::io;
use std::path::Path;

use crate::units::Bytes;

/// What became of the file of a second tier.
#[derive(Debug)]
#[non_exhaustive]
pub enum TierNotice {
    /// This much of the run before is there.
    Warm(Bytes),
    /// The run before did not end in order.
    Unclean,
    /// The disc is another one, or was changed.
    Changed(&'static str),
    /// The tier or its parts had another size.
    Resized,
    /// The file cannot be read.
    Damaged(Box<dyn Error + Send + Sync>),
    /// Nothing shows whether the disc was changed.
    Unknown,
    /// It failed, and is not used any more.
    Lost(String),
    /// The file cannot be written at the end.
    NotKept(io::Error),
    /// The server or the tier did not end in order, so that nothing is kept.
    NotClean,
}

pub(super) fn words(f: &mut Formatter<'_>, file: &Path, what: &TierNotice) -> fmt::Result {
    let file = file.display();
    match what {
        TierNotice::Warm(bytes) => write!(f, "tier: {file} has {bytes} of the last run"),
        TierNotice::Unclean => {
            write!(f, "tier: the last run did not end in order, so {file} begins empty")
        }
        TierNotice::Changed(why) => {
            write!(f, "tier: the disc is not as it was ({why}), so {file} begins empty")
        }
        TierNotice::Resized => {
            write!(f, "tier: its size or the size of pages is another one, so {file} begins empty")
        }
        TierNotice::Damaged(why) => {
            write!(f, "tier: {file} is damaged ({why}), so it begins empty")
        }
        TierNotice::Unknown => write!(
            f,
            "tier: nbuf cannot see whether the disc was changed, so {file} begins empty; if nothing else writes to the disc, add --tier-trust"
        ),
        TierNotice::Lost(why) => write!(
            f,
            "tier: {file} is not used any more ({why}), and the disc serves all misses; look at the file system of the tier, and start the server again"
        ),
        TierNotice::NotKept(error) => {
            write!(f, "tier: cannot write {file} ({error}), so it begins empty at the next start")
        }
        TierNotice::NotClean => write!(
            f,
            "tier: the server or the tier did not end in order, so {file} begins empty at the next start"
        ),
    }
}
