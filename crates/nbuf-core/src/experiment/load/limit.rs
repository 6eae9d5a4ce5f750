//! A memory limit for all commands of the steps: a private group that they join, and the words for what
//! does not hold or does not fit.

use std::io;
use std::sync::Arc;

use super::{Error, Spec};
use crate::experiment::result::Warning;
use crate::meter::probe::residency::Residency;
use crate::sys::cgroup::{self, Group, Hierarchies};
use crate::units::Bytes;

/// A group with its limit.
#[derive(Clone, Debug)]
pub(super) struct Limited {
    pub(super) limit: Bytes,
    pub(super) group: Arc<Group>,
}

/// Makes a group with this limit, after the pages of the cold files were dropped.
pub(super) fn set(
    spec: &Spec,
    limit: Bytes,
    hierarchies: &Hierarchies,
    notes: &mut Vec<Warning>,
) -> Result<Limited, Error> {
    drop_cold(spec, limit, notes);
    let group = Group::create_counting(hierarchies)
        .map_err(|error| Error::Group { limit, cause: said(&error) })?;
    let refused = |cause: io::Error| Error::Group {
        limit,
        cause: format!("the kernel refuses the limit: {cause}"),
    };
    group.limiter().limit(Some(limit)).map_err(refused)?;
    if let Some(around) = hierarchies.memory_limit().filter(|&around| around < limit) {
        let text = format!("limit {limit}: the group around nbuf has {around}, which holds first");
        notes.push(Warning::Text(text));
    }
    Ok(Limited { limit, group: Arc::new(group) })
}

fn drop_cold(spec: &Spec, limit: Bytes, notes: &mut Vec<Warning>) {
    let names: Vec<&str> = spec.cold.iter().map(String::as_str).collect();
    let dropped = Residency::drop_files(names.iter().copied());
    let stayed = dropped.left.len() + dropped.unopened.len();
    if stayed > 0 {
        let text = format!(
            "limit {limit}: pages of files of --cold stayed in memory, and count for no limit; end what uses \
             them"
        );
        notes.push(Warning::Text(text));
    }
}

/// Why there is no group. The library's own words name an option of another verb.
fn said(error: &cgroup::Error) -> String {
    match error {
        cgroup::Error::NoController => {
            "no memory controller is mounted below /sys/fs/cgroup".into()
        }
        cgroup::Error::NotDelegated(parent) => {
            format!("no group can be made below {}, and systemd makes none", parent.display())
        }
        cgroup::Error::Create { path, source } => format!("{}: {source}", path.display()),
        cgroup::Error::Scope { why, .. } => format!("systemd makes no scope: {why}"),
        cgroup::Error::Rate { source } => format!("operations cannot be counted: {source}"),
    }
}

/// What holds for requests under limits.
pub(super) fn outside(spec: &Spec) -> Option<Warning> {
    let text = "requests are served outside of the limits, by servers that nbuf did not start; faults, fills \
                and memory are of commands";
    (!spec.limits.is_empty() && spec.script.has_requests()).then(|| Warning::Text(text.to_owned()))
}
