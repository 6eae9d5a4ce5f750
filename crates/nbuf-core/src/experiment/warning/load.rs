//! What a reader of `nbuf load` must know, and its words.

use std::fmt::{self, Display, Formatter};

use super::Severity;
use crate::experiment::result::LoadStep;
use crate::units::Bytes;

/// The step of a load that a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadStepName {
    /// Its users.
    pub users: u32,
    /// The memory limit of its commands.
    pub limit_bytes: Option<Bytes>,
    /// The places of the system table.
    pub table: Option<u32>,
    /// The processors of its commands.
    pub cpus: Option<u32>,
}

impl From<&LoadStep> for LoadStepName {
    fn from(step: &LoadStep) -> Self {
        let LoadStep { users, limit_bytes, table, cpus, .. } = *step;
        Self { users, limit_bytes, table, cpus }
    }
}

impl Display for LoadStepName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let plural = |number: u32| if number == 1 { "" } else { "s" };
        write!(f, "{} user{}", self.users, plural(self.users))?;
        if let Some(limit) = self.limit_bytes {
            write!(f, ", {limit}")?;
        }
        if let Some(places) = self.table {
            write!(f, ", table of {places}")?;
        }
        match self.cpus {
            Some(cpus) => write!(f, ", {cpus} CPU{}", plural(cpus)),
            None => Ok(()),
        }
    }
}

/// A warning about a load.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoadWarning {
    /// The group around nbuf has a lower limit.
    LowerLimitAround {
        /// The limit of the steps.
        limit: Bytes,
        /// The lower one.
        around: Bytes,
    },
    /// Pages of the cold files stayed in memory.
    ColdStayed {
        /// The limit of the steps.
        limit: Bytes,
    },
    /// Servers that nbuf did not start serve requests, and no limit holds them.
    OutsideLimits,
    /// Other processes had a large share of the processors.
    OthersBusy {
        /// The step.
        step: LoadStepName,
        /// The share, from 0 to 1.
        share: f64,
    },
    /// The kernel killed processes for lack of memory.
    Killed {
        /// The step.
        step: LoadStepName,
        /// How many.
        processes: u64,
    },
    /// Interactions failed.
    Failed {
        /// The step.
        step: LoadStepName,
        /// How many.
        failed: u64,
        /// The first failure.
        first: String,
    },
    /// Arrivals found no free user.
    NotBegun {
        /// The step.
        step: LoadStepName,
        /// How many.
        arrivals: u64,
    },
    /// The kernel lost records.
    RecordsLost {
        /// The step.
        step: LoadStepName,
        /// How many.
        records: u64,
    },
    /// The response was not steady before the step ended.
    NotSettled {
        /// The step.
        step: LoadStepName,
    },
    /// The interactions are too few to leave out a beginning.
    TooFew {
        /// The step.
        step: LoadStepName,
    },
    /// The kernel does not show what processors and commands do.
    SplitMissing {
        /// Why.
        reason: String,
    },
}

impl LoadWarning {
    /// How much it matters.
    pub(super) fn severity(&self) -> Severity {
        match self {
            Self::OutsideLimits => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl Display for LoadWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::LowerLimitAround { limit, around } => {
                write!(f, "limit {limit}: the group around nbuf has {around}, which holds first")
            }
            Self::ColdStayed { limit } => write!(
                f,
                "limit {limit}: pages of files of --cold stayed in memory, and count for no limit; end what \
                 uses them"
            ),
            Self::OutsideLimits => f.write_str(
                "requests are served outside of the limits, by servers that nbuf did not start; faults, \
                 fills and memory are of commands",
            ),
            Self::OthersBusy { step, share } => write!(
                f,
                "{step}: other processes, nbuf among them, had {:.0} % of the processors",
                share * 100.0
            ),
            Self::Killed { step, processes } => {
                write!(f, "{step}: the kernel killed {processes} processes for lack of memory")
            }
            Self::Failed { step, failed, first } => {
                write!(f, "{step}: {failed} interactions failed, the first was {first}")
            }
            Self::NotBegun { step, arrivals } => write!(
                f,
                "{step}: {arrivals} arrivals found no free user before the end of the step, so that the \
                 response is longer than shown"
            ),
            Self::RecordsLost { step, records } => write!(
                f,
                "{step}: {records} records of the kernel were lost: idle times and the split are not exact"
            ),
            Self::NotSettled { step } => {
                write!(f, "{step}: the response has not settled; give a longer --duration")
            }
            Self::TooFew { step } => write!(
                f,
                "{step}: too few interactions to leave out a beginning; give a longer --duration"
            ),
            Self::SplitMissing { reason } => write!(
                f,
                "idle time is split by samples, and where the time of commands went is missing: {reason}; \
                 run nbuf by sudo"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_named_by_what_it_varies() {
        let one = LoadStepName { users: 1, limit_bytes: None, table: None, cpus: None };
        assert_eq!(one.to_string(), "1 user");
        let all = LoadStepName {
            users: 8,
            limit_bytes: Some(Bytes(64 << 20)),
            table: Some(4),
            cpus: Some(1),
        };
        let killed = LoadWarning::Killed { step: all, processes: 2 };
        assert_eq!(
            killed.to_string(),
            "8 users, 64.0 MiB, table of 4, 1 CPU: the kernel killed 2 processes for lack of memory"
        );
    }
}
