//! The times at which a request has the bus: the phases before, between and after its data.
//!
//! A drive may release the bus while the medium works. It takes the bus again when enough of a read
//! is in its buffer: its *watermark*. This is pure arithmetic on times. The phases and their order
//! are those of `DiskSim` 4.0 (CMU-PDL-08-101, 2008, section 3.1). If the bus is faster than the
//! medium, a drive that does not hold it would release it again in the middle of a read. Here it
//! does so at most once.

use super::drive::{Controller, Drive};
use super::mechanism::Access;
use crate::units::Nanos;

/// The phases of a read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases {
    controller: Controller,
    segment: u64,
    /// The time from which data in the buffer may go.
    pub hit: Nanos,
    /// The time from which data of the medium could go, if it were there.
    miss: Nanos,
    after_write: bool,
}

impl Phases {
    pub(super) fn of(drive: &Drive, begins: Nanos, after_write: bool) -> Self {
        let controller = drive.controller;
        let hit = begins + controller.read_hit.of(after_write) + controller.prepare;
        let miss = begins + controller.read_miss.of(after_write);
        let segment = drive.buffer.segment_sectors.max(1);
        Self { controller, segment, hit, miss, after_write }
    }

    /// The number of sectors missing from the buffer that must arrive before the drive takes the
    /// bus.
    pub(super) fn mark(&self, had: u64, others: u64) -> u64 {
        let Some(disconnect) = self.controller.disconnect else { return 1 };
        let sectors = disconnect.read_watermark.sectors(self.segment, had + others);
        sectors.saturating_sub(had).clamp(1, others.max(1))
    }

    /// The time at which a read has crossed the bus. The buffer had some sectors, and the others
    /// came from the medium.
    pub(super) fn delivered(&self, had: u64, others: u64, access: Access) -> Nanos {
        let bus = self.controller.bus_read_sector;
        if others == 0 {
            return self.hit + bus * had;
        }
        // A started transfer continues as data arrives: no faster than the bus, and the last sector
        // last.
        let last = access.end + bus;
        let Some(disconnect) = self.controller.disconnect else {
            let sent =
                if had > 0 { self.hit + bus * had } else { self.miss + self.controller.prepare };
            return (sent.max(access.mark) + bus * others).max(last);
        };
        let enough = disconnect.partial_at_once
            || had >= disconnect.read_watermark.sectors(self.segment, had + others);
        if had > 0 && enough && disconnect.holds_reads {
            return ((self.hit + bus * had).max(access.mark) + bus * others).max(last);
        }
        let lets_go = disconnect.read.of(self.after_write);
        let again = disconnect.reselect + self.controller.prepare;
        let (released, sectors) = if had > 0 && enough {
            (self.hit + bus * had + lets_go, others)
        } else {
            (self.miss + lets_go, had + others)
        };
        (released.max(access.mark) + again + bus * sectors).max(last)
    }
}

/// The phases of a write that completes when it is on the medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    /// The time from which the arm may move.
    pub may_seek: Nanos,
    /// The time at which the first of its data may come.
    pub data: Nanos,
    /// The time to release the bus after the last of its data.
    pub disconnect: Nanos,
    /// The time to take the bus again and report completion.
    pub reselect: Nanos,
}

impl Write {
    /// The phases of a write. A write that `continues` starts where the previous one ended, or
    /// follows no write.
    pub(super) fn of(
        controller: &Controller,
        begins: Nanos,
        after_write: bool,
        continues: bool,
    ) -> Self {
        let may_seek = begins + controller.write.of(after_write);
        let data = may_seek + controller.prepare;
        let Some(disconnect) = controller.disconnect else {
            return Self { may_seek, data, disconnect: Nanos::ZERO, reselect: Nanos::ZERO };
        };
        match disconnect.extra_write {
            Some(extra) if !continues => {
                let command = begins + extra.command;
                let again = command + extra.disconnect + extra.gap + disconnect.reselect;
                Self {
                    may_seek: command + extra.seek,
                    data: again + controller.prepare,
                    disconnect: extra.second,
                    reselect: disconnect.reselect_other,
                }
            }
            _ => {
                Self { may_seek, data, disconnect: disconnect.write, reselect: disconnect.reselect }
            }
        }
    }
}
