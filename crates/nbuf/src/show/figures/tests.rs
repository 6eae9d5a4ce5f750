//! The figures of a small document that was made by hand.

use expect_test::expect;
use nbuf::experiment::result::{FigureLists, FigureStep, FigureTracks, ReplayFigures};

use super::{Of, sections, text};
use crate::show::page::Part;

pub(crate) fn figures() -> ReplayFigures {
    let step = |from: f64, to: f64, count| FigureStep { from, to, count };
    let mut cells = vec![0; 744];
    for (at, units) in [(2, 1), (9, 4), (35, 2), (300, 42), (301, 10), (743, 3)] {
        cells[at] = units;
    }
    let mut hit_rates = vec![0; 20];
    (hit_rates[12], hit_rates[14], hit_rates[19]) = (3, 11, 1);
    ReplayFigures {
        tracks: FigureTracks {
            tracks: 7440,
            track_bytes: 10_752,
            is_track: true,
            tracks_held: 9,
            units_held: 62,
            units_management: Some(7),
            cell_tracks: 10,
            cells_management: 38,
            cells,
        },
        lists: Some(FigureLists {
            lengths: (0..51).map(|list| [3, 1, 0, 2, 10][list % 5]).collect(),
            looks: 1,
            distribution: vec![10, 11, 10, 11, 0, 0, 0, 0, 0, 0, 10],
            mean: 3.196,
            longest: 10,
            share_up_to_3: 42.0 / 52.0,
        }),
        period_seconds: 10.0,
        hit_rates,
        idle_periods: 2,
        service: vec![
            step(300e-6, 500e-6, 7_000),
            step(500e-6, 700e-6, 0),
            step(0.03, 0.05, 3_100),
            step(0.7, 1.0, 1),
        ],
        rates: vec![step(0.0, 0.5, 0), step(0.5, 1.0, 4), step(1.0, 1.5, 11)],
    }
}

#[test]
fn the_text_shows_all_six_on_a_narrow_terminal() {
    expect![[r#"
        Tracks in cache
          ░··▒··········░·······················
          ······································
          ······································
          ········█·····························
          ······································
          ······································
          ······································
          ·····································░
          62 units in the cache, 11 % of them
            from the management space; they lie
            in 9 of 7,440 tracks
          a character is 24.5 tracks; ░ to 3, ▒
            to 13, ▓ to 29, █ to 52 units; the
            first 16 are the management space

        Hash queue lengths
          31·2+31·2+31·2+31·2+31·2+31·2+
          31·2+31·2+31·2+31·2+3
          each character is one list, and shows
            its number of entries; · none, + ten
            and more

        Hash queue length distribution
           0 █████████████████████████████▏   10
           1 ████████████████████████████████ 11
           2 █████████████████████████████▏   10
           3 ████████████████████████████████ 11
           4                                   0
           5                                   0
           6                                   0
           7                                   0
           8                                   0
           9                                   0
          10 █████████████████████████████▏   10
          51 lists, looked at 1 time: 3.20
            entries on average, 81 % have three
            or fewer; at the end, the longest
            has 10

        Hit rate distribution
           60-65 % ███████▏                    3
           65-70 %                             0
           70-75 % ██████████████████████████ 11
           75-80 %                             0
           80-85 %                             0
           85-90 %                             0
           90-95 %                             0
          95-100 % ██▍                         1
          15 periods of 10 s, and 2 without a
            request

        Disc + cache service time distribution
           300-500 us ████████████████████ 7,000
           500-700 us                          0
             30-50 ms ████████▉            3,100
          700-1000 ms ▏                        1
          10,101 requests, without their turns
            in the queue of the disc

        Operation rate distribution
          0.5-1 ██████████▋                    4
          1-1.5 █████████████████████████████ 11
          15 periods of 10 s, and 2 without a
            request
    "#]]
    .assert_eq(&text(&figures(), Of::Replay, 40));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let lines = |figures: &ReplayFigures, width| {
        let text = text(figures, Of::Replay, width);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{width}:\n{text}");
        assert!(text.lines().all(|line| !line.ends_with(' ')), "{text}");
        text.matches("istribution").count()
    };
    for width in 40..=120 {
        assert_eq!(lines(&figures(), width), 4);
        assert_eq!(lines(&ReplayFigures::default(), width), 0);
    }
}

#[test]
fn the_page_shows_all_six_and_no_more_than_there_is() {
    let titles = |figures: &ReplayFigures| sections(figures, Of::Replay).len();
    assert_eq!(titles(&figures()), 6);
    assert_eq!(titles(&ReplayFigures { lists: None, ..figures() }), 4);
    assert_eq!(titles(&ReplayFigures::default()), 0);
    for (title, parts) in sections(&figures(), Of::Replay) {
        for part in parts {
            let (table, at) = match part {
                Part::Chart(chart) => (chart.table, chart.at.len()),
                Part::Map(map) => (map.table, 4),
                _ => panic!("{title} is no picture"),
            };
            assert_eq!(table.len(), at, "{title}");
        }
    }
}
