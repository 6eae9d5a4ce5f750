//! What a running server asks: its document, signals, and the file that SIGHUP has it read again.

use super::{Error, Spec, describe::describe};
use crate::experiment::notice::{Notice, ServeNotice};
use crate::experiment::session::Session;
use crate::path::nbd::{Change, Keeper, Signalled, Snapshot};
use crate::units::Bytes;

/// The number of SIGHUP.
const HANG_UP: i32 = 1;

/// Reads the settings again.
pub type Reread<'a> = &'a dyn Fn() -> Result<Spec, Error>;

/// The program around a server.
pub(super) struct Keep<'a, 's> {
    pub(super) spec: &'a Spec,
    pub(super) size_bytes: u64,
    pub(super) session: &'a Session<'s>,
    pub(super) reread: Option<Reread<'a>>,
    /// Signals that end the server.
    pub(super) ends: u32,
}

impl Keeper for Keep<'_, '_> {
    fn describe(&self, snapshot: &Snapshot) -> String {
        serde_json::to_string(&describe(self.spec, self.size_bytes, snapshot)).unwrap_or_default()
    }

    fn signals(&mut self) -> Signalled {
        let mut change = None;
        while let Some(signal) = self.session.cancellation.take() {
            match self.reread.filter(|_| signal.number == HANG_UP) {
                Some(reread) => change = self.read_again(reread).or(change),
                None => self.ends += 1,
            }
        }
        Signalled { ends: self.ends, change }
    }

    fn changed(&mut self, outcome: Result<(Change, Change), &str>) {
        match outcome {
            Ok((before, after)) => self.notice_changes(before, after),
            Err(why) => self.notice(ServeNotice::Refused(why)),
        }
    }
}

impl Keep<'_, '_> {
    fn notice(&self, notice: ServeNotice<'_>) {
        self.session.observer.notice(&Notice::Serve(notice));
    }

    /// What the file wants of a running server; what cannot change is named.
    fn read_again(&self, reread: Reread<'_>) -> Option<Change> {
        let read = reread().and_then(|spec| Ok((spec.settings()?, spec)));
        let (settings, spec) = match read {
            Ok(read) => read,
            Err(error) => {
                self.notice(ServeNotice::NotRead(&error));
                return None;
            }
        };
        for key in fixed(self.spec, &spec) {
            self.notice(ServeNotice::Fixed { key });
        }
        // Pages keep their size.
        let pages = u32::try_from(spec.size.0 / u64::from(self.spec.page_bytes));
        Some(Change {
            policy: spec.policy,
            pages: pages.unwrap_or(settings.pages).max(1),
            writes: spec.writes,
            clients_max: super::limits::clients(spec.clients_max, self.session.observer),
        })
    }

    fn notice_changes(&self, before: Change, after: Change) {
        let size = |change: Change| {
            Bytes(u64::from(change.pages) * u64::from(self.spec.page_bytes)).to_string()
        };
        let values = |change: Change| {
            [
                ("size", size(change)),
                ("policy", change.policy.to_string()),
                ("write", change.writes.to_string()),
                ("clients", change.clients_max.to_string()),
            ]
        };
        let mut is_same = true;
        for ((key, from), (_, to)) in values(before).iter().zip(&values(after)) {
            if from != to {
                is_same = false;
                self.notice(ServeNotice::Changed { key, from, to });
            }
        }
        if is_same {
            self.notice(ServeNotice::Unchanged);
        }
    }
}

/// Settings that differ and cannot change while a server runs.
fn fixed(ours: &Spec, other: &Spec) -> Vec<&'static str> {
    let pairs = [
        ("disc", ours.disc == other.disc),
        ("page", ours.page_bytes == other.page_bytes),
        ("threads", ours.threads == other.threads),
        ("socket or listen", ours.listen == other.listen),
        ("allow-anyone", ours.allows_anyone == other.allows_anyone),
        ("client-timeout", ours.client_timeout == other.client_timeout),
        ("control", ours.control == other.control),
        ("metrics", ours.metrics == other.metrics),
        ("name", ours.name == other.name),
        ("read-only", ours.is_read_only == other.is_read_only),
    ];
    pairs.into_iter().filter(|(_, is_same)| !is_same).map(|(key, _)| key).collect()
}
