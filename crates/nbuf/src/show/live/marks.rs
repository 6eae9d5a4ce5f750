//! How mapped files were watched, in a sentence or two.

use std::fmt::Write;

use nbuf::experiment::result::{LiveFaults, LiveMarks, LiveSnapshot};

use crate::show::text::rate;

/// What watching mapped files cost the programs.
pub(super) fn note(marks: &LiveMarks) -> String {
    let milliseconds = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
    if marks.rounds == 0 {
        return "Marks of mapped pages were not cleared.".to_owned();
    }
    let mut text = format!(
        "Marks of mapped pages were cleared {} times; the longest clear took {} (--mmap-pause {}), and faults of the \
         program waited meanwhile.",
        marks.rounds,
        milliseconds(marks.longest_clear_seconds),
        milliseconds(marks.pause_seconds),
    );
    if marks.waited_seconds >= 0.1 {
        let _ = write!(text, " They were left alone for the first {:.0} s.", marks.waited_seconds);
    }
    let faults = [marks.faults_before, marks.faults_during, marks.faults_after];
    if let [Some(before), Some(during), Some(after)] = faults {
        let each = |of: fn(&LiveFaults) -> f64| {
            let [before, during, after] = [before, during, after].map(|it| rate(of(&it)));
            format!("{before} before, {during} meanwhile, {after} after")
        };
        let _ = write!(
            text,
            " Evicted pages that came back, a second: {}. Faults that waited for a disc, a second: {}.",
            each(|it| it.refaults_per_second),
            each(|it| it.major_per_second),
        );
    }
    text
}

/// What was cached when the window began.
pub(super) fn cached(snapshot: &LiveSnapshot) -> String {
    let LiveSnapshot { resident_bytes, active_bytes, foreign_bytes, .. } = snapshot;
    let mut text = format!(
        "At the beginning {resident_bytes} of the open files were cached, {active_bytes} on the active list, and {} in \
         folios of more than a page.",
        snapshot.large_folio_bytes,
    );
    if snapshot.large_folio_bytes.0 > 0 {
        let _ = write!(text, " The largest had {}.", snapshot.largest_folio_bytes);
    }
    if foreign_bytes.0 > 0 {
        let _ = write!(
            text,
            " Other groups are charged for {foreign_bytes}, which the curve counts too."
        );
    }
    if !snapshot.is_whole {
        text += " More was cached and not looked at.";
    }
    text
}

#[cfg(test)]
mod tests {
    use nbuf::units::Bytes;

    use super::*;

    #[test]
    fn what_was_cached_is_said() {
        let whole = LiveSnapshot {
            resident_bytes: Bytes(8 << 20),
            is_whole: true,
            ..LiveSnapshot::default()
        };
        let text = cached(&whole);
        assert!(text.contains("8.00 MiB of the open files") && !text.contains("largest"), "{text}");
        let large_folio_bytes = Bytes(4 << 20);
        let some = LiveSnapshot {
            large_folio_bytes,
            largest_folio_bytes: Bytes(2 << 20),
            foreign_bytes: Bytes(1 << 20),
            is_whole: false,
            ..whole
        };
        let text = cached(&some);
        for part in ["The largest had 2.00 MiB", "charged for 1.00 MiB", "not looked at"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn the_longest_clear_and_the_faults_are_printed() {
        let faults = |refaults_per_second| {
            Some(LiveFaults { seconds: 2.0, refaults_per_second, major_per_second: 1.0 })
        };
        let marks = LiveMarks {
            rounds: 250,
            longest_clear_seconds: 0.0042,
            pause_seconds: 0.005,
            waited_seconds: 2.0,
            faults_before: faults(2.0),
            faults_during: faults(30.0),
            faults_after: faults(4.0),
            ..LiveMarks::default()
        };
        let text = note(&marks);
        for part in ["250 times", "4.2 ms (--mmap-pause 5.0 ms)", "first 2 s", "30", "meanwhile"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let never = note(&LiveMarks { rounds: 0, ..marks });
        assert!(never.contains("not cleared"), "{never}");
    }
}
