//! Why a journal cannot be used, or a disc that lacks what a journal has.

use std::io;
use std::path::PathBuf;

use crate::disc::DiscError;
use crate::units::Bytes;

/// Why a journal cannot be used, or a disc that lacks what a journal has.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The disc lacks bytes that another journal has.
    #[error(
        "{disc} may lack bytes that the journal {} has: start with the tier of that journal, or add --discard-dirty to lose them",
        journal.display()
    )]
    Elsewhere {
        /// The disc.
        disc: String,
        /// That journal.
        journal: PathBuf,
    },
    /// The mark of the disc is of a journal that had other bytes than the file that has its name now.
    #[error(
        "{disc} may lack bytes that the journal {} had, and that file is missing now, or is not the one of the last run: restore it, or add --discard-dirty to lose them",
        journal.display()
    )]
    Replaced {
        /// The disc.
        disc: String,
        /// That journal.
        journal: PathBuf,
    },
    /// The journal owes nothing, and the disc is not the one that it belongs to.
    #[error(
        "{disc} is not the disc of the journal {}, or has another size now: if it is that disc, add --write-dirty; if it is not, it may lack bytes, and --discard-dirty loses them",
        journal.display()
    )]
    OtherSize {
        /// The disc.
        disc: String,
        /// The journal.
        journal: PathBuf,
    },
    /// The journal owes bytes to another disc.
    #[error(
        "the journal {} owes {bytes} to another disc, or to this one as it was before: give the disc that it belongs to, or add --write-dirty to write them to this one, or --discard-dirty to lose them",
        journal.display()
    )]
    OtherDisc {
        /// The journal.
        journal: PathBuf,
        /// What it owes.
        bytes: Bytes,
    },
    /// The journal owes bytes, and nothing may be written.
    #[error("the journal {} owes {bytes} to the disc: start once without --read-only", journal.display())]
    ReadOnly {
        /// The journal.
        journal: PathBuf,
        /// What it owes.
        bytes: Bytes,
    },
    /// The disc refuses what the journal owes.
    #[error(
        "the disc refuses the {bytes} that the journal {} owes ({error}): look at the disc, and start again; the journal keeps them",
        journal.display()
    )]
    Refused {
        /// The journal.
        journal: PathBuf,
        /// What it owes.
        bytes: Bytes,
        /// Why.
        error: DiscError,
    },
    /// The disc refuses what the journal owes, and no journal of this run could keep it.
    #[error(
        "the disc refuses the {bytes} that the journal {} owes ({error}): look at the disc, or add --durable-tier to start all the same; the journal keeps them",
        journal.display()
    )]
    NotDurable {
        /// The journal.
        journal: PathBuf,
        /// What it owes.
        bytes: Bytes,
        /// Why.
        error: DiscError,
    },
    /// The disc can be neither written nor read.
    #[error(
        "the disc cannot be reached ({error}), and the journal {} owes it {bytes}: look at the disc, and start again; the journal keeps them",
        journal.display()
    )]
    Unreachable {
        /// The journal.
        journal: PathBuf,
        /// What it owes.
        bytes: Bytes,
        /// Why.
        error: DiscError,
    },
    /// A signal came before the disc had what the journal owes.
    #[error(
        "a signal ended the start before the disc had the {bytes} that the journal {} owes ({left} were not written yet): start with this tier again; the journal keeps all of them",
        journal.display()
    )]
    Ended {
        /// The journal.
        journal: PathBuf,
        /// What it owes.
        bytes: Bytes,
        /// What was not written yet.
        left: Bytes,
    },
    /// It is unknown what the journal owes.
    #[error(
        "the journal {} cannot be read ({why}): restore it, or add --discard-dirty to lose what it owes",
        journal.display()
    )]
    Damaged {
        /// The journal.
        journal: PathBuf,
        /// Why.
        why: String,
    },
    /// The disc cannot have a mark.
    #[error(
        "--durable-tier marks the disc, and {disc} cannot have a mark ({error}): add --tier-trust, and start it with this tier alone"
    )]
    Unmarkable {
        /// The disc.
        disc: String,
        /// Why.
        error: io::Error,
    },
    /// The mark cannot be made, or cannot be taken off.
    #[error("the mark of {disc} cannot be changed ({error}): look at the file system of the disc")]
    Mark {
        /// The disc.
        disc: String,
        /// Why.
        error: io::Error,
    },
    /// The file cannot be used.
    #[error("the journal {} cannot be used ({error}): look at its file system", journal.display())]
    File {
        /// The journal.
        journal: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another program wrote the file.
    #[error("{}: no journal of nbuf serve, so it is not overwritten: give another --tier", journal.display())]
    Foreign {
        /// The file.
        journal: PathBuf,
    },
    /// Another server uses the file.
    #[error("{}: another server has its journal there: give each its own --tier", journal.display())]
    InUse {
        /// The file.
        journal: PathBuf,
    },
}
