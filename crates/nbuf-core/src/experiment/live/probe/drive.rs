//! The course of a probe, over the files of a group or what stands for them in tests.
//!
//! Invariant: a limit is written only where the one that was read is ours, or the one from before. Whatever ends a step,
//! the limit is put back before anything else is done.

use std::time::Duration;

use super::super::super::result::{
    LivePressureOf, LiveProbe, LiveProbeEnd, LiveProbeRates, LiveProbeStep,
};
use super::ground::Ground;
use super::plan::{Step, floor};
use super::window::{Window, rates};
use crate::sys::probe::Look;
use crate::units::Bytes;

/// How it is done.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) before: Option<Bytes>,
    pub(super) steps: Vec<Step>,
    pub(super) pressure_max: f64,
    pub(super) pressure_of: LivePressureOf,
    /// How long the service is measured before the first limit.
    pub(super) free: Duration,
    /// How long a limit holds before its figures count.
    pub(super) settle: Duration,
    /// For how long they are counted.
    pub(super) hold: Duration,
    /// How long a cache may take to come back.
    pub(super) back: Duration,
}

/// Between two looks.
const TICK: Duration = Duration::from_millis(50);
/// Parts in which memory is taken, and tries of them.
const PARTS: u64 = 8;
const TRIES: u64 = 24;

/// What ended a step early.
enum Stop {
    End(LiveProbeEnd),
    Error(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Error(error)
    }
}

/// Makes the steps. The limit is what it was before, unless another program changed it or the kernel refuses.
pub(super) fn drive(
    ground: &dyn Ground,
    plan: &Plan,
    each: &mut dyn FnMut(&LiveProbeStep),
) -> LiveProbe {
    let mut probe = LiveProbe {
        before_bytes: plan.before,
        pressure_of: plan.pressure_of,
        pressure_max: plan.pressure_max,
        ..LiveProbe::default()
    };
    if plan.steps.is_empty() {
        probe.end = LiveProbeEnd::NoStep;
    } else if let Err(stop) = course(ground, plan, &mut probe, each) {
        match stop {
            Stop::End(end) => probe.end = end,
            Stop::Error(error) => {
                let is_alive = ground.is_alive();
                probe.end = if is_alive { LiveProbeEnd::Refused } else { LiveProbeEnd::Ended };
                probe.error = Some(error.to_string());
            }
        }
    }
    if let Ok(after) = ground.limit() {
        probe.after_bytes = after;
        probe.is_restored = after == plan.before;
    }
    probe
}

fn course(
    ground: &dyn Ground,
    plan: &Plan,
    probe: &mut LiveProbe,
    each: &mut dyn FnMut(&LiveProbeStep),
) -> Result<(), Stop> {
    let (first, calls) = (ground.look()?, ground.calls());
    let mut window = Window::new(first);
    let free = hold(ground, plan, plan.free, plan.before, None, &mut window);
    probe.free = paced(rates(&first, &ground.look()?), calls, ground);
    free?;
    for step in &plan.steps {
        let mut done = LiveProbeStep {
            limit_bytes: step.limit,
            predicted_cache_bytes: step.point.cache_bytes,
            predicted_per_second: step.point.misses_per_second,
            predicted_per_second_low: step.point.misses_per_second_low,
            predicted_per_second_high: step.point.misses_per_second_high,
            ..LiveProbeStep::default()
        };
        let before = ground.look()?;
        if floor(before.other) > step.limit {
            return Err(Stop::End(LiveProbeEnd::NoRoom));
        }
        let result = under(ground, plan, step, &before, &mut done);
        done.expected_per_second = expected(&done, &probe.free);
        let put = put_back(ground, plan, step.limit);
        let _ = ground.watch(None);
        // A step that another program took over says nothing more.
        if put.is_ok() && result.is_ok() {
            result.and(come_back(ground, plan, &before, &mut done)).inspect_err(|_| {
                probe.steps.push(done.clone());
            })?;
            each(&done);
            probe.steps.push(done);
        } else {
            if put.is_ok() && ground.is_alive() {
                let _ = come_back(ground, plan, &before, &mut done);
            }
            each(&done);
            probe.steps.push(done);
            result?;
            put?;
        }
    }
    Ok(())
}

/// The rates with the calls since an earlier count. Processes that ended meanwhile are missing.
fn paced(rates: LiveProbeRates, before: u64, ground: &dyn Ground) -> LiveProbeRates {
    let calls = ground.calls().saturating_sub(before);
    LiveProbeRates { calls_per_second: calls as f64 / rates.seconds.max(1e-9), ..rates }
}

/// The prediction at the pace of the step.
fn expected(step: &LiveProbeStep, free: &LiveProbeRates) -> Option<f64> {
    let pace = step.measured?.calls_per_second / free.calls_per_second;
    (pace.is_finite() && pace > 0.0).then_some(step.predicted_per_second * pace)
}

/// Lowers the limit, lets it settle, and measures under it.
fn under(
    ground: &dyn Ground,
    plan: &Plan,
    step: &Step,
    before: &Look,
    done: &mut LiveProbeStep,
) -> Result<(), Stop> {
    let mut window = Window::new(*before);
    take(ground, plan, step, &mut window)?;
    must_be(ground, plan.before)?;
    ground.watch(Some(step.limit))?;
    ground.set(Some(step.limit))?;
    must_be(ground, Some(step.limit))?;
    let settled = hold(ground, plan, plan.settle, Some(step.limit), Some(step), &mut window);
    let (from, calls) = (ground.look()?, ground.calls());
    let held = settled
        .and_then(|()| hold(ground, plan, plan.hold, Some(step.limit), Some(step), &mut window));
    let to = ground.look()?;
    let measured = rates(&from, &to);
    // Less is no measurement.
    if measured.seconds >= 0.1 {
        done.measured = Some(paced(measured, calls, ground));
    }
    done.cache_bytes = to.cache;
    done.taken_bytes = before.cache - to.cache;
    held
}

/// Has the kernel take what is above the limit, bit by bit, so that nothing has to be put back.
fn take(ground: &dyn Ground, plan: &Plan, step: &Step, window: &mut Window) -> Result<(), Stop> {
    let above = |look: &Look| look.usage.0.saturating_sub(step.limit.0);
    let part = above(&ground.look()?).div_ceil(PARTS);
    for _ in 0..TRIES {
        let look = ground.look()?;
        if above(&look) == 0 || !ground.reclaim(Bytes(part.min(above(&look))))? {
            break;
        }
        check(ground, plan, plan.before, None, window)?;
        if ground.wait(Duration::ZERO) {
            return Err(Stop::End(LiveProbeEnd::Interrupted));
        }
    }
    Ok(())
}

/// Waits while all is well.
fn hold(
    ground: &dyn Ground,
    plan: &Plan,
    time: Duration,
    ours: Option<Bytes>,
    step: Option<&Step>,
    window: &mut Window,
) -> Result<(), Stop> {
    let began_ns = ground.look()?.time_ns;
    loop {
        if ground.wait(TICK.min(time)) {
            return Err(Stop::End(LiveProbeEnd::Interrupted));
        }
        let look = check(ground, plan, ours, step, window)?;
        if Duration::from_nanos(look.time_ns.saturating_sub(began_ns)) >= time {
            return Ok(());
        }
    }
}

/// Looks whether all is well: no memory that cannot be taken fills the limit, no kill, no pressure, no other writer.
fn check(
    ground: &dyn Ground,
    plan: &Plan,
    ours: Option<Bytes>,
    step: Option<&Step>,
    window: &mut Window,
) -> Result<Look, Stop> {
    let look = ground.look()?;
    let end = |end| Err(Stop::End(end));
    if look.kills > window.first().kills {
        return end(LiveProbeEnd::Killed);
    }
    // Half of the room of the floor is left: the rest may be gone before the next look.
    if step.is_some_and(|step| look.other.0 + look.other.0 / 20 > step.limit.0) {
        return end(LiveProbeEnd::Grew);
    }
    if !ground.is_alive() {
        return end(LiveProbeEnd::Ended);
    }
    must_be(ground, ours)?;
    let recent = window.push(look);
    let is_too_much = |rates: LiveProbeRates| match plan.pressure_of {
        LivePressureOf::Nothing => step.is_some_and(|step| {
            rates.fills_per_second > 2.0 * step.point.misses_per_second_high.max(50.0)
        }),
        _ => rates.pressure() > plan.pressure_max,
    };
    if recent.is_some_and(is_too_much) {
        return end(LiveProbeEnd::Pressure);
    }
    Ok(look)
}

/// Whether the limit is this one.
fn must_be(ground: &dyn Ground, want: Option<Bytes>) -> Result<(), Stop> {
    if ground.limit()? == want { Ok(()) } else { Err(Stop::End(LiveProbeEnd::Changed)) }
}

/// Lifts the limit if it is ours.
fn put_back(ground: &dyn Ground, plan: &Plan, ours: Bytes) -> Result<(), Stop> {
    match ground.limit()? {
        now if now == plan.before => Ok(()),
        Some(now) if now == ours => Ok(ground.set(plan.before)?),
        _ => Err(Stop::End(LiveProbeEnd::Changed)),
    }
}

/// Waits until nine tenths of what the step took are back.
fn come_back(
    ground: &dyn Ground,
    plan: &Plan,
    before: &Look,
    done: &mut LiveProbeStep,
) -> Result<(), Stop> {
    let wanted = before.cache.0.saturating_sub(done.taken_bytes.0 / 10);
    let began_ns = ground.look()?.time_ns;
    loop {
        let look = ground.look()?;
        let passed = Duration::from_nanos(look.time_ns.saturating_sub(began_ns));
        done.back_watched_seconds = passed.as_secs_f64();
        if look.cache.0 >= wanted {
            done.back_seconds = Some(passed.as_secs_f64());
            return Ok(());
        }
        must_be(ground, plan.before)?;
        if passed >= plan.back {
            return Ok(());
        }
        if ground.wait(TICK) {
            return Err(Stop::End(LiveProbeEnd::Interrupted));
        }
    }
}

#[cfg(test)]
mod tests;
