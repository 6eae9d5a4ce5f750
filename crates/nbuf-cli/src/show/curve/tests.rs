//! What is shown of curves, as people see it, at the widths of terminals.

use console::measure_text_width as width_of;
use expect_test::{Expect, expect};
use nbuf::experiment::result::CurveDocument;

use super::*;

fn all() -> Vec<CurveDocument> {
    let whole = [
        sample::one(),
        sample::many(),
        sample::sampled(),
        sample::keys(),
        sample::parts(),
        sample::two_page_sizes(),
    ];
    whole.into_iter().chain(sample::lacking()).collect()
}

#[track_caller]
fn check(document: &CurveDocument, wide: &Expect, narrow: &Expect) {
    wide.assert_eq(&table(document, 80));
    narrow.assert_eq(&table(document, 40));
}

#[test]
fn no_line_is_too_wide_and_none_acts() {
    for document in all() {
        for width in 40..130 {
            for text in [table(&document, width), plot(&document, width, false)] {
                for line in text.lines() {
                    assert!(width_of(line) <= width, "{width}: {line}\n{text}");
                    assert!(!line.ends_with(' '), "{line:?}");
                }
                assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'));
            }
        }
    }
}
#[test]
fn look() {
    for (n, d) in all().iter().enumerate() {
        for w in [80, 40] {
            eprintln!("=== {n} {w}\n{}\n{}", table(d, w), plot(d, w, false));
        }
    }
}
#[test]
fn pages() {
    for (n, d) in all().iter().enumerate() {
        let p = page(d);
        if let Ok(folder) = std::env::var("NBUF_PICTURES") {
            std::fs::write(format!("{folder}/curve{n}.html"), p).unwrap();
        }
    }
}
