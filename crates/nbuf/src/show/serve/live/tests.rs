//! A server on terminals that hold their characters in memory.

use nbuf::experiment::result::{
    FigureStep, FigureTracks, ReplayFigures, ServeCosts, ServeMisses, ServeWork,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::super::watch::screen::{Key, Screen, View};
use super::*;

/// Documents with something in each line, two seconds apart.
pub(crate) fn served() -> Served {
    let times = WatchTimes {
        count: 10,
        mean_seconds: Some(0.005),
        p99_seconds: Some(0.007),
        steps: vec![FigureStep { from: 0.003, to: 0.005, count: 10 }],
        ..WatchTimes::default()
    };
    let work = ServeWork { count: 9, seconds: 9e-6, times: times.clone() };
    let size = |cache_bytes, hit_ratio| ServeSize {
        policy: "lru".to_owned(),
        cache_bytes,
        hit_ratio,
        hit_ratio_low: hit_ratio - 0.01,
        hit_ratio_high: hit_ratio + 0.01,
    };
    let total = ServeDocument {
        disc: "file:disc\u{1b}[2J.img".to_owned(),
        disc_bytes: 1 << 30,
        cache_bytes: 1 << 20,
        page_bytes: 4096,
        policy: "lru".to_owned(),
        write: "back".to_owned(),
        seconds: 2.0,
        reads: 5000,
        read_hits: 3000,
        pages: 5000,
        page_hits: 3000,
        hit_ratio: Some(0.6),
        owed_bytes: 3 << 20,
        misses: ServeMisses {
            never_seen: 1000,
            evicted: 600,
            evicted_would_hit_at_twice: 200,
            written: 400,
            ..ServeMisses::default()
        },
        compared_hit_ratio: Some(0.6),
        other_sizes: vec![size(1 << 19, 0.4), size(2 << 20, 0.7)],
        costs: ServeCosts {
            lookup: work.clone(),
            copy: work.clone(),
            fill: work,
            work_seconds: 27e-6,
            disc_read: times,
            saved_seconds: Some(15.0),
            ..ServeCosts::default()
        },
        figures: Some(ReplayFigures {
            tracks: FigureTracks {
                tracks: 4,
                track_bytes: 1 << 28,
                tracks_held: 1,
                units_held: 256,
                cell_tracks: 1,
                cells: vec![0, 256, 0, 0],
                ..FigureTracks::default()
            },
            hit_rates: (0..20).map(|part| u64::from(part == 12)).collect(),
            service: vec![FigureStep { from: 1e-6, to: 2e-6, count: 7 }],
            rates: vec![FigureStep { from: 2000.0, to: 3000.0, count: 2 }],
            period_seconds: 1.0,
            ..ReplayFigures::default()
        }),
        disc_reads: 10,
        ..ServeDocument::default()
    };
    let interval = total.since(&ServeDocument::default());
    Served::new(86_399.5, &total, &interval)
}

#[test]
fn the_text_fits_on_a_terminal_and_names_each_cause() {
    let text = text(&served());
    for words in [
        "2,500/s read",
        "60.0 % of 2,500/s pages",
        "500/s never seen",
        "300/s evicted, 100/s of them hit at twice the size",
        "200/s written around",
        "mean 5.00 ms, p99 under 5.00 ms",
        "3.00 MiB that the disc does not have",
        "twice     2.00 MiB would hit 70.0 % (69.0 to 71.0), +10.0 points",
        "half      512 KiB would hit 40.0 %",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains('\u{1b}') && text.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn each_page_has_its_figures_at_each_size() {
    let mut screen = Screen::new(false, false);
    screen.take(served());
    for (page, words) in [
        ("Cache", ["hit ratio", "saved"]),
        ("Disc", ["mean read in ms", "3.00 ms to 5.00 ms"]),
        ("Sizes", ["lru 2.00 MiB", "70.0 % (69.0 to 71.0)"]),
        ("Figures", ["Places in cache", "Hit rate distribution"]),
        ("Exports", ["export", "1.00 MiB"]),
    ] {
        for (width, height) in [(80, 24), (200, 60), (60, 12)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| screen.draw(frame)).unwrap();
            let text = terminal.backend().to_string();
            assert!(text.contains(page) && text.contains("hits 60.0 %"), "{text}");
            assert!(text.contains(words[0]) && !text.contains('\u{1b}'), "{text}");
            assert!(height < 24 || text.contains(words[1]), "{text}");
        }
        screen.key(Key::Next);
    }
    let tier = ServeTier { reads: 8, read_hits: 6, size_bytes: 1 << 20, ..ServeTier::default() };
    let export = |name: &str| ServeDocument {
        name: name.to_owned(),
        tier: (name == "b").then(|| tier.clone()),
        ..served().seen
    };
    let exports = vec![export("a"), export("b")];
    let total = ServeDocument { exports: exports.clone(), ..served().seen };
    let both = Served::new(0.0, &total, &total);
    let shown = |page: usize| {
        let lines = Served::lines(&[&both], page, 80, false);
        lines.iter().map(|line| line.to_string() + "\n").collect::<String>()
    };
    assert_eq!(shown(2).matches("lru 2.00 MiB").count(), 2);
    assert_eq!(shown(4).lines().count(), 4);
    let tiers = "\ntier      b: 3.00/s of 4.00/s reads hit, 0 B of 1.00 MiB\n";
    assert!(shown(0).contains(tiers), "{}", shown(0));
    let page = Served::html(&screen.shown());
    assert!(page.contains("Service time distribution") || page.contains("service time"), "{page}");
    assert!(page.contains("500/s") && page.contains("</html>"));
}
