//! What a probe reports while it goes, and its words.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::time::Duration;

use crate::experiment::live::Left;
use crate::experiment::result::LiveProbeStep;
use crate::units::{Bytes, count, listed};

/// Something of a probe that is good to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ProbeNotice<'a> {
    /// A step is over.
    Step(&'a LiveProbeStep),
    /// A limit that an earlier probe had left.
    Left(&'a Left),
}

impl Display for ProbeNotice<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => {
                write!(
                    f,
                    "under {}: {:.0} fills a second predicted",
                    step.limit_bytes, step.predicted_per_second
                )?;
                match &step.measured {
                    Some(measured) => write!(
                        f,
                        ", {:.0} measured, pressure {:.1} %",
                        measured.fills_per_second,
                        measured.pressure() * 100.0
                    ),
                    None => f.write_str(", not measured"),
                }
            }
            Self::Left(left) => left.fmt(f),
        }
    }
}

/// A limit, or that there is none.
pub(super) fn limit(limit: Option<Bytes>) -> String {
    limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string())
}

impl Display for Left {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restored { directory, from, to } => write!(
                f,
                "{}: an earlier probe was killed and left the limit {from}; restored {}",
                directory.display(),
                limit(*to)
            ),
            Self::NotOurs { directory, found } => write!(
                f,
                "{}: an earlier probe was killed; the limit is {} by now, which is not the probe's, and was left alone",
                directory.display(),
                limit(*found)
            ),
            Self::Failed { directory, error } => write!(
                f,
                "{}: an earlier probe was killed, and its limit cannot be restored: {error}",
                directory.display()
            ),
        }
    }
}

/// What a probe will do.
pub(super) struct Planned<'a> {
    pub(super) directory: &'a Path,
    pub(super) before: Option<Bytes>,
    pub(super) limits: &'a [Bytes],
    pub(super) hold: Duration,
    pub(super) back: Duration,
    pub(super) pressure_max: f64,
    pub(super) may_kill: bool,
}

impl Display for Planned<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let limits: Vec<String> = self.limits.iter().map(ToString::to_string).collect();
        write!(
            f,
            "Probing: limiting the memory of {} to {}, {} for {:.1} s. After each step the limit is again what it is \
             now ({}), for at most {:.0} s, until the cache is back. The service gets slower meanwhile. A pressure of \
             {:.0} % ends the probe.",
            self.directory.display(),
            listed(&limits),
            count(self.limits.len() as u64, "step", "steps"),
            self.hold.as_secs_f64(),
            limit(self.before),
            self.back.as_secs_f64().ceil(),
            self.pressure_max * 100.0,
        )?;
        if self.may_kill {
            f.write_str(
                " The limit of cgroup v1 is hard: the kernel may kill a process of the service",
            )?;
        }
        Ok(())
    }
}
