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
    /// The disc refused what had been acknowledged, so that the tier is not used any more.
    DiscRefused,
    /// The file cannot be written at the end.
    NotKept(io::Error),
    /// The server or the tier did not end in order, so that nothing is kept.
    NotClean,
    /// What the journal of the run before owed is on the disc.
    WrittenBack(Bytes),
    /// The disc refused a part of what the journal of the run before owed, and the server goes on with that.
    StillOwed {
        /// What the journal owed.
        owed: Bytes,
        /// What it still owes.
        left: Bytes,
        /// Why.
        why: String,
    },
    /// What the journal of the run before owed is lost, as the caller wished.
    Discarded(Bytes),
    /// The journal of the run before could not be read for this reason, and what it owed is lost, as the caller wished.
    DiscardedUnread(String),
    /// What that journal may have owed to this disc is lost, as the caller wished.
    GivenUp,
    /// The journal failed, and the disc lacked this much of it.
    Failed(String, Bytes),
    /// The journal may have what the disc lacks.
    Owes,
    /// The mark of the disc stays.
    Marked(io::Error),
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
        TierNotice::DiscRefused => write!(
            f,
            "tier: {file} is not used any more (the disc refused to store what was written), and the disc serves all misses; look at the disc, and start the server again"
        ),
        TierNotice::NotKept(error) => {
            write!(f, "tier: cannot write {file} ({error}), so it begins empty at the next start")
        }
        TierNotice::NotClean => write!(
            f,
            "tier: the server or the tier did not end in order, so {file} begins empty at the next start"
        ),
        TierNotice::WrittenBack(bytes) => {
            write!(f, "tier: {file} owed {bytes} of the last run, which the disc has now")
        }
        TierNotice::StillOwed { owed, left, why } => write!(
            f,
            "tier: {file} owed {owed} of the last run, and still owes {left}, which the disc refuses ({why}); flushes fail until the disc has them"
        ),
        TierNotice::Discarded(bytes) => {
            write!(f, "tier: {file} owed {bytes} of the last run, which are lost now")
        }
        TierNotice::DiscardedUnread(why) => {
            write!(f, "tier: {file} cannot be read ({why}), and all that it owed is lost now")
        }
        TierNotice::GivenUp => {
            write!(f, "tier: all that {file} may have owed to the disc is lost now")
        }
        TierNotice::Failed(why, bytes) => write!(
            f,
            "tier: {file} has failed ({why}), and {bytes} of it were not on the disc; writes and flushes fail until the server is started again"
        ),
        TierNotice::Owes => write!(
            f,
            "tier: {file} may have bytes that the disc lacks: start the server with this tier again"
        ),
        TierNotice::Marked(error) => write!(
            f,
            "tier: {file} owes nothing, but the disc still says so ({error}): start the server with this tier again"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::notice::ServeNotice;

    #[test]
    fn a_tier_that_is_given_up_names_what_to_look_at() {
        let said =
            |what: &TierNotice| ServeNotice::Tier { file: Path::new("/t"), what }.to_string();
        assert!(said(&TierNotice::DiscRefused).contains("look at the disc, and start"));
        let own = TierNotice::Lost("its sum is wrong".to_owned());
        assert!(said(&own).contains("look at the file system of the tier, and start"));
    }
}
