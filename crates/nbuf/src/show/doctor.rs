//! What works here, as text.

use std::fmt::Write as _;

use nbuf::experiment::result::{DoctorCapability, DoctorDocument, DoctorState};

use super::text::{wrap, wrap_behind};

/// A terminal with fewer columns has no room for three of text.
const COLUMNS_MIN: usize = 60;

/// A line for each thing that was tried, and the verdict. On a narrow terminal the reasons are below the names.
pub(crate) fn table(document: &DoctorDocument, width: usize) -> String {
    let mut text = String::new();
    let names = document.capabilities.iter().map(|one| one.name.chars().count());
    let names = names.max().unwrap_or(0);
    for DoctorCapability { name, state, why, remedy, .. } in &document.capabilities {
        let mark = match state {
            DoctorState::Works => "works",
            DoctorState::Fails => "fails",
            DoctorState::Is => "",
        };
        if width < COLUMNS_MIN {
            wrap_behind(&mut text, format!("{name} {mark}").trim_end(), width, ["-", " "]);
            wrap(&mut text, why, width);
            if !remedy.is_empty() {
                wrap_behind(&mut text, remedy, width, ["  ->", "    "]);
            }
            continue;
        }
        // A `String` takes everything.
        let _ = writeln!(text, "{name:<names$} {mark:<6} {why}");
        if !remedy.is_empty() {
            let _ = writeln!(text, "{:<names$} {:<6} -> {remedy}", "", "");
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
    text.push('\n');
    if width < COLUMNS_MIN {
        wrap(&mut text, verdict, width);
    } else {
        let _ = writeln!(text, "{verdict}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_has_lines_that_fit() {
        let capability = |state, remedy: &str| DoctorCapability {
            name: "capture by tracepoints".to_owned(),
            needed: true,
            state,
            why: "the kernel refuses to open an event: permission denied (os error 13)".to_owned(),
            remedy: remedy.to_owned(),
        };
        let remedy = "run as root, or set the capability CAP_PERFMON on the program";
        let capabilities =
            vec![capability(DoctorState::Works, ""), capability(DoctorState::Fails, remedy)];
        let document = DoctorDocument { capabilities, ..DoctorDocument::default() };
        let wide = table(&document, 80);
        assert!(wide.lines().any(|line| line.ends_with(remedy)), "{wide}");
        let narrow = table(&document, 40);
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&narrow).contains(remedy), "{narrow}");
    }
}
