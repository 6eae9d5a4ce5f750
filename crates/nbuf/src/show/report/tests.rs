//! The report as people see it, at the widths of terminals.

use console::measure_text_width;
use expect_test::{Expect, expect};
use nbuf::experiment::result::{
    Advice, CaptureReport, Memory, ReadaheadPoint, Recommend, Sample, TargetReport, Traffic,
};

mod choice;

use super::answer::answer;
use super::*;

const MIB: u64 = 1 << 20;

fn file(name: &str, accesses: u64, fills: u64) -> FileShare {
    FileShare { name: name.into(), accesses, fills, ..FileShare::default() }
}

fn run(limit: Option<u64>, band: (u64, u64), measured: u64) -> Verified {
    Verified {
        limit_bytes: limit.map(|mib| Bytes(mib * MIB)),
        cache_bytes: Bytes(limit.unwrap_or(400) * MIB - 12 * MIB),
        predicted_fills_low: band.0,
        predicted_fills_high: band.1,
        measured_fills: measured,
        measured_seconds: 12.345,
        within_band: Some(true),
        near_band: true,
        allowed_seconds: Some(60.0),
        major_faults: 12_345,
        read_bytes: Bytes(1234 * MIB),
        memory_pressure_seconds: 0.25,
        io_pressure_seconds: 1.5,
        ..Verified::default()
    }
}

/// A database: everything there is to say.
fn full() -> SizeReport {
    let cliff_bytes = Some(Bytes(388 * MIB));
    let runs = [
        run(None, (99_328, 99_328), 99_331),
        Verified { cliff_bytes, ..run(Some(412), (99_328, 101_000), 100_112) },
        Verified { within_band: Some(false), ..run(Some(371), (1_120_345, 1_201_777), 2_345_678) },
        Verified { exit_status: 2, lost_events: 1, ..run(Some(309), (3_120_345, 3_120_345), 9) },
        Verified { within_band: None, timed_out: true, ..run(Some(64), (9, 9), 5) },
        Verified { within_band: None, killed: true, exit_status: 137, ..run(Some(32), (9, 9), 5) },
    ];
    SizeReport {
        schema: SizeReport::SCHEMA.into(),
        command: vec!["sqlite3".into()],
        exit_status: Some(0),
        capture: CaptureReport {
            backend: "perf".into(),
            events: 12_345_678,
            lost: 7,
            accesses: 3_456_789,
            distinct_pages: 99_328,
            mapped_share: 0.0123,
            shared_bytes: Bytes(2 * MIB),
            readahead_bytes: Bytes(128 << 10),
            ..CaptureReport::default()
        },
        memory: Memory {
            anonymous_bytes: Bytes(9 * MIB),
            kernel_bytes: Bytes(MIB),
            page_cache_bytes: Bytes(388 * MIB),
            shared_text_bytes: Bytes(2 * MIB),
            ..Memory::default()
        },
        footprint_bytes: Bytes(388 * MIB),
        recommend: Some(Recommend {
            kind: Advice::Knee,
            limit_bytes: Bytes(412 * MIB),
            cache_bytes: Bytes(392 * MIB),
            knee_bytes: Bytes(392 * MIB),
            floor_bytes: Bytes(4 * MIB),
            ceiling_bytes: Bytes(392 * MIB),
            slack_bytes: Bytes(10 * MIB),
            spread_bytes: Bytes(0),
            reason: "from 392 MiB on, every page is read once; at 350 MiB it is read 11.3 times"
                .into(),
        }),
        verify: runs.to_vec(),
        repeatable: Some(true),
        files: vec![
            file(
                "/srv/data/a-customer-with-a-long-name/the-database-of-2026.db",
                3_400_000,
                99_000,
            ),
            file("/srv/\x1b[31mred\nand\u{202e}turned", 1_234, 56),
            file("/usr/share/日本語/名前.txt", 1, 0),
        ],
        warnings: vec![
            "7 of 12,345,678 events were lost: whatever is derived from this trace is too low"
                .into(),
        ],
        ..SizeReport::default()
    }
}

fn bare() -> SizeReport {
    let full = full();
    SizeReport {
        capture: CaptureReport {
            events: 1,
            lost: 0,
            accesses: 1,
            distinct_pages: 1,
            mapped_share: 0.0,
            shared_bytes: Bytes(0),
            ..full.capture
        },
        footprint_bytes: Bytes(4096),
        recommend: full.recommend.map(|recommend| Recommend {
            kind: Advice::NothingToGain,
            limit_bytes: Bytes(16 * MIB),
            cache_bytes: Bytes(4 * MIB),
            reason: "cache buys nothing: every page is read once".into(),
            ..recommend
        }),
        files: Vec::new(),
        verify: Vec::new(),
        warnings: Vec::new(),
        ..full
    }
}

#[track_caller]
fn check(report: &SizeReport, width: usize, want: &Expect) {
    let text = whole(&report.clone().judged(), width, false);
    want.assert_eq(&text);
    fits(&text, width);
}

#[track_caller]
fn fits(text: &str, width: usize) {
    for line in text.lines() {
        assert!(measure_text_width(line) <= width, "wider than {width}: {line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

#[test]
fn a_run_that_is_off_by_a_few_pages_is_not_judged() {
    let few = Verified { within_band: None, ..run(Some(48), (9, 9), 50) };
    let text = verification(&SizeReport { verify: vec![few], ..full() }, 80);
    assert!(text.contains("  too few  ") || text.contains("  too few\n"), "{text}");
    assert!(text.contains("48.0 MiB: too few pages to judge by; other processes"), "{text}");
}

#[test]
fn writes_stand_apart_where_there_are_any() {
    let mut report = full();
    report.traffic = Traffic {
        read_pages: 3_400_000,
        written_pages: 1234,
        filled_pages: 99_328,
        filled_by_writes_pages: 56,
        read_bytes: Bytes(388 * MIB),
        written_bytes: Bytes(5 * MIB),
        ..Traffic::default()
    };
    report.verify = vec![Verified { written_bytes: Bytes(7 * MIB), ..report.verify[1].clone() }];
    let text = workload(&report, 80);
    let told = "  3,400,000 pages read (388 MiB from discs), 1,234 written (5.00 MiB to be
    written back); 99,328 filled, 56 of them by writes\n";
    assert!(text.contains(told), "{text}");
    let text = verification(&report, 100);
    assert!(text.contains("     read   written  seconds"), "{text}");
    assert!(text.contains(" 1.21 GiB  7.00 MiB  "), "{text}");
    for width in [40, 80] {
        let text = verification(&report, width);
        assert!(text.contains("  written: 7.00 MiB at 412 MiB\n"), "{text}");
    }
}

/// The full report on 40 columns, from one word to another.
fn narrow(from: &str, to: &str) -> String {
    let text = whole(&full().judged(), 40, false);
    fits(&text, 40);
    let (_, text) = text.split_at(text.find(from).unwrap());
    text[..text.find(to).unwrap_or(text.len())].to_owned()
}

#[test]
fn the_answer_on_40_columns() {
    expect![[r#"
        412 MiB. Not to be relied on: the fills
          were out of band at 1 of 6 sizes.
          = 392 MiB cache + 9.00 MiB anonymous +
            1.00 MiB kernel + 2.00 MiB shared
            text + 10.0 MiB slack

        To paste (fills were out of band)
          docker run --memory=412m \
            --memory-swap=412m ...
          systemd-run -p MemoryMax=412M ...

          resources:
            requests:
              memory: 412Mi
            limits:
              memory: 412Mi

          Warning: 7 of 12,345,678 events were
            lost: whatever is derived from this
            trace is too low.

    "#]]
    .assert_eq(&narrow("412", "Verified"));
}

#[test]
fn the_runs_on_40_columns() {
    expect![[r#"
        Verified: pages filled
          none: in band
            99,331 fills, predicted 99,328
          412 MiB: in band, cliff
            100,112 fills, predicted
            99,328..101,000
          371 MiB: OUT OF BAND
            2,345,678 fills, predicted
            1,120,345..1,201,777
          309 MiB: in band
            9 fills, predicted 3,120,345
          64.0 MiB: ended early
            5 fills, predicted 9
          32.0 MiB: killed
            5 fills, predicted 9
          412 MiB is on a cliff of the curve, at
            388 MiB of cache: slightly less
            memory gives the fills below the
            cliff
          309 MiB: the command ended with status
            2, and with 0 when recorded
          309 MiB: 1 fill event was lost
          64.0 MiB: ended after 60 s, and not
            judged; --max-time allows more
          killed at 32.0 MiB: below the floor

    "#]]
    .assert_eq(&narrow("Verified", "Why"));
}

#[test]
fn the_rest_on_40_columns() {
    expect![[r#"
        Why this size
          from 392 MiB on, every page is read
            once; at 350 MiB it is read 11.3
            times
          below 4.00 MiB of cache: costs memory
            and saves nothing
          above 392 MiB of cache: saves nothing
            more

        Workload
          12,345,678 events, 7 LOST
          3,456,789 page accesses to 99,328
            distinct pages (388 MiB); 1.2 %
            mapped
          other memory: 9.00 MiB anonymous, 0 B
            shared, 1.00 MiB kernel
          shared text: 2.00 MiB stayed in memory
            for other programs; every limit
            includes it, and the runs had it
            taken off

           accesses   fills  file
          3,400,000  99,000  …atabase-of-2026.db
              1,234      56  …[31mred?and?turned
                  1       0  …re/日本語/名前.txt

    "#]]
    .assert_eq(&narrow("Why", "!"));
}

#[test]
fn on_80_columns() {
    check(
        &full(),
        80,
        &expect![[r#"
            412 MiB. Not to be relied on: the fills were out of band at 1 of 6 sizes.
              = 392 MiB cache + 9.00 MiB anonymous + 1.00 MiB kernel + 2.00 MiB shared text
                + 10.0 MiB slack

            To paste (fills were out of band)
              docker run --memory=412m --memory-swap=412m ...
              systemd-run -p MemoryMax=412M ...

              resources:
                requests:
                  memory: 412Mi
                limits:
                  memory: 412Mi

              Warning: 7 of 12,345,678 events were lost: whatever is derived from this trace
                is too low.

            Verified: pages filled
                 limit            predicted  measured                    read seconds waited
                  none               99,328    99,331 in band        1.21 GiB   12.35   1.50
               412 MiB      99,328..101,000   100,112 in band, cliff 1.21 GiB   12.35   1.50
               371 MiB 1,120,345..1,201,777 2,345,678 OUT OF BAND    1.21 GiB   12.35   1.50
               309 MiB            3,120,345         9 in band        1.21 GiB   12.35   1.50
              64.0 MiB                    9         5 ended early    1.21 GiB   12.35   1.50
              32.0 MiB                    9         5 killed         1.21 GiB   12.35   1.50
              412 MiB is on a cliff of the curve, at 388 MiB of cache: slightly less memory
                gives the fills below the cliff
              309 MiB: the command ended with status 2, and with 0 when recorded
              309 MiB: 1 fill event was lost
              64.0 MiB: ended after 60 s, and not judged; --max-time allows more
              killed at 32.0 MiB: below the floor

            Why this size
              from 392 MiB on, every page is read once; at 350 MiB it is read 11.3 times
              below 4.00 MiB of cache: costs memory and saves nothing
              above 392 MiB of cache: saves nothing more

            Workload
              12,345,678 events, 7 LOST
              3,456,789 page accesses to 99,328 distinct pages (388 MiB); 1.2 % mapped
              other memory: 9.00 MiB anonymous, 0 B shared, 1.00 MiB kernel
              shared text: 2.00 MiB stayed in memory for other programs; every limit
                includes it, and the runs had it taken off

               accesses   fills  file
              3,400,000  99,000  …v/data/a-customer-with-a-long-name/the-database-of-2026.db
                  1,234      56  /srv/?[31mred?and?turned
                      1       0  /usr/share/日本語/名前.txt

        "#]],
    );
}

#[test]
fn the_runs_on_120_columns() {
    let text = verification(&full().judged(), 120);
    fits(&text, 120);
    let table: Vec<&str> = text.lines().take(8).collect();
    expect![[r#"
        Verified: pages filled
             limit             predicted   measured                   major      read  seconds  waited
              none                99,328     99,331  in band         12,345  1.21 GiB    12.35    1.50
           412 MiB       99,328..101,000    100,112  in band, cliff  12,345  1.21 GiB    12.35    1.50
           371 MiB  1,120,345..1,201,777  2,345,678  OUT OF BAND     12,345  1.21 GiB    12.35    1.50
           309 MiB             3,120,345          9  in band         12,345  1.21 GiB    12.35    1.50
          64.0 MiB                     9          5  ended early     12,345  1.21 GiB    12.35    1.50
          32.0 MiB                     9          5  killed          12,345  1.21 GiB    12.35    1.50
    "#]]
    .assert_eq(&(table.join("\n") + "\n"));
}

#[test]
fn one_of_each_and_nothing_to_gain() {
    check(
        &bare(),
        40,
        &expect![[r#"
            16.0 MiB. More cache buys nothing.
              Modelled, not verified.
              = 4.00 MiB cache + 9.00 MiB anonymous
                + 1.00 MiB kernel + 2.00 MiB shared
                text + 10.0 MiB slack

            To paste
              docker run --memory=16m \
                --memory-swap=16m ...
              systemd-run -p MemoryMax=16M ...

              resources:
                requests:
                  memory: 16Mi
                limits:
                  memory: 16Mi

            Why this size
              every page is read once

            Workload
              1 event, none lost
              1 page access to 1 distinct page (4.00
                KiB); 0.0 % mapped
              other memory: 9.00 MiB anonymous, 0 B
                shared, 1.00 MiB kernel
              shared text: 2.00 MiB stayed in memory
                for other programs; a limit has to
                include it

        "#]],
    );
}

#[test]
fn no_recommendation_is_said_to_be_none() {
    let report = SizeReport { recommend: None, ..full() };
    assert!(answer(&report, 80).starts_with("No size from the recording alone: 1 % of the pages "));
}
