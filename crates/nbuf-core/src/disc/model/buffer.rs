//! The memory of a drive: the sectors in it, the prefetch, and the writes that still wait.
//!
//! A segment holds a run of sectors and keeps its end. While no request comes, the arm works in the
//! background. It writes the data already reported done, the nearest first, or prefetches after the
//! last read. Its progress is computed only on demand: one step for each track it has passed.

use super::ahead::until;
use super::drive::{Drive, Way};
use super::mechanism::{Access, Mechanism, Purpose, Supply, sectors, wait};
use crate::units::Nanos;

/// A segment with the sectors from `start` to before `end`.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    end: u64,
    used: u64,
}

/// A write that was reported done.
#[derive(Clone, Copy, Debug)]
struct Behind {
    start: u64,
    end: u64,
    cylinder: u32,
    ready: Nanos,
}

/// A prefetch in progress.
#[derive(Clone, Copy, Debug)]
struct Reading {
    segment: usize,
    until: u64,
    /// The time when the head reaches the next sector, or may start to look for it.
    at: Nanos,
    on_track: bool,
}

/// The result of a lookup for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The buffer has all of it, or its start up to before a sector.
    Hit {
        segment: usize,
        until: u64,
    },
    Miss,
}

/// The buffer of a drive, with its background work.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    segments: Vec<Segment>,
    clock: u64,
    reading: Option<Reading>,
    behind: Vec<Behind>,
}

impl Memory {
    /// Looks up the sectors from `start` on.
    pub(super) fn find(&self, drive: &Drive, start: u64, end: u64) -> Found {
        if !drive.buffer.caches {
            return Found::Miss;
        }
        let mut best: Option<(usize, u64)> = None;
        for (at, segment) in self.segments.iter().enumerate() {
            let begins = segment.start <= start && start < segment.end;
            let joins = drive.buffer.joins && start == segment.end && self.reads_on(at);
            if (begins || joins) && best.is_none_or(|(_, until)| until < segment.end) {
                best = Some((at, segment.end));
            }
        }
        match best {
            Some((segment, until)) => Found::Hit { segment, until: until.min(end) },
            None => Found::Miss,
        }
    }

    fn reads_on(&self, segment: usize) -> bool {
        self.reading.is_some_and(|reading| {
            reading.segment == segment && self.segments[segment].end < reading.until
        })
    }

    /// Runs the background work up to `now`.
    pub(super) fn catch_up(&mut self, drive: &Drive, arm: &mut Mechanism, now: Nanos) {
        while let Some(at) = self.nearest(arm) {
            let start = arm.free.max(self.behind[at].ready);
            if start >= now {
                return;
            }
            self.write_one(drive, arm, at);
        }
        self.read_on(drive, arm, now, u64::MAX);
    }

    /// Writes all that waits.
    pub(super) fn write_all(&mut self, drive: &Drive, arm: &mut Mechanism) {
        while let Some(at) = self.nearest(arm) {
            self.write_one(drive, arm, at);
        }
    }

    fn nearest(&self, arm: &Mechanism) -> Option<usize> {
        if self.behind.len() < 2 {
            return (!self.behind.is_empty()).then_some(0);
        }
        (0..self.behind.len()).min_by_key(|&at| self.behind[at].cylinder.abs_diff(arm.cylinder()))
    }

    fn write_one(&mut self, drive: &Drive, arm: &mut Mechanism, at: usize) {
        let behind = self.behind.remove(at);
        let start = arm.free.max(behind.ready);
        let supply = Supply { from: start, sector: Nanos::ZERO };
        let run = (behind.start, behind.end - behind.start);
        arm.access(drive, start, run, Purpose::Write(supply));
        // The arm has left the track of the prefetch.
        if let Some(reading) = &mut self.reading {
            reading.on_track = false;
        }
    }

    /// Accepts a write that is to be reported done; returns when there is room for it.
    pub(super) fn write_behind(
        &mut self,
        drive: &Drive,
        arm: &mut Mechanism,
        (start, end): (u64, u64),
        ready: Nanos,
    ) -> Nanos {
        let limit = drive.buffer.segment_sectors;
        if drive.buffer.combines_writes
            && let Some(last) = self.behind.last_mut()
            && last.end == start
            && end - last.start <= limit
        {
            last.end = end;
            return Nanos::ZERO;
        }
        let mut room = Nanos::ZERO;
        while self.behind.len() >= drive.buffer.behind_segments.max(1) {
            let Some(at) = self.nearest(arm) else { break };
            self.write_one(drive, arm, at);
            room = arm.free;
        }
        let cylinder = drive.geometry.cylinder(start);
        self.behind.push(Behind { start, end, cylinder, ready: ready.max(room) });
        room
    }

    /// Prefetches up to `now`, or until the sector before `wanted` is there; returns that time.
    pub(super) fn read_on(
        &mut self,
        drive: &Drive,
        arm: &mut Mechanism,
        now: Nanos,
        wanted: u64,
    ) -> Option<Access> {
        let reading = self.reading.as_mut()?;
        let segment = &mut self.segments[reading.segment];
        let stop = reading.until.min(wanted);
        let mut access = Access { end: reading.at, ..Access::default() };
        if drive.way != Way::Turning {
            segment.end = stop.max(segment.end);
            wrap(drive, segment);
            self.reading = None;
            return Some(access);
        }
        while segment.end < stop {
            let Some(run) = drive.geometry.run(segment.end, stop - segment.end) else { break };
            if !reading.on_track {
                let start = reading.at.max(arm.free);
                if start >= now {
                    break;
                }
                let seek = arm.seek(drive, &run, false);
                arm.free = start + seek;
                let waits = wait(drive, arm.free, run.angle);
                access.seek += seek;
                access.rotation += waits;
                (reading.at, reading.on_track) = (arm.free + waits, true);
            }
            let all = sectors(drive, &run, run.span);
            if reading.at + all > now {
                // The head is in the middle of the track, or not there yet.
                let one = sectors(drive, &run, 1).0.max(1);
                let passed = ((now - reading.at).0 / one).min(run.sectors);
                segment.end += passed;
                reading.at += sectors(drive, &run, passed);
                break;
            }
            segment.end += run.sectors;
            reading.at += all;
            access.transfer += all;
            access.end = reading.at;
            arm.free = arm.free.max(reading.at);
            (reading.on_track, access.more) = (run.more, run.more);
        }
        wrap(drive, segment);
        if segment.end >= reading.until {
            self.reading = None;
        }
        Some(access)
    }

    /// Whether a prefetch fills this segment.
    pub(super) fn is_reading(&self, segment: usize) -> bool {
        self.reading.is_some_and(|reading| reading.segment == segment)
    }

    /// Stops the prefetch.
    pub(super) fn stop(&mut self) {
        self.reading = None;
    }

    /// Starts a prefetch at the end of a segment, once the arm is free and `at` has passed.
    pub(super) fn start(&mut self, drive: &Drive, segment: usize, at: Nanos, on_track: bool) {
        let Segment { start, end, .. } = self.segments[segment];
        let until = until(drive, start, end).min(drive.geometry.sectors());
        self.reading = (until > end).then_some(Reading { segment, until, at, on_track });
    }

    /// Extends the prefetch.
    pub(super) fn extend(&mut self, drive: &Drive, end: u64) {
        if let Some(reading) = &mut self.reading {
            let start = self.segments[reading.segment].start;
            let farther = until(drive, start, end).min(drive.geometry.sectors());
            reading.until = reading.until.max(farther);
        }
    }

    /// Returns a segment with only these sectors: an empty one, or the least recently used.
    pub(super) fn take(&mut self, drive: &Drive, start: u64, end: u64) -> Option<usize> {
        self.clock += 1;
        let mut fresh = Segment { start, end, used: self.clock };
        wrap(drive, &mut fresh);
        if self.segments.len() < drive.buffer.segments {
            self.segments.push(fresh);
            return Some(self.segments.len() - 1);
        }
        let oldest = (0..self.segments.len()).min_by_key(|&at| self.segments[at].used)?;
        self.segments[oldest] = fresh;
        Some(oldest)
    }

    /// Marks a segment as read up to before `end`.
    pub(super) fn touch(&mut self, drive: &Drive, segment: usize, end: u64) {
        self.clock += 1;
        let touched = &mut self.segments[segment];
        touched.used = self.clock;
        touched.end = touched.end.max(end);
        wrap(drive, touched);
    }

    /// Drops these sectors from all segments.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        for segment in &mut self.segments {
            if segment.start < end && start < segment.end {
                (segment.start, segment.end, segment.used) = (0, 0, 0);
            }
        }
    }

    /// The end of the sectors in a segment.
    pub(super) fn end(&self, segment: usize) -> u64 {
        self.segments[segment].end
    }
}

fn wrap(drive: &Drive, segment: &mut Segment) {
    let kept = segment.end.saturating_sub(drive.buffer.segment_sectors.max(1));
    segment.start = segment.start.max(kept);
}
