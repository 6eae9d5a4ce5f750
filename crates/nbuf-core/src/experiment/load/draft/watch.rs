//! A draft from a recording of `nbuf watch`: the rate at which tasks were made, and the mean cost of one. A recording has
//! no commands, so the draft has one that the reader replaces.

use super::{Draft, DraftError, PROBLEMS};
use crate::experiment::result::WatchDocument;
use crate::units::count;

/// Rates that a script may have.
const RATE_MIN: f64 = 1e-3;
const RATE_MAX: f64 = 1e6;

/// Whether a text is a recording.
pub(super) fn is_recording(text: &str) -> bool {
    text.trim_start().starts_with("{\"schema\":\"nbuf.watch/")
}

/// Sums over all intervals.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    intervals: u64,
    seconds: f64,
    tasks: u64,
    cpu_seconds: f64,
    disc_operations: u64,
    disc_bytes: u64,
    /// Tasks made in a second, in the busiest interval.
    rate_max: f64,
}

impl Sums {
    fn add(&mut self, seen: &WatchDocument) {
        self.intervals += 1;
        self.seconds += seen.seconds;
        self.tasks = self.tasks.saturating_add(seen.queue.created);
        self.cpu_seconds += seen.cpu.user_seconds + seen.cpu.system_seconds;
        for disc in &seen.discs {
            let (reads, writes) = (disc.reads, disc.writes);
            self.disc_operations =
                self.disc_operations.saturating_add(reads.saturating_add(writes));
            let bytes = disc.read_bytes.0.saturating_add(disc.written_bytes.0);
            self.disc_bytes = self.disc_bytes.saturating_add(bytes);
        }
        self.rate_max = self.rate_max.max(seen.queue.created as f64 / seen.seconds);
    }

    fn script(&self) -> String {
        let tasks = self.tasks as f64;
        let (intervals, seconds) = (count(self.intervals, "interval", "intervals"), self.seconds);
        let cpu_each = self.cpu_seconds / tasks;
        let (operations, bytes) =
            (self.disc_operations as f64 / tasks, self.disc_bytes as f64 / tasks);
        let (rate, rate_max) = ((tasks / seconds).clamp(RATE_MIN, RATE_MAX), self.rate_max);
        format!(
            "# A draft from {intervals} of {seconds:.1} s of nbuf watch. Read it before you run it.\n\
             # A recording has no users, commands or think times. It has the rate at which tasks were made.\n\
             # A task had {cpu_each:.4} s of processors, and {operations:.2} operations of discs with {bytes:.0} bytes, \
             on average.\n\
             \n[[class]]\nname = \"tasks\"\n\
             # Tasks made in a second; {rate_max:.3} in the busiest interval.\n\
             arrivals = \"open\"\nrate_per_second = {rate:.3}\n\
             # Replace `true` by a command with this cost.\n\
             command = [{{ run = [\"true\"] }}]\n"
        )
    }
}

/// Whether an interval is one that nbuf writes.
fn is_whole(seen: &WatchDocument) -> bool {
    seen.schema == WatchDocument::SCHEMA && (0.001..=86_400.0).contains(&seen.seconds)
}

/// What is wrong, without the place in the line: it would be of line 1, always.
fn without_place(error: &str) -> String {
    let parts = error.rsplit_once(" at line ");
    parts.map_or(error, |(what, _)| what).to_owned()
}

/// Drafts a script; a line that is no interval is left out.
pub(super) fn draft(text: &str) -> Result<Draft, DraftError> {
    let mut sums = Sums::default();
    let mut problems = Vec::new();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (at, line) in lines {
        match serde_json::from_str::<WatchDocument>(line) {
            Ok(seen) if is_whole(&seen) => sums.add(&seen),
            Ok(_) => problems.push((at + 1, "this is no interval of nbuf watch".to_owned())),
            Err(error) => {
                let what = without_place(&error.to_string());
                problems.push((at + 1, format!("this is no interval of nbuf watch: {what}")));
            }
        }
    }
    if sums.tasks == 0 {
        let none = || (1, "no task was made in these intervals: record longer".to_owned());
        let (line, what) = problems.into_iter().next().unwrap_or_else(none);
        return Err(DraftError { line, what });
    }
    let unread = problems.len();
    problems.truncate(PROBLEMS);
    Ok(Draft { script: sums.script(), unread, problems })
}
