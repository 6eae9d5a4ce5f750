//! `nbuf size --probe`: the limit of a service is lowered for a while, and put back.

use std::time::Duration;

use anyhow::Result;
use nbuf::experiment::live::{Left, Probe, restore};
use nbuf::experiment::result::{LiveProbe, LiveProbeEnd};

use super::arguments::Args;
use super::values::some_time;
use crate::console::Console;
use crate::exit;
use crate::fail::UsageError;
use crate::verbosity::note;

/// How a service is probed.
#[derive(Debug, clap::Args)]
pub(super) struct Probing {
    /// After the prediction, lower the limit of the cgroup step by step, measure under it, and put it back. Asks first
    #[arg(long, requires = "running", conflicts_with_all = ["follow", "pid", "restore_limits"])]
    probe: bool,

    /// With --probe, on cgroup v1: accept that the kernel may kill a process of the service under the hard limit
    #[arg(long, requires = "probe")]
    may_kill: bool,

    /// With --probe: stop when tasks wait for memory or for I/O in more than this share of the time [default: 10%]
    #[arg(long, value_name = "SHARE", value_parser = pressure, requires = "probe")]
    max_pressure: Option<f64>,

    /// With --probe: measure under each limit for this time (6s, 1m) [default: 6s]
    #[arg(long, value_name = "TIME", value_parser = some_time, requires = "probe")]
    probe_hold: Option<Duration>,

    /// Put back limits that a killed --probe left behind, and do nothing else
    #[arg(long, group = "running")]
    pub(super) restore_limits: bool,
}

/// `10%`, up to all of the time.
fn pressure(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.map(|number| number / 100.0).filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "write a share of the time up to 100%, as 10% or 0.5%".to_owned())
}

impl Probing {
    /// The probe that is wanted, if any.
    pub(super) fn wanted(&self, are_several: bool) -> Result<Option<Probe>, UsageError> {
        if self.probe && are_several {
            return Err(UsageError(
                "--probe is for one cgroup; give one, without a pattern".to_owned(),
            ));
        }
        let defaults = Probe::default();
        Ok(self.probe.then(|| Probe {
            may_kill: self.may_kill,
            pressure_max: self.max_pressure.unwrap_or(defaults.pressure_max),
            hold: self.probe_hold,
        }))
    }
}

/// Whether a probe did what was asked: a user may decline it.
pub(super) fn is_whole(probe: &LiveProbe) -> bool {
    match probe.end {
        LiveProbeEnd::Complete => probe.is_restored,
        end => end == LiveProbeEnd::Declined,
    }
}

/// Restores what killed probes left.
pub(super) fn restore_limits(args: &Args) -> Result<u8> {
    if args.running.is_given() {
        let only = "--restore-limits finds the groups by itself: leave out --cgroup and its like";
        return Err(UsageError(only.to_owned()).into());
    }
    let console = Console::plain();
    let left = restore(&console.session());
    if left.is_empty() {
        note("no probe has left a limit");
    }
    let has_failed = left.iter().any(|left| matches!(left, Left::Failed { .. }));
    Ok(if has_failed { exit::INTERNAL_ERROR } else { 0 })
}
