//! The tables of `nbuf curve` for people.

use std::fmt::Write as _;

use nbuf::experiment::result::CurveDocument;

/// All that was found, in lines of at most `width` columns.
pub(crate) fn table(document: &CurveDocument, width: usize) -> String {
    let mut out = String::new();
    for curve in &document.curves {
        let mut text = format!("{}\n", curve.policy);
        for point in &curve.points {
            let _ = writeln!(text, "  {:>12} {:>6.1} %", point.pages, 100.0 * point.hit_ratio());
        }
        out.push_str(&text);
    }
    out + &super::super::report::cautions(&document.cautions, width)
}
