//! The page of `nbuf size --html`: of a run and of its trace, never over an existing file, and in
//! a browser at the width of a telephone.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::Command;

use support::{Need, Place, requires};

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
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
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

/// Shows a page in a frame of this width and gives the value of an expression about the document
/// `page` in it, with what the browser complained about.
fn shown(place: &Place, page: &str, width: u32, expression: &str) -> (String, String) {
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<!DOCTYPE html><iframe style=\"width:{width}px;height:900px;border:0\" srcdoc=\"{quoted}\">\
         </iframe><script>document.querySelector('iframe').onload = (event) => {{ \
         const page = event.target.contentDocument; \
         document.title = 'answer ' + ({expression}); }}</script>"
    );
    fs::write(place.path("frame.html"), frame).unwrap();
    let url = format!("file://{}", place.path("frame.html").display());
    let profile = format!("--user-data-dir={}", place.path("profile").display());
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
        .args([profile.as_str(), "--virtual-time-budget=5000", "--dump-dom", url.as_str()])
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    let title = dom.split_once("<title>answer ").and_then(|(_, rest)| rest.split_once("</title>"));
    let (answer, _) = title.unwrap_or_else(|| panic!("no answer: {dom:.300} {complaints}"));
    (answer.to_owned(), complaints)
}

const WIDTH: &str = "page.documentElement.scrollWidth";

#[test]
fn a_browser_shows_the_page_without_complaint_and_without_scrolling_sideways() {
    let Some(_lock) = requires(&[Need::Program("chromium")]) else { return };
    let place = Place::new();
    let page = page_of_trace(&place);
    for width in [400, 1280] {
        let (wide, complaints) = shown(&place, &page, width, WIDTH);
        assert!(wide.parse::<u32>().unwrap() <= width, "{wide} in {width}");
        assert!(!complaints.contains(":CONSOLE"), "{complaints}");
    }
    // The test would see both.
    let broken = page
        .replace("<main>", "<main><p style=\"width:2000px\">wide</p>")
        .replace("<script>\n", "<script>\nmissing();\n");
    let (wide, complaints) = shown(&place, &broken, 400, WIDTH);
    let is_wide = wide.parse::<u32>().unwrap() > 400;
    assert!(is_wide && complaints.contains("missing is not defined"), "{wide} {complaints}");
}

/// The actions of a user without a pointer: reads the chart, sorts the table behind it, copies it.
const BY_KEYBOARD: &str = "(() => {
    const figure = page.querySelector('figure');
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
    const names = [...page.querySelectorAll('.copy')].every((copy) => copy.textContent);
    return [first, last, ascending, descending, names].join(' ');
})()";

#[test]
fn a_chart_is_read_by_keyboard_and_its_table_is_sorted() {
    let Some(_lock) = requires(&[Need::Program("chromium")]) else { return };
    let place = Place::new();
    let page = page_of_trace(&place);
    let (answer, complaints) = shown(&place, &page, 1280, BY_KEYBOARD);
    assert_eq!(answer, "true true ascending descending true", "{complaints}");
}
