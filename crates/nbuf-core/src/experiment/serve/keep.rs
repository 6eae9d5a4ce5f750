//! What a running server asks: its document, signals, and the file that SIGHUP has it read again.

use super::ends::Ends;
use super::{Error, ExportSpec, Readahead, Spec, TlsSpec, describe::describe};
use crate::cache::tiered::DISC_REFUSED;
use crate::experiment::notice::{Notice, ServeNotice, TierNotice};
use crate::experiment::session::Session;
use crate::path::nbd::{Change, Credentials, Keeper, Signalled, Snapshots};
use crate::units::Bytes;

/// Reads the settings again.
pub type Reread<'a> = &'a dyn Fn() -> Result<Spec, Error>;

/// The program around a server.
pub(super) struct Keep<'a, 's> {
    pub(super) spec: &'a Spec,
    pub(super) sizes_bytes: Vec<u64>,
    pub(super) session: &'a Session<'s>,
    pub(super) reread: Option<Reread<'a>>,
    /// Those that were read again, until the server takes them.
    pub(super) credentials: Option<Credentials>,
    /// Signals that end the server.
    pub(super) ends: &'a Ends<'a>,
}

impl Keeper for Keep<'_, '_> {
    fn describe(&self, server: &Snapshots) -> String {
        let document = describe(self.spec, &self.sizes_bytes, server);
        serde_json::to_string(&document).unwrap_or_default()
    }

    fn signals(&mut self) -> Signalled {
        let (ends, is_hung_up) = self.ends.take();
        let reread = self.reread.filter(|_| is_hung_up);
        let changes = reread.and_then(|reread| self.read_again(reread));
        Signalled { ends, changes, credentials: self.credentials.take() }
    }

    fn stepped(&mut self, disc: usize, is_aside: bool) {
        let exports = &self.spec.exports;
        let export = if exports.len() > 1 { &exports[disc].name } else { "" };
        self.notice(ServeNotice::Stepped { export, is_aside });
    }

    fn tier_lost(&mut self, disc: usize, why: &str) {
        let Some(tier) = self.spec.exports[disc].tier.as_ref() else { return };
        let what = match why {
            DISC_REFUSED => TierNotice::DiscRefused,
            why => TierNotice::Lost(why.to_owned()),
        };
        self.notice(ServeNotice::Tier { file: &tier.path, what: &what });
    }

    fn journal_lost(&mut self, disc: usize, why: &str, owed_bytes: u64) {
        let Some(tier) = self.spec.exports[disc].tier.as_ref() else { return };
        let what = TierNotice::Failed(why.to_owned(), Bytes(owed_bytes));
        self.notice(ServeNotice::Tier { file: &tier.journal(), what: &what });
    }

    fn object_failed(&mut self, disc: usize, why: &str) {
        let exports = &self.spec.exports;
        let export = if exports.len() > 1 { &exports[disc].name } else { "" };
        self.notice(ServeNotice::ObjectFailed { export, why });
    }

    fn changed(&mut self, disc: usize, outcome: Result<(Change, Change), &str>) {
        match outcome {
            Ok((before, after)) => self.notice_changes(disc, before, after),
            Err(why) => self.notice(ServeNotice::Refused(why)),
        }
    }
}

impl Keep<'_, '_> {
    fn notice(&self, notice: ServeNotice<'_>) {
        self.session.observer.notice(&Notice::Serve(notice));
    }

    /// What the file wants of a running server, of each disc that it names; what cannot change is named.
    fn read_again(&mut self, reread: Reread<'_>) -> Option<Vec<(usize, Change)>> {
        let read = reread().and_then(|spec| spec.check().map(|()| spec));
        let read =
            read.and_then(|spec| Ok((spec.tls.as_ref().map(TlsSpec::load).transpose()?, spec)));
        let spec = match read {
            Ok((credentials, spec)) => {
                self.take_credentials(credentials, &spec);
                spec
            }
            Err(error) => {
                self.notice(ServeNotice::NotRead(&error));
                return None;
            }
        };
        for key in fixed(self.spec, &spec) {
            self.notice(ServeNotice::Fixed { key });
        }
        for export in without(self.spec, &spec) {
            self.notice(ServeNotice::Missing { export });
        }
        for export in without(&spec, self.spec) {
            self.notice(ServeNotice::Added { export });
        }
        let clients_max = super::limits::clients(spec.clients_max, self.session.observer);
        let change = |(disc, ours): (usize, &ExportSpec)| {
            let wanted = same(self.spec, ours, &spec)?;
            // Pages keep their size.
            let pages = u32::try_from(wanted.size.0 / u64::from(ours.page_bytes));
            let pages = pages.unwrap_or(u32::MAX).max(1);
            Some((
                disc,
                Change {
                    policy: wanted.policy,
                    pages,
                    writes: wanted.writes,
                    readahead_bytes: wanted.readahead.bytes(),
                    bypass: wanted.bypass,
                    clients_max,
                },
            ))
        };
        Some(self.spec.exports.iter().enumerate().filter_map(change).collect())
    }

    /// Certificates are for clients that come from now on.
    fn take_credentials(&mut self, credentials: Option<Credentials>, spec: &Spec) {
        let is_like = TlsSpec::is_like(self.spec.tls.as_ref(), spec.tls.as_ref());
        self.credentials = credentials.filter(|_| is_like);
        if self.credentials.is_some() {
            self.notice(ServeNotice::Certificates);
        }
    }

    fn notice_changes(&self, disc: usize, before: Change, after: Change) {
        let exports = &self.spec.exports;
        let export = &exports[disc];
        let size = |change: Change| {
            Bytes(u64::from(change.pages) * u64::from(export.page_bytes)).to_string()
        };
        let values = |change: Change| {
            [
                ("size", size(change)),
                ("policy", change.policy.to_string()),
                ("write", change.writes.to_string()),
                ("readahead", Readahead::of(change.readahead_bytes).to_string()),
                ("bypass", change.bypass.to_string()),
                ("clients", change.clients_max.to_string()),
            ]
        };
        let mut is_same = true;
        for ((key, from), (_, to)) in values(before).iter().zip(&values(after)) {
            if from != to {
                is_same = false;
                let of = format!("{key} of {}", export.name);
                let is_own = exports.len() > 1 && *key != "clients";
                let key = if is_own { &of } else { *key };
                self.notice(ServeNotice::Changed { key, from, to });
            }
        }
        if is_same && exports.len() == 1 {
            self.notice(ServeNotice::Unchanged);
        }
    }
}

/// The export of other settings that is this one of ours: by its name, as no place in a file is an identity. One alone
/// is the other one alone.
fn same<'a>(spec: &Spec, ours: &ExportSpec, other: &'a Spec) -> Option<&'a ExportSpec> {
    match (&spec.exports[..], &other.exports[..]) {
        ([_], [only]) => Some(only),
        _ => other.exports.iter().find(|other| other.name == ours.name),
    }
}

/// The names of exports of these settings that the others do not have.
fn without<'a>(spec: &'a Spec, other: &Spec) -> Vec<&'a str> {
    let is_alone = |export: &&ExportSpec| same(spec, export, other).is_none();
    spec.exports.iter().filter(is_alone).map(|export| export.name.as_str()).collect()
}

/// Settings that differ and cannot change while a server runs.
fn fixed(ours: &Spec, other: &Spec) -> Vec<&'static str> {
    let pairs = || ours.exports.iter().filter_map(|own| Some((own, same(ours, own, other)?)));
    let pairs = [
        ("disc", pairs().all(|(ours, other)| ours.disc == other.disc)),
        ("page", pairs().all(|(ours, other)| ours.page_bytes == other.page_bytes)),
        ("threads", ours.threads == other.threads),
        ("socket or listen", ours.listen == other.listen),
        ("allow-anyone", ours.allows_anyone == other.allows_anyone),
        ("TLS", TlsSpec::is_like(ours.tls.as_ref(), other.tls.as_ref())),
        ("disc-tls-ca, disc-tls-cert or disc-tls-key", ours.trust == other.trust),
        ("state", ours.state == other.state),
        (
            "tier, tier-size, tier-trust, tier-timeout or durable-tier",
            pairs().all(|(ours, other)| ours.tier == other.tier),
        ),
        ("client-timeout", ours.client_timeout == other.client_timeout),
        ("spin", ours.spin == other.spin),
        ("control", ours.control == other.control),
        ("metrics", ours.metrics == other.metrics),
        ("name", pairs().all(|(ours, other)| ours.name == other.name)),
        ("read-only", pairs().all(|(ours, other)| ours.is_read_only == other.is_read_only)),
    ];
    pairs.into_iter().filter(|(_, is_same)| !is_same).map(|(key, _)| key).collect()
}
