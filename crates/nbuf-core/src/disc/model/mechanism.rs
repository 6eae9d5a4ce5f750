//! The arm, the heads, and the angle of the disc.
//!
//! The angle depends on the time alone. The disc never stops, so a request that comes one sector
//! too late waits for a turn. Each track of a request is one step, whatever its number of sectors.

use super::drive::{Drive, Way};
use super::geometry::{Angle, Run};
use crate::units::Nanos;

/// A sector is still caught if the head is late by less than this part of a turn. Times are whole
/// nanoseconds, so rounding must not make a head miss a sector.
const CAUGHT: Angle = 1 << 44;

/// The position of the arm.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mechanism {
    cylinder: u32,
    head: u32,
    /// The time until which the arm is busy.
    pub free: Nanos,
}

/// The times of an access to the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Access {
    pub seek: Nanos,
    pub rotation: Nanos,
    pub transfer: Nanos,
    pub end: Nanos,
    /// The time at which the requested number of sectors had passed.
    pub mark: Nanos,
    /// Whether the next sector is on the track where the access ended.
    pub more: bool,
}

/// The data of a write. Its first sector may pass after `from`, once the bus is far enough ahead
/// never to run dry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supply {
    pub from: Nanos,
    pub sector: Nanos,
}

/// The purpose of an access.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// The caller waits for this number of sectors separately.
    Read {
        mark: u64,
    },
    Write(Supply),
}

impl Mechanism {
    pub(super) fn cylinder(&self) -> u32 {
        self.cylinder
    }

    /// Accesses this number of sectors from `sector` on. The arm may move from `at` on.
    pub(super) fn access(
        &mut self,
        drive: &Drive,
        at: Nanos,
        (sector, count): (u64, u64),
        purpose: Purpose,
    ) -> Access {
        if let Way::Mean { sector: further } = drive.way {
            return self.mean(drive, at, sector, count, further);
        }
        let (writes, mark) = match purpose {
            Purpose::Read { mark } => (false, sector + mark),
            Purpose::Write(_) => (true, sector + 1),
        };
        let mut access = Access { end: at, ..Access::default() };
        let (mut next, last) = (sector, sector + count);
        while next < last {
            let Some(run) = drive.geometry.run(next, last - next) else { break };
            let mut seek = self.seek(drive, &run, writes);
            let at_least = drive.controller.write_seek_min;
            if writes && next == sector && at_least > Nanos::ZERO {
                // A head settles for a write even if the arm does not move.
                seek = seek.max(Nanos(at_least.0.saturating_add_signed(drive.write_settle_ns)));
            }
            let mut wait = wait(drive, access.end + seek, run.angle);
            if let (Purpose::Write(supply), true) = (purpose, next == sector) {
                let lag = supply.sector - sectors(drive, &run, 1);
                let ready = supply.from + supply.sector + lag * (count - 1);
                let short = ready - (access.end + seek + wait);
                wait += drive.rotation * short.0.div_ceil(drive.rotation.0.max(1));
            }
            let begins = access.end + seek + wait;
            let transfer = sectors(drive, &run, run.span);
            if (next..next + run.sectors).contains(&mark.saturating_sub(1)) {
                access.mark = begins + sectors(drive, &run, mark - next);
            }
            access.seek += seek;
            access.rotation += wait;
            access.transfer += transfer;
            access.end += seek + wait + transfer;
            access.more = run.more;
            next += run.sectors;
        }
        access.mark = access.mark.min(access.end);
        self.free = access.end;
        access
    }

    fn mean(
        &mut self,
        drive: &Drive,
        at: Nanos,
        sector: u64,
        count: u64,
        further: Nanos,
    ) -> Access {
        self.cylinder = drive.geometry.cylinder(sector + count.max(1) - 1);
        let (seek, rotation) = (drive.seek.mean(), drive.wait_mean());
        let mark = at + seek + rotation;
        let transfer = further * (count.max(1) - 1);
        self.free = mark + transfer;
        Access { seek, rotation, transfer, end: self.free, mark, more: false }
    }

    /// Moves the arm to a track and returns the time it takes.
    pub(super) fn seek(&mut self, drive: &Drive, run: &Run, writes: bool) -> Nanos {
        if run.cylinder == self.cylinder && run.head == self.head {
            return Nanos::ZERO;
        }
        let switch = if run.head == self.head { Nanos::ZERO } else { drive.head_switch };
        let moved = drive.seek.time(run.cylinder.abs_diff(self.cylinder)).max(switch);
        (self.cylinder, self.head) = (run.cylinder, run.head);
        if writes && moved > Nanos::ZERO {
            Nanos(moved.0.saturating_add_signed(drive.write_settle_ns))
        } else {
            moved
        }
    }
}

/// The time in which this number of sectors of a track passes.
pub(super) fn sectors(drive: &Drive, run: &Run, count: u64) -> Nanos {
    Nanos(drive.rotation.0.saturating_mul(count) / u64::from(run.per_track.max(1)))
}

/// The time from a moment until an angle comes under the head.
pub(super) fn wait(drive: &Drive, at: Nanos, angle: Angle) -> Nanos {
    let turn = drive.rotation.0.max(1);
    let now = (u64::MAX / turn).wrapping_mul(at.0 % turn);
    let ahead = angle.wrapping_sub(now);
    if ahead > Angle::MAX - CAUGHT {
        return Nanos::ZERO;
    }
    Nanos(u64::try_from((u128::from(ahead) * u128::from(turn)) >> 64).unwrap_or(0))
}
