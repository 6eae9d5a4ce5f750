//! What `nbuf curve --help-policies` prints: every policy and every admission, with what can be set.

use nbuf::experiment::curve::{ADMISSIONS, POLICIES};

use crate::show::text::wrap;

/// All of them, in lines of at most `width` columns.
pub(super) fn policies(width: usize) -> String {
    let mut out = String::from("Policies (* also over objects with sizes):\n");
    for row in POLICIES {
        let mark = if row.takes_objects() { "*" } else { "" };
        wrap(&mut out, &format!("{}{mark}: {} ({})", row.name, row.summary, row.citation), width);
        for parameter in row.settable.map_or(&[][..], |settable| settable.parameters) {
            let line = format!(
                "    {}:{}={}: {}",
                row.name,
                parameter.name,
                parameter.text(parameter.default),
                parameter.summary
            );
            out.push_str(&(line + "\n"));
        }
    }
    out.push_str("\nAdmissions over objects (--admit), with their usual values:\n");
    for row in ADMISSIONS {
        wrap(&mut out, &format!("{}: {} ({})", row.text, row.summary, row.citation), width);
    }
    out
}
