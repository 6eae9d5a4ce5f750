//! A page of each verb in a browser, as it is seen, and by keyboard and pointer.

#[path = "../tests/support/chromium.rs"]
mod chromium;
#[path = "../tests/support/skip.rs"]
mod skip;

use nbuf::experiment::result::{ReplayDocument, RunDocument, SearchReport, SearchRun};
use nbuf::experiment::trace::generate::Pattern;
use nbuf::units::Bytes;

use crate::show::watch::screen::View;
use crate::show::{
    bench, curve, figures, fleet, live, load, ping, replay, report, run, serve, stat, sweep, unix,
    watch,
};
use chromium::Chromium;

/// A page of each verb that writes pages, and of each of its kinds.
fn pages() -> Vec<(&'static str, String)> {
    let ran = RunDocument { command: vec!["job".to_owned()], ..RunDocument::default() };
    let figures = Some(figures::tests::figures());
    let replayed = ReplayDocument { figures, ..replay::tests::document() };
    let shaped = stat::tests::document(Pattern::Loop);
    let compared = run::compare::tests::sample();
    let under = |limit_bytes: Option<u64>, fills| SearchRun {
        limit_bytes: limit_bytes.map(|mib| Bytes(mib << 20)),
        fills,
        ..SearchRun::default()
    };
    let runs = vec![under(None, 20_000), under(Some(160), 20_000), under(Some(80), 90_000)];
    let mut searched = report::page::tests::sample::full();
    searched.report.search = Some(SearchReport { runs, ..SearchReport::default() });
    vec![
        ("size", report::page::tests::sample::full().page()),
        ("size by runs", searched.page()),
        ("size of a program that runs", live::page(&live::tests::document())),
        ("curve", curve::page(&curve::tests::sample::many())),
        ("curve of parts", curve::page(&curve::tests::sample::parts())),
        ("replay", replay::page(&replayed)),
        ("bench", bench::page(&bench::page::tests::document(), Some(&ping::tests::document()))),
        ("ping", ping::page(&ping::tests::document())),
        ("sweep", sweep::page(&sweep::tests::document())),
        ("run --profile", run::page(&ran, &run::profile::tests::sample())),
        ("run --compare", run::comparison_page(&compared, ["the baseline", "now"])),
        ("load", load::page(&load::tests::document(), &[])),
        ("load under limits", load::page(&load::tests::limited(), &[])),
        ("watch", View::html(&[&watch::tests::sample()])),
        ("watch --server", View::html(&[&serve::live::tests::served()])),
        ("fleet", fleet::page(&fleet::tests::document())),
        ("trace stat", stat::page(&shaped, &["trace".to_owned()])),
        ("unix sweep", unix::page(&unix::tests::document())),
    ]
}

/// What is wrong with a page in a window of this width, and how many pictures it has.
fn faults(browser: &mut Chromium, page: &str, width: u32) -> (Vec<String>, u64) {
    browser.show(page, width);
    let texts = |found: &serde_json::Value| -> Vec<String> {
        let all = found.as_array().unwrap().iter();
        all.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let found = browser.value(include_str!("browser_tests.js"));
    let (mut faults, pictures) = (texts(&found[0]), found[1].as_u64().unwrap());
    for number in 0..pictures {
        browser.value(&format!("before({number})"));
        browser.press(("Tab", 9));
        browser.press(("ArrowRight", 39));
        faults.extend(texts(&browser.value(&format!("byKeyboard({number})"))));
        let middle = browser.value(&format!("middle({number})"));
        // Somewhere else first, so that it moves.
        browser.point([1.0, 1.0]);
        browser.point([0, 1].map(|at| middle[at].as_f64().unwrap()));
        faults.extend(texts(&browser.value(&format!("byPointer({number})"))));
    }
    faults.extend_from_slice(browser.complaints());
    (faults, pictures)
}

#[test]
fn every_page_is_read_at_any_width_by_keyboard_and_by_pointer() {
    if !Chromium::is_here() {
        return skip::skip("no program chromium");
    }
    let mut browser = Chromium::start();
    let mut wrong = Vec::new();
    for (verb, page) in pages() {
        // For a look at them all.
        if let Ok(folder) = std::env::var("NBUF_PICTURES") {
            std::fs::write(format!("{folder}/{verb}.html"), &page).unwrap();
        }
        for width in [400, 1280] {
            let (faults, pictures) = faults(&mut browser, &page, width);
            wrong.extend(faults.into_iter().map(|fault| format!("{verb}, {width}: {fault}")));
            assert!(pictures > 0 || verb.starts_with("watch"), "{verb} has no picture");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_page_with_faults_has_them_all_named() {
    if !Chromium::is_here() {
        return skip::skip("no program chromium");
    }
    let mut browser = Chromium::start();
    let page = "<!DOCTYPE html><p style='width:2000px'>wide</p><script>missing();</script>\
                <figure><svg width='9' height='9'></svg></figure>";
    let (faults, pictures) = faults(&mut browser, page, 400);
    let faults = faults.join("\n");
    for fault in [
        "pixels wide",
        "missing is not defined",
        "no name",
        "no table with a caption",
        "Tab does not reach it",
        "the pointer shows no value",
    ] {
        assert!(faults.contains(fault), "{fault}: {faults}");
    }
    assert_eq!(pictures, 1);
}
