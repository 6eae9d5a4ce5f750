//! How many clients the process may have descriptors for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::experiment::notice::{Notice, ServeNotice};
use crate::experiment::session::Observer;

/// Descriptors for all except clients of discs: files, listening sockets, clients of the control socket.
const OTHERS: usize = 128;

/// Raises the limit on open files as far as this many clients need. How many are possible; the observer is notified
/// if they are fewer.
pub(super) fn clients(wanted: usize, observer: &dyn Observer) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let needed = (wanted + OTHERS) as u64;
    let most = limit.maximum.unwrap_or(u64::MAX);
    let current = limit.current.unwrap_or(u64::MAX);
    let raised = current.max(needed.min(most));
    if raised > current {
        let raised = Rlimit { current: Some(raised), maximum: limit.maximum };
        let _ = setrlimit(Resource::Nofile, raised);
    }
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let now = usize::try_from(now).unwrap_or(usize::MAX);
    let possible = wanted.min(now.saturating_sub(OTHERS)).max(1);
    if possible < wanted {
        let few = ServeNotice::FewClients { wanted, possible };
        observer.notice(&Notice::Serve(few));
    }
    possible
}
