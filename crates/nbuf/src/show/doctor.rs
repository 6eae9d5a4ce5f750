//! What works here, as text.

use std::fmt::Write as _;

use nbuf::experiment::result::{DoctorCapability, DoctorDocument, DoctorState};

/// A line for each thing that was tried, and the verdict.
pub(crate) fn table(document: &DoctorDocument) -> String {
    let mut text = String::new();
    for DoctorCapability { name, state, why, remedy, .. } in &document.capabilities {
        let mark = match state {
            DoctorState::Works => "works",
            DoctorState::Fails => "fails",
            DoctorState::Is => "",
        };
        // A `String` takes everything.
        let _ = writeln!(text, "{name:<26} {mark:<6} {why}");
        if !remedy.is_empty() {
            let _ = writeln!(text, "{:<26} {:<6} -> {remedy}", "", "");
        }
    }
    let works = |name| document.works(name);
    let verdict = match (
        document.whole,
        works("capture by tracepoints"),
        works("capture by system calls"),
    ) {
        (true, ..) => "nbuf size can do its whole job here",
        (_, true, _) if works("memory limits") => {
            "nbuf size can record, recommend and verify here, but not for files without names"
        }
        (_, true, _) => "nbuf size can record and recommend here, but not verify under limits",
        (_, _, true) if works("memory limits") => {
            "nbuf size can record by system calls, recommend and verify here, by what is read from \
             discs instead of what is filled"
        }
        (_, _, true) => {
            "nbuf size can record by system calls and recommend here, but not verify under limits"
        }
        _ => "nbuf can read traces here, but not record",
    };
    let _ = writeln!(text, "\n{verdict}");
    text
}
