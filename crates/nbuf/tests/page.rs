//! The page of `nbuf size --html`: of a run and of its trace, never over an existing file, and in
//! a browser by keyboard.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;

use support::chromium::Chromium;
use support::{Need, Place, requires, requires_shared};

/// A trace that every checkout has.
const TRACE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../nbuf-core/tests/traces/sqlite-128.parquet");

fn page_of_trace(place: &Place) -> String {
    let nbuf = place.nbuf(["size", "--trace", TRACE, "--html", "t.html"]).output().unwrap();
    assert_eq!(nbuf.status.code(), Some(0), "{nbuf:?}");
    fs::read_to_string(place.path("t.html")).unwrap()
}

#[test]
fn the_page_of_a_trace_says_that_nothing_is_proved() {
    let place = Place::new();
    let page = page_of_trace(&place);
    assert!(page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"));
    assert!(page.contains("nothing on this page is proved"));
    assert!(page.contains("Accesses over time"));
    let before = page.len();
    for arguments in [["--html", "t.html"], ["--svg", "t.html"]] {
        let nbuf = place.nbuf(["size", "--trace", TRACE]).args(arguments).output().unwrap();
        assert_eq!(nbuf.status.code(), Some(125));
        let told = String::from_utf8(nbuf.stderr).unwrap();
        let want = format!(
            "nbuf: t.html exists; move it away or give another name with {}\n",
            arguments[0]
        );
        assert_eq!(told, want);
    }
    assert_eq!(fs::read(place.path("t.html")).unwrap().len(), before);
    let both = ["size", "--trace", TRACE, "--html", "x", "--svg", "x"];
    let refused = place.nbuf(both).output().unwrap();
    assert_eq!(refused.status.code(), Some(125));
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(told, "nbuf: x cannot be two files; give another name with --html\n");
    assert!(!place.path("x").exists());
}

#[test]
fn a_run_has_a_page_with_what_was_measured() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    place.file("<i>&name", 8 << 20);
    let command = ["sh", "-c", "cat '<i>&name' '<i>&name'"];
    let sized = place.size(&["-q", "--json", "--html", "t.html"], &command);
    let page = fs::read_to_string(place.path("t.html")).unwrap();
    let report = sized.json();
    // The command's own output comes here too.
    assert!(!sized.stderr.contains("nbuf:"), "{}", sized.stderr.replace('a', ""));
    assert!(page.contains("/&lt;i&gt;&amp;name</span>") && !page.contains("<i>&name"));
    let runs = report["verify"].as_array().unwrap();
    let (_, table) = page.split_once("<caption>Runs under memory limits</caption>").unwrap();
    let (table, _) = table.split_once("</tbody>").unwrap();
    assert_eq!(table.matches("<th scope=\"row\">").count(), runs.len());
    let file = &report["files"][0];
    assert_eq!(file["pages"], 2048);
    assert!(file["fills_at_floor"].as_u64() >= file["fills"].as_u64(), "{file}");
    assert!(file["fills_unlimited"].as_u64() <= file["fills"].as_u64(), "{file}");
    assert!(report.get("map").is_none());
}

/// The actions of a user without a pointer: reads the chart, sorts the table behind it, copies it.
const BY_KEYBOARD: &str = "(() => {
    const figure = document.querySelector('figure');
    const chart = figure.querySelector('.wide.chart');
    const press = (key) => chart.dispatchEvent(new KeyboardEvent('keydown', { key }));
    const sizes = () => [...figure.querySelectorAll('tbody th')].map((cell) => cell.textContent);
    const read = () => figure.querySelector('.readout').textContent.split(',')[0];
    press('Home');
    const first = read() === sizes()[0];
    press('End');
    const last = read() === sizes().pop() && chart.getAttribute('aria-valuetext').startsWith(read());
    const before = sizes().join();
    const head = figure.querySelector('thead th');
    head.querySelector('button').click();
    const ascending = sizes().join() === before && head.getAttribute('aria-sort');
    head.querySelector('button').click();
    const descending = sizes().reverse().join() === before && head.getAttribute('aria-sort');
    const names = [...document.querySelectorAll('.copy')].every((copy) => copy.textContent);
    return [first, last, ascending, descending, names].join(' ');
})()";

#[test]
fn a_chart_is_read_by_keyboard_and_its_table_is_sorted() {
    let Some(_lock) = requires(&[Need::Program("chromium")]) else { return };
    let place = Place::new();
    let page = page_of_trace(&place);
    let mut browser = Chromium::start();
    browser.show(&page, 1280);
    let answer = browser.value(BY_KEYBOARD);
    assert_eq!(answer, "true true ascending descending true", "{:?}", browser.complaints());
}
