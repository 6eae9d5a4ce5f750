//! What `nbuf curve --help-policies` prints: every policy, admission and prefetcher, with what can be set.

use nbuf::experiment::curve::{ADMISSIONS, POLICIES, PREFETCHERS};

use crate::show::text::{wrap, wrap_behind};

/// All of them, in lines of at most `width` columns.
pub(super) fn policies(width: usize) -> String {
    let mut out = String::new();
    heading(&mut out, "Policies (* also over objects with sizes):", width);
    for row in POLICIES {
        let mark = if row.takes_objects() { "*" } else { "" };
        wrap(&mut out, &format!("{}{mark}: {} ({})", row.name, row.summary, row.citation), width);
        for parameter in row.settable.map_or(&[][..], |settable| settable.parameters) {
            let usually = parameter.text(parameter.default);
            let line = format!("{}:{}={usually}: {}", row.name, parameter.name, parameter.summary);
            wrap_behind(&mut out, &line, width, ["   ", "     "]);
        }
    }
    out.push('\n');
    heading(&mut out, "Admissions over objects (--admit), with their usual values:", width);
    for row in ADMISSIONS {
        wrap(&mut out, &format!("{}: {} ({})", row.text, row.summary, row.citation), width);
    }
    out.push('\n');
    heading(&mut out, "Prefetchers of pages (--prefetch), with their usual values:", width);
    for row in PREFETCHERS {
        wrap(&mut out, &format!("{}: {} ({})", row.name, row.summary, row.citation), width);
        for (parameter, summary) in row.parameters {
            let line = format!("{}:{parameter}: {summary}", row.name);
            wrap_behind(&mut out, &line, width, ["   ", "     "]);
        }
    }
    out
}

/// A line without indent, if it fits.
fn heading(out: &mut String, text: &str, width: usize) {
    if text.len() <= width {
        out.push_str(text);
        out.push('\n');
    } else {
        wrap(out, text, width);
    }
}
