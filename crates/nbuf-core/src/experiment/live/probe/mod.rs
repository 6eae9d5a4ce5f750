//! A probe of a service: its limit is lowered along the curve for a while, and put back.
//!
//! Only where it was asked for. A guard puts the limit back when this process cannot, and a file is left for the case
//! that both die ([`restore`]). The limit is read before each write: a value of another program is left alone.
//! Version 1 has a hard limit alone, below which the kernel kills; version 2 was not run on a kernel here.

mod drive;
mod ground;
mod plan;
mod state;
mod window;

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::notice::{Notice, ProbeNotice, Question};
use super::super::record::Running;
use super::super::result::{LiveDocument, LivePressureOf, LiveProbe, LiveProbeEnd};
use super::super::session::Session;
use crate::sys::probe::{self as sys, PressureOf, Probed, Version};
use crate::units::Bytes;
use crate::workload::record::running::members;
use drive::{Plan, drive};
use ground::Real;
pub use state::Left;
use state::StateFile;

/// The share of the time waiting that stops a probe, if none is named.
const PRESSURE_MAX: f64 = 0.1;
/// How long each limit holds.
const HOLD: Duration = Duration::from_secs(6);

/// What a probe may do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Probe {
    /// Whether the kernel may kill a process of the service, as the hard limit of version 1 can.
    pub may_kill: bool,
    /// The share of the time waiting that stops it, from 0 to 1: of memory or of I/O, whichever is more.
    pub pressure_max: f64,
    /// How long each limit is measured, six seconds by default; a third of it goes before, to settle.
    #[serde(rename = "hold_seconds", with = "super::super::seconds")]
    pub hold: Option<Duration>,
}

impl Default for Probe {
    fn default() -> Self {
        Self { may_kill: false, pressure_max: PRESSURE_MAX, hold: None }
    }
}

/// Why there is no probe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// Processes have no limit.
    #[error(
        "a probe lowers the limit of one cgroup: give --cgroup, --container, --unit or --pod alone"
    )]
    NoGroup,
    /// The limit would be for this program, too.
    #[error("nbuf runs in the cgroup {}, and would be limited itself; start it elsewhere", .0.display())]
    Inside(PathBuf),
    /// The limit cannot be changed.
    #[error("cannot probe {}: {cause}", .directory.display())]
    Group {
        /// The directory of the group.
        directory: PathBuf,
        /// Why.
        cause: sys::Error,
    },
    /// Version 1 has no limit that only slows down.
    #[error(
        "cgroup v1 has a hard limit alone: under it the kernel may kill a process of {}; \
         --may-kill permits that, and nothing was changed",
        .0.display()
    )]
    MayKill(PathBuf),
    /// There is no place for the file.
    #[error("no directory for the file that restores a limit later; set HOME or XDG_STATE_HOME")]
    NoState,
    /// The file cannot be written, or no guard be started.
    #[error(
        "cannot save the limit to restore it later: {0}; nothing was changed; make room, and try again"
    )]
    Guard(#[source] std::io::Error),
    /// The user could not be asked.
    #[error("cannot ask whether to go on: {0}; -y goes on without a question")]
    Question(#[source] std::io::Error),
}

/// A probe that may be made: the group is locked.
pub(super) struct Prepared {
    spec: Probe,
    probed: Probed,
    directory: PathBuf,
    spool: PathBuf,
}

/// Puts back the limits that killed probes of the user have left, and says so.
pub fn restore(session: &Session<'_>) -> Vec<Left> {
    let spool = session.spool.as_deref();
    let left = spool.map(|spool| state::put_right(spool, session.user())).unwrap_or_default();
    for one in &left {
        session.observer.notice(&Notice::Probe(ProbeNotice::Left(one)));
    }
    left
}

/// Checks that a probe may be made, before anybody waits for a window.
pub(super) fn prepare(
    spec: Probe,
    running: &Running,
    session: &Session<'_>,
) -> Result<Prepared, ProbeError> {
    let directory = match &running.cgroup {
        Some(directory) if running.processes.is_empty() => directory.clone(),
        _ => return Err(ProbeError::NoGroup),
    };
    let spool = session.spool.clone().ok_or(ProbeError::NoState)?;
    restore(session);
    let processes = members(&directory).unwrap_or_default();
    if processes.contains(&std::process::id()) {
        return Err(ProbeError::Inside(directory));
    }
    let unified = ground::unified(&processes);
    let probed = Probed::open(&directory, unified.as_deref())
        .map_err(|cause| ProbeError::Group { directory: directory.clone(), cause })?;
    if probed.version() == Version::V1 && !spec.may_kill {
        return Err(ProbeError::MayKill(directory));
    }
    Ok(Prepared { spec, probed, directory, spool })
}

impl Prepared {
    /// Asks, and makes the probe.
    pub(super) fn run(
        &self,
        live: &LiveDocument,
        session: &Session<'_>,
    ) -> Result<LiveProbe, ProbeError> {
        let before = self.probed.limit().map_err(|cause| ProbeError::Group {
            directory: self.directory.clone(),
            cause: cause.into(),
        })?;
        let hold = self.spec.hold.unwrap_or(HOLD);
        let plan = Plan {
            before,
            steps: plan::steps(live, before),
            pressure_max: self.spec.pressure_max,
            pressure_of: match self.probed.pressure_of() {
                PressureOf::Group => LivePressureOf::Group,
                PressureOf::Machine => LivePressureOf::Machine,
                PressureOf::Nothing => LivePressureOf::Nothing,
            },
            free: hold.min(HOLD),
            settle: hold / 3,
            hold,
            back: hold.saturating_mul(5),
        };
        let probe = match live.interrupted {
            Some(_) => self.none(&plan, LiveProbeEnd::Interrupted),
            None if plan.steps.is_empty() => self.none(&plan, LiveProbeEnd::NoStep),
            None if !self.agrees(&plan, session)? => self.none(&plan, LiveProbeEnd::Declined),
            None => self.guarded(&plan, session)?,
        };
        let file = self.directory.join(self.probed.version().file()).display().to_string();
        Ok(LiveProbe { file, ..probe })
    }

    fn none(&self, plan: &Plan, end: LiveProbeEnd) -> LiveProbe {
        let after = self.probed.limit().ok().flatten();
        LiveProbe {
            before_bytes: plan.before,
            after_bytes: after,
            is_restored: after == plan.before,
            pressure_of: plan.pressure_of,
            pressure_max: plan.pressure_max,
            end,
            ..LiveProbe::default()
        }
    }

    fn agrees(&self, plan: &Plan, session: &Session<'_>) -> Result<bool, ProbeError> {
        let limits: Vec<Bytes> = plan.steps.iter().map(|step| step.limit).collect();
        let question = Question::Probe {
            directory: &self.directory,
            before: plan.before,
            limits: &limits,
            hold: plan.settle + plan.hold,
            back: plan.back,
            pressure_max: plan.pressure_max,
            may_kill: self.probed.version() == Version::V1,
        };
        let agreed = session.observer.agrees(&question, &session.cancellation);
        agreed.map_err(ProbeError::Question)
    }

    /// The limit is written only while a guard and a file are there.
    fn guarded(&self, plan: &Plan, session: &Session<'_>) -> Result<LiveProbe, ProbeError> {
        let ours: Vec<Bytes> = plan.steps.iter().map(|step| step.limit).collect();
        let state = StateFile::new(&self.spool).map_err(ProbeError::Guard)?;
        let name = state.c_name().map_err(ProbeError::Guard)?;
        let kept = Some((state.directory.as_fd(), name));
        let guard = self.probed.guard(plan.before, &ours, kept).map_err(ProbeError::Guard)?;
        let written = state.write(&self.probed, &self.directory, plan.before, &ours);
        written.map_err(ProbeError::Guard)?;
        let real = Real {
            probed: &self.probed,
            directory: &self.directory,
            guard: &guard,
            cancellation: &session.cancellation,
            user: session.user(),
            wake: RefCell::default(),
        };
        let probe = drive(&real, plan, &mut |step| {
            session.observer.notice(&Notice::Probe(ProbeNotice::Step(step)));
        });
        drop(real);
        drop(guard);
        // A guard that was killed leaves the file. What is still ours is for a later run.
        let is_ours = |limit: Option<Bytes>| limit.is_some_and(|limit| ours.contains(&limit));
        if self.probed.limit().is_ok_and(|now| !is_ours(now)) {
            state.remove();
        }
        Ok(probe)
    }
}
