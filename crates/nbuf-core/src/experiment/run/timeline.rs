//! What the threads of a command did, one part after the other: for viewers of traces.

use crate::meter::split::Part;
use crate::workload::observe::Timeline as Seen;

/// A thread of the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimelineThread {
    /// Its number.
    pub thread: u32,
    /// Number of its process.
    pub process: u32,
    /// The last name that a look every 20 ms found; empty if it ended before.
    pub name: String,
}

/// A thread did one thing for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineSlice {
    /// Number of the thread.
    pub thread: u32,
    /// The part, as reports name it.
    pub part: &'static str,
    /// From when, after the beginning of the command.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
}

/// The threads and their slices. Slices of a thread do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// By number.
    pub threads: Vec<TimelineThread>,
    /// In the order of their ends.
    pub slices: Vec<TimelineSlice>,
    /// Slices that were not kept: a million is.
    pub cut: u64,
}

impl Timeline {
    pub(super) fn of(seen: Seen, began_ns: u64) -> Self {
        let threads = seen.threads.into_iter().map(|(thread, named)| TimelineThread {
            thread,
            process: named.process,
            name: named.name,
        });
        let slices = seen.slices.iter().map(|slice| TimelineSlice {
            thread: slice.thread,
            part: name(slice.part),
            from_ns: slice.from_ns.saturating_sub(began_ns),
            to_ns: slice.to_ns.saturating_sub(began_ns),
        });
        Self { threads: threads.collect(), slices: slices.collect(), cut: seen.cut }
    }
}

/// As [`RunParts::named`](crate::experiment::result::RunParts::named) has them.
fn name(part: Part) -> &'static str {
    match part {
        Part::OnCpu => "on CPU",
        Part::Runnable => "runnable",
        Part::Disc | Part::PerhapsDisc => "disc",
        Part::Memory => "memory",
        Part::LockOrPipe => "lock or pipe",
        Part::Asleep => "asleep",
        Part::Unknown => "unknown",
    }
}
