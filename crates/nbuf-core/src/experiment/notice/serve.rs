//! What a server reports while it runs, and its words.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::Path;

use super::causes;
use super::tier::{self, TierNotice};
use crate::units::count;

/// Something of `serve` that is good to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ServeNotice<'a> {
    /// A setting has another value.
    Changed {
        /// Its key.
        key: &'a str,
        /// The value before.
        from: &'a str,
        /// The value now.
        to: &'a str,
    },
    /// The file was read again, and says what holds already.
    Unchanged,
    /// Certificates and keys were read again.
    Certificates,
    /// The file has another value for a setting that cannot change while the server runs.
    Fixed {
        /// Its key.
        key: &'a str,
    },
    /// The file has not named an export that is served.
    Missing {
        /// Its name.
        export: &'a str,
    },
    /// The file names an export that is not served.
    Added {
        /// Its name.
        export: &'a str,
    },
    /// The file could not be used, and all stays as it is.
    NotRead(&'a (dyn Error + 'static)),
    /// The limit on open files permits fewer clients.
    FewClients {
        /// What was asked for.
        wanted: usize,
        /// What is possible.
        possible: usize,
    },
    /// A cache stepped aside, or is back.
    Stepped {
        /// The export; empty for the only one.
        export: &'a str,
        /// Whether it is aside.
        is_aside: bool,
    },
    /// A disc that was to be used without the page cache goes through it.
    ThroughCache {
        /// Its path.
        disc: &'a Path,
        /// What the kernel refused.
        error: &'a io::Error,
    },
    /// Threads read and write a disc, and not `io_uring`.
    NoRing {
        /// How many.
        threads: usize,
        /// What the kernel refused.
        error: &'a io::Error,
    },
    /// Requests to an object failed. It is reported once for each reason.
    ObjectFailed {
        /// The export; empty for the only one.
        export: &'a str,
        /// The reason.
        why: &'a str,
    },
    /// Settings could not change.
    Refused(&'a str),
    /// Something of the file that keeps what caches held.
    State {
        /// The file.
        file: &'a Path,
        /// The export; empty for the only one.
        export: &'a str,
        /// What it is.
        what: &'a StateNotice,
    },
    /// Something of the file of a second tier.
    Tier {
        /// The file.
        file: &'a Path,
        /// What it is.
        what: &'a TierNotice,
    },
}

/// What became of a file that keeps what caches held.
#[derive(Debug)]
#[non_exhaustive]
pub enum StateNotice {
    /// This many pages of the run before are read again.
    Warms(u64),
    /// The run before did not end in order.
    Unclean,
    /// The disc is another one, or the list does not fit it.
    Changed(&'static str),
    /// The list cannot be read.
    Damaged(Box<dyn Error + Send + Sync>),
    /// The file cannot be written at the start.
    NotBegun(io::Error),
    /// The file cannot be written at the end.
    NotKept(io::Error),
    /// The server did not end in order, so that nothing is kept.
    NotClean,
}

impl Display for ServeNotice<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { key, from, to } => write!(f, "config: {key} was {from} and is {to}"),
            Self::Unchanged => f.write_str("config: read again, nothing to change"),
            Self::Certificates => f.write_str("config: new clients get the certificate of now"),
            Self::Fixed { key } => {
                write!(f, "config: {key} stays as it is until the server is started again")
            }
            Self::Missing { export } => write!(
                f,
                "config: the export {export} is missing, and is served as before until the server is started again"
            ),
            Self::Added { export } => {
                write!(
                    f,
                    "config: the export {export} is new, and is served when the server is started again"
                )
            }
            Self::NotRead(error) => {
                write!(f, "config: not used, nothing was changed: {}", causes(*error))
            }
            Self::FewClients { wanted, possible } => write!(
                f,
                "{possible} clients at once instead of {wanted}: raise the limit on open files (`ulimit -Hn`, \
                 LimitNOFILE= of a unit)"
            ),
            Self::Stepped { export, is_aside } => {
                let of = if export.is_empty() { String::new() } else { format!(" of {export}") };
                let what = if *is_aside {
                    "costs more than it saves: reads that miss go past it"
                } else {
                    "takes pages in again"
                };
                write!(f, "bypass: the cache{of} {what}")
            }
            Self::ThroughCache { disc, error } => write!(
                f,
                "{} goes through the page cache, as O_DIRECT is refused there ({error}); put it on a file system with a disc",
                disc.display()
            ),
            Self::NoRing { threads, error } => write!(
                f,
                "{threads} threads read and write without the page cache, as io_uring is refused ({error}); permit io_uring_setup to save them"
            ),
            Self::ObjectFailed { export, why } => {
                let of = if export.is_empty() { String::new() } else { format!(" of {export}") };
                write!(f, "requests to the disc{of} fail: {why}")
            }
            Self::State { file, export, what } => state(f, file, export, what),
            Self::Tier { file, what } => tier::words(f, file, what),
            Self::Refused(why) => write!(f, "config: nothing changed: {why}"),
        }
    }
}

fn state(f: &mut Formatter<'_>, file: &Path, export: &str, what: &StateNotice) -> fmt::Result {
    let of = if export.is_empty() { String::new() } else { format!(" of {export}") };
    let file = file.display();
    match what {
        StateNotice::Warms(pages) => {
            write!(
                f,
                "state: {} of the last run{of} come back in the background",
                count(*pages, "page", "pages")
            )
        }
        StateNotice::Unclean => {
            write!(f, "state: the last run did not end in order, so the cache{of} is cold")
        }
        StateNotice::Changed(why) => {
            write!(f, "state: the disc{of} is not as it was ({why}), so the cache is cold")
        }
        StateNotice::Damaged(why) => {
            write!(f, "state: {file} cannot be used ({why}), so the cache{of} is cold")
        }
        StateNotice::NotBegun(error) => {
            write!(
                f,
                "state: cannot write {file} ({error}): make room, or the next start may be cold"
            )
        }
        StateNotice::NotKept(error) => {
            write!(f, "state: cannot write {file} ({error}), so the next start is cold")
        }
        StateNotice::NotClean => {
            write!(
                f,
                "state: not all is on the disc, so {file} keeps nothing and the next start is cold"
            )
        }
    }
}
