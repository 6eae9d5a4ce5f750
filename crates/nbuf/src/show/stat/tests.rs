//! The report of a shape: at any width, as a page, as values.

use nbuf::experiment::result::TraceDocument;
use nbuf::experiment::session::Session;
use nbuf::experiment::trace::generate::{self, Pattern};
use nbuf::experiment::trace::{Inputs, stat};

use super::super::page::tests::well_formed;
use super::{csv, page, text};

/// The document of a generated trace, with two policies and another trace.
pub(crate) fn document(pattern: Pattern) -> TraceDocument {
    let directory = tempfile::tempdir().unwrap();
    let made = |name: &str, pattern| {
        let output = directory.path().join(name);
        let spec =
            generate::Spec { pattern, count: 20_000, keys: 1000, ..generate::Spec::of(&output) };
        generate::run(&spec, &mut Session::new(&())).unwrap();
        output
    };
    let paths = vec![made("one", pattern)];
    let shape = stat::ShapeSpec {
        policies: ["lru", "s3-fifo"].map(|name| name.parse().unwrap()).to_vec(),
        against: Some(made("two", Pattern::Zipf)),
        ..stat::ShapeSpec::default()
    };
    let inputs = Inputs { paths, ..Inputs::default() };
    let spec = stat::Spec { shape: Some(shape), ..stat::Spec::of(inputs) };
    stat::run(&spec, &mut Session::new(&())).unwrap()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for pattern in [Pattern::Zipf, Pattern::Loop, Pattern::Scan, Pattern::Uniform] {
        let document = document(pattern);
        for width in [40, 60, 80, 120] {
            let text = text(&document, width, false);
            for line in text.lines().filter(|line| !line.starts_with("  format")) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn a_page_is_well_formed_and_has_every_section() {
    let document = document(Pattern::Loop);
    let html = page(&document, &["<a>".to_owned()]);
    well_formed(&html);
    for title in [
        "Two traces",
        "What any cache could hit",
        "Popularity",
        "Reuse distance",
        "Reuse time",
        "Sizes",
        "Lifetimes",
        "Scans and loops",
        "Working set",
        "Reads and writes",
        "Policies",
    ] {
        assert!(html.contains(&format!("<h2>{title}</h2>")), "{title}");
    }
    assert!(html.contains("loop of 1,000"));
}

#[test]
fn values_have_five_fields_a_row() {
    let csv = csv(&document(Pattern::Zipf));
    assert!(csv.lines().all(|line| line.split(',').count() == 5), "{csv}");
    let exponent = csv.lines().find_map(|line| line.strip_prefix("2,zipf_exponent,,,")).unwrap();
    assert!((exponent.parse::<f64>().unwrap() - 1.0).abs() < 0.1, "{exponent}");
    let sum: f64 = csv
        .lines()
        .filter_map(|line| line.strip_prefix("1,reuse_time,"))
        .map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap())
        .sum();
    assert!((sum - 20_000.0).abs() < 0.5, "{sum}");
}
