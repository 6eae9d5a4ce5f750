//! What the steps of a load are repeated under: a memory limit, the places of a system table, and processors.

use rustix::thread::{CpuSet, sched_getaffinity};

use super::{Error, Spec};
use crate::experiment::result::LoadStep;
use crate::units::Bytes;

/// One set of conditions; nothing where something is not varied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) limit: Option<Bytes>,
    pub(super) table: Option<u32>,
    pub(super) cpus: Option<u32>,
}

impl Condition {
    /// All conditions under one limit, in the order of the spec.
    pub(super) fn under(spec: &Spec, limit: Option<Bytes>) -> Vec<Self> {
        let or_nothing = |all: &[u32]| -> Vec<Option<u32>> {
            if all.is_empty() { vec![None] } else { all.iter().copied().map(Some).collect() }
        };
        let of_table =
            |table| or_nothing(&spec.cpus).into_iter().map(move |cpus| Self { limit, table, cpus });
        or_nothing(&spec.tables).into_iter().flat_map(of_table).collect()
    }

    pub(super) fn of(row: &LoadStep) -> Self {
        Self { limit: row.limit_bytes, table: row.table, cpus: row.cpus }
    }
}

/// The processors that nbuf may use.
pub(super) fn processors() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect()
}

/// Whether there are as many processors as are asked for.
pub(super) fn check(spec: &Spec) -> Result<(), Error> {
    let has = u32::try_from(processors().len()).unwrap_or(u32::MAX);
    let wrong = spec.cpus.iter().find(|&&cpus| cpus == 0 || cpus > has);
    if let Some(&requested) = wrong {
        return Err(Error::Processors { requested, has });
    }
    match spec.tables.iter().find(|&&places| places == 0) {
        Some(_) => Err(Error::Places),
        None => Ok(()),
    }
}
