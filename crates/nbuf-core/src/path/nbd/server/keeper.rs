//! What a server asks of the program around it, and what it can be changed to while it runs.

use super::super::tls::Credentials;
use super::Snapshots;
use crate::cache::cached::Writes;
use crate::cache::policy;

/// The program around a server. A trait, because the server must know neither documents nor notices.
pub(crate) trait Keeper {
    /// A snapshot as a line for the control socket.
    fn describe(&self, snapshot: &Snapshots) -> String;

    /// What signals ask for; called at every turn.
    fn signals(&mut self) -> Signalled;

    /// A change of a disc that a signal asked for is made, from one to the other, or was refused.
    fn changed(&mut self, disc: usize, outcome: Result<(Change, Change), &str>);
}

/// What signals ask for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signalled {
    /// How many came that end the server: the first drains, the second ends it at once. `drain` of a caller counts as
    /// one too.
    pub(crate) ends: u32,
    /// Other settings, and the discs that have them.
    pub(crate) changes: Option<Vec<(usize, Change)>>,
    /// Other certificates, for clients that come from now on.
    pub(crate) credentials: Option<Credentials>,
}

/// What a running server can be changed to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    /// The policy.
    pub(crate) policy: policy::Choice,
    /// Pages of the cache.
    pub(crate) pages: u32,
    /// When a write is on the disc.
    pub(crate) writes: Writes,
    /// The most clients at once.
    pub(crate) clients_max: usize,
}
