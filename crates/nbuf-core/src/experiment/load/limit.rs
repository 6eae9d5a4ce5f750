//! A memory limit for all commands of the steps: a private group that they join, and what
//! does not hold or does not fit.

use std::io;
use std::sync::Arc;

use super::{Error, Spec};
use crate::experiment::result::Warning;
use crate::experiment::warning::LoadWarning;
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
        notes.push(Warning::Load(LoadWarning::LowerLimitAround { limit, around }));
    }
    Ok(Limited { limit, group: Arc::new(group) })
}

fn drop_cold(spec: &Spec, limit: Bytes, notes: &mut Vec<Warning>) {
    let names: Vec<&str> = spec.cold.iter().map(String::as_str).collect();
    let dropped = Residency::drop_files(names.iter().copied());
    let stayed = dropped.left.len() + dropped.unopened.len();
    if stayed > 0 {
        notes.push(Warning::Load(LoadWarning::ColdStayed { limit }));
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
    let is_outside = !spec.limits.is_empty() && spec.script.has_requests();
    is_outside.then_some(Warning::Load(LoadWarning::OutsideLimits))
}
