//! The report on rows that were made up for it.

use expect_test::expect;
use nbuf_pdp11::unix::result::{
    DiscOperations, Refused, ScanRow, SweepDocument, SweepRow, TimeSplit,
};

use super::{csv, page, scan, table};
use crate::show::page::tests::well_formed;
use crate::show::tests::fit;

pub(crate) fn document() -> SweepDocument {
    let row = |nbuf, seconds, speedup, against_previous| SweepRow {
        nbuf,
        seconds,
        range_seconds: [seconds, seconds * 1.01],
        speedup,
        against_previous,
        post_seconds: Some(3.215),
        requests: Some(3913),
        hits: Some(1510),
        misses: Some(2403),
        read_hits: Some(475),
        write_hits: Some(1035),
        lost_wakeups: Some(16),
        buffer_waits: Some(2756),
        disc: DiscOperations {
            drum_reads: 1355,
            drum_writes: 1066,
            pack_reads: 921,
            pack_writes: 224,
        },
        time: TimeSplit { cpu: 35.3, drum_latency: 55.3, idle: 0.917, ..TimeSplit::default() },
        ..SweepRow::default()
    };
    SweepDocument {
        timing: "hardware".to_owned(),
        samples: 10,
        rows: vec![row(1, 139.5, 1.0, 0.0), row(6, 60.0, 2.325, 0.31)],
        refused: vec![Refused {
            nbuf: 0,
            why: "loops & waits".to_owned(),
            machine: "001000  tstb 025135\n".to_owned(),
        }],
        ..SweepDocument::default()
    }
}

#[test]
fn the_table_has_what_the_post_has_and_what_it_could_not_see() {
    expect![[r#"
          seconds of the machine of 1971, by its handbooks; median of 10

        Time to as u*.s; speed-up over nbuf 1
          nbuf  seconds  speedup  vs previous
             1      140    1.00x
             6     60.0    2.33x      132.5 %

        The same in the post
          nbuf  seconds  speedup  vs previous
             1    3.215    1.00x
             6    3.215    1.00x        0.0 %

        Shortest and longest sample, in seconds
          nbuf  from    to
             1   140   141
             6  60.0  60.6

        Buffers
          nbuf  requests   hits  misses  lost  waits
             1     3,913  1,510   2,403    16  2,756
             6     3,913  1,510   2,403    16  2,756

        Reads and writes
          nbuf  hits r/w   drum r/w  pack r/w
             1  475/1035  1355/1066   921/224
             6  475/1035  1355/1066   921/224

        Where the time went, in seconds
          nbuf   cpu  discs  overlap   idle
             1  35.3   55.3    0.000  0.917
             6  35.3   55.3    0.000  0.917

        What the discs took, in seconds
          nbuf  latency   seek  rotation  transfer
             1     55.3  0.000     0.000     0.000
             6     55.3  0.000     0.000     0.000

          nbuf 0: loops & waits
         001000  tstb 025135
    "#]]
    .assert_eq(&table(&document(), 100));
    let rows = [ScanRow { rk_units: 20, seconds: 15.6, lost_wakeups: Some(880) }];
    expect![[r#"
        as u*.s with 1 buffer under simh
          rk-time  seconds  lost wakeups
               20     15.6           880
    "#]]
    .assert_eq(&scan(1, &rows, 44));
}

#[test]
fn no_table_is_wider_than_40_columns_and_the_post_has_its_own_columns() {
    let mut document = document();
    document.refused.clear();
    let posts = [3.215, 1.309, 1.004, 0.780, 0.734, 0.724];
    document.rows = (1..)
        .zip(posts)
        .map(|(nbuf, post)| SweepRow { nbuf, post_seconds: Some(post), ..document.rows[0].clone() })
        .collect();
    fit([40, 44, 80], |width| table(&document, width));
    let shown = table(&document, 44);
    // As the post prints them, with as many digits as here.
    for line in ["2    1.309    2.46x      145.6 %", "4    0.780    4.12x       28.7 %"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let rows = [ScanRow { rk_units: 1_000_000, seconds: 15.6, lost_wakeups: None }];
    fit([40], |width| scan(1, &rows, width));
}

#[test]
fn the_page_has_both_curves_and_the_spreadsheet_all_columns() {
    let page = page(&document());
    well_formed(&page);
    // Each line in two charts, and its key.
    for look in ["line c0", "line bound"] {
        assert_eq!(page.matches(&format!("class=\"{look}\"")).count(), 3, "{look}");
    }
    assert!(page.contains("<caption>Buffers</caption>") && page.contains(">2,403</td>"));
    assert!(page.contains("Loops &amp; waits") && page.contains("2.33 times as fast"));
    let csv = csv(&document());
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [23, 23, 23]);
}

#[test]
fn what_was_not_counted_is_no_nought() {
    let row = SweepRow { nbuf: 2, seconds: 1.0, ..SweepRow::default() };
    let document = SweepDocument { rows: vec![row], ..SweepDocument::default() };
    let shown = table(&document, 100);
    let line = shown.lines().skip_while(|line| !line.contains("requests")).nth(1).unwrap();
    assert_eq!(line.split_whitespace().filter(|&cell| cell == "-").count(), 5, "{line}");
    assert!(shown.contains("-/-"), "{shown}");
    assert!(csv(&document).contains(",,,,,,,,0,0,0,0,"), "{}", csv(&document));
    let rows = [ScanRow { rk_units: 20, seconds: 15.6, lost_wakeups: None }];
    assert!(scan(1, &rows, 44).contains("lost wakeups are not counted"));
}
