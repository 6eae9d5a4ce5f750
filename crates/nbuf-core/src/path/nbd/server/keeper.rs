//! What a server asks of the program around it, and what it can be changed to while it runs.

use super::super::tls::Credentials;
use super::{Server, Snapshots};
use crate::cache::cached::{Bypass, Writes};
use crate::cache::policy;

/// The program around a server. A trait, because the server must know neither documents nor notices.
pub(crate) trait Keeper {
    /// A snapshot as a line for the control socket.
    fn describe(&self, snapshot: &Snapshots) -> String;

    /// What signals ask for; called at every turn.
    fn signals(&mut self) -> Signalled;

    /// The cache of a disc stepped aside, or is back.
    fn stepped(&mut self, disc: usize, is_aside: bool);

    /// The second tier of a disc is not used any more, for this reason.
    fn tier_lost(&mut self, disc: usize, why: &str);

    /// The journal of a disc failed, for this reason, while the disc lacked this many bytes of it.
    fn journal_lost(&mut self, disc: usize, why: &str, owed_bytes: u64);

    /// Requests to the object of a disc failed, for this reason.
    fn object_failed(&mut self, disc: usize, why: &str);

    /// A change of a disc that a signal asked for is made, from one to the other, or was refused.
    fn changed(&mut self, disc: usize, outcome: Result<(Change, Change), &str>);
}

/// What signals ask for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signalled {
    /// How many came that end the server: the first drains, the second ends it at once. `drain` of a control client
    /// counts as none.
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
    /// What is read ahead at once, at the most, in bytes; 0 is off.
    pub(crate) readahead_bytes: u32,
    /// Whether the cache steps aside where it costs more than it saves.
    pub(crate) bypass: Bypass,
    /// The most clients at once.
    pub(crate) clients_max: usize,
}

impl Server {
    /// Notifies the program of what happened to discs since the last turn.
    pub(super) fn notify(&mut self, keeper: &mut dyn Keeper) {
        for (disc, served) in self.discs.iter_mut().enumerate() {
            if let Some(is_aside) = served.stepped() {
                keeper.stepped(disc, is_aside);
            }
            if let Some(why) = served.cache.disc().complaint() {
                keeper.object_failed(disc, &why);
            }
            if let Some(why) = served.lost_tier() {
                keeper.tier_lost(disc, &why);
            }
            if let Some((why, owed_bytes)) = served.lost_journal() {
                keeper.journal_lost(disc, &why, owed_bytes);
            }
        }
    }
}
