//! The curve at the widths of terminals, and as a picture.

use expect_test::{Expect, expect};
use nbuf::experiment::result::{
    Curve, Recommend, SearchReport, SearchRun, SizeDetail, SizeReport, Verified,
};
use nbuf::experiment::size::recommend;
use nbuf::units::Bytes;

use super::{Mark, marks, modelled, picture};
use crate::show::tests as sample;

fn check(curve: &Curve, verified: &[(Bytes, u64)], narrow: &Expect, wide: &Expect) {
    let advice = recommend(curve, &sample::MEMORY, Bytes(128 << 10)).unwrap();
    let run = |&(cache_bytes, measured_fills): &(Bytes, u64)| Verified {
        cache_bytes,
        measured_fills,
        within_band: Some(true),
        ..Verified::default()
    };
    let verify = verified.iter().map(run).collect();
    let report = SizeReport { verify, ..report_of(curve, &advice, &[]) };
    for width in 0..200 {
        let drawn = modelled(&report, width, false);
        for line in drawn.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
            assert!(!line.ends_with(' '), "{width}: {line}");
        }
        // Every label is whole, and colour changes nothing but colour.
        if width >= 40 {
            let whole = |mark: &Mark| drawn.contains(&mark.label);
            let any = [true, false].map(|joined| marks(&advice, joined).iter().all(whole));
            assert!(any.contains(&true), "{width}:\n{drawn}");
        }
        let coloured = modelled(&report, width, true);
        assert_eq!(sample::without_escapes(&coloured), drawn);
    }
    let drawn = |width| modelled(&report, width, false);
    narrow.assert_eq(&drawn(40));
    wide.assert_eq(&drawn(80));
}

#[test]
fn a_loop_is_a_cliff() {
    check(
        &sample::cliff(),
        &sample::cliff_verified(),
        &expect![[r#"
            page fills by cache size
                                  ┊ ceiling 67.3 MiB
                                  │ knee 67.3 MiB
                                  │ floor 66.0 MiB
                  │⠉⠉⠉⠉⠉⠉⠉⠉⢻⢝⢝⢝⢝⢝⢝⡆
            300 k ┤         ⢳⢕⢕⢕⢕⢕⡇
                  │          ⠳⣕⢕⢕⢕⡇
                  │           ●⢕⢕⢕⡇
            200 k ┤           ⠈⣗⢕⢕⡇
                  │            ⠸●⢕⡇
            100 k ┤             ⢳⢕⡇
                  │             ⠈⣗⡇
                  │              ⠸●⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀●⣀⣀⣀
                  │               │
                0 └┬─────────────┬┴────────────┬────
                   0          64 MiB        128 MiB
                   ⢕⢕ LRU to active/inactive
                   ● measured, in band
        "#]],
        &expect![[r#"
            page fills by cache size
                                                    │ knee = ceiling 67.3 MiB
                                                    │ floor 66.0 MiB
                  │⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠙⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⢝⡆
                  │                   ⠳⣕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⡇
            300 k ┤                    ⠈⢗⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⢕⡇
                  │                      ⠑⣕⢕⢕⢕⢕⢕⢕⢕⢕⢕⡇
                  │                       ⠈⢳●⢕⢕⢕⢕⢕⢕⢕⡇
                  │                         ⢳⢕⢕⢕⢕⢕⢕⢕⡇
            200 k ┤                          ⢳⢕⢕⢕⢕⢕⢕⡇
                  │                           ⢳⢕⢕⢕⢕⢕⡇
                  │                            ⢳●⢕⢕⢕⡇
                  │                             ⢳⢕⢕⢕⡇
            100 k ┤                              ⢳⢕⢕⡇
                  │                               ⢳⢕⡇
                  │                                ⢗⡇
                  │                                ⠈●⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒●⠒⠒⠒⠒⠒⠒⠒
                  │                                 │
                0 └┬───────────────┬───────────────┬┴──────────────┬──────────────┬─────────
                   0            32 MiB          64 MiB          96 MiB         128 MiB
                   ⢕⢕ LRU to active/inactive   ● measured, in band
        "#]],
    );
}

#[test]
fn two_loops_are_a_staircase() {
    check(
        &sample::staircase(),
        &[],
        &expect![[r#"
            page fills by cache size
                           knee = ceiling 156 MiB │
                               ┊ floor 15.6 MiB   │
                  │⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⡆                  │
                  │            ⡇                  │
            600 k ┤            ⡇                  │
                  │            ⡇                  │
            400 k ┤            ⡇                  │
                  │            ⠷⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⠶⡄
                  │            ┊                  │⡇
            200 k ┤            ┊                  │⡇
                  │            ┊                  │⡇
                  │            ┊                  │⠓
                0 └┬───────────┴───────────┬──────┴─
                 4 MiB      16 MiB      64 MiB
        "#]],
        &expect![[r#"
            page fills by cache size
                                             ┊ floor 15.6 MiB     knee = ceiling 156 MiB │
                  │⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⠽⡆                                          │
                  │                          ┊⡇                                          │
                  │                          ┊⡇                                          │
            600 k ┤                          ┊⡇                                          │
                  │                          ┊⡇                                          │
                  │                          ┊⡇                                          │
            400 k ┤                          ┊⡇                                          │
                  │                          ┊⡇                                          │
                  │                          ┊⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⠛⡆
                  │                          ┊                                           │⡇
            200 k ┤                          ┊                                           │⡇
                  │                          ┊                                           │⡇
                  │                          ┊                                           │⡇
                  │                          ┊                                           │⡇
                  │                          ┊                                           │⠉⠉
                0 └┬─────────────┬───────────┴┬────────────┬────────────┬────────────┬───┴──
                 4 MiB         8 MiB       16 MiB       32 MiB       64 MiB       128 MiB
        "#]],
    );
}

#[test]
fn many_files_are_a_smooth_curve() {
    check(
        &sample::smooth(),
        &[],
        &expect![[r#"
            page fills by cache size
                                   ceiling 391 MiB ┊
                                    knee 190 MiB │ ┊
                      ┊ floor 24.0 KiB           │ ┊
                │⢕⢦⢄⡀ ┊                          │ ┊
            2 M ┤⠳⠵⣕⢝⢕⢦⢄                         │ ┊
                │   ⠉⠓⠵⣕⢝⢖⢤⣀                     │ ┊
                │     ┊ ⠉⠓⠵⣕⣝⢦⢄⡀                 │ ┊
                │     ┊     ⠈⠑⠳⢝⣕⢦⢄              │ ┊
            1 M ┤     ┊         ⠈⠑⠳⢝⣖⢤⣀          │ ┊
                │     ┊              ⠉⠓⠽⣖⢄⡀      │ ┊
                │     ┊                  ⠉⠛⠵⣦⣄   │ ┊
                │     ┊                      ⠈⠙⠲⢤⣀ ┊
                │     ┊                          ⠈⠑⠒
              0 └─────┴┬─────────┬─────────┬─────┴─┴
                    32 KiB     1 MiB    32 MiB
                 ⢕⢕ LRU to active/inactive
        "#]],
        &expect![[r#"
            page fills by cache size
                              ┊ floor 24.0 KiB                            ceiling 391 MiB ┊
                              ┊                                          knee 190 MiB │   ┊
                  │⢝⢖⢤⢄⡀      ┊                                                       │   ┊
                  │⢕⢕⢕⢕⢝⢝⢖⢦⢄⣀ ┊                                                       │   ┊
              2 M ┤⠉⠑⠓⠵⢕⣕⢕⢕⢕⢕⢝⢖⢦⢄⣀                                                    │   ┊
                  │      ⠉⠑⠓⠵⢕⣕⢕⢕⢕⢝⢕⢦⢤⣀                                               │   ┊
                  │           ┊⠉⠓⠳⠵⣕⣕⢕⢕⢝⢕⢦⢤⣀⡀                                         │   ┊
            1.5 M ┤           ┊     ⠈⠉⠓⠳⠵⣕⣕⢕⢝⢕⢖⢤⣀⡀                                    │   ┊
                  │           ┊           ⠈⠉⠓⠳⠵⣕⣕⢝⢕⢖⢤⣀⡀                               │   ┊
                  │           ┊                 ⠈⠉⠓⠳⠵⣕⣝⢝⢖⢤⢄⡀                          │   ┊
              1 M ┤           ┊                       ⠈⠉⠓⠳⠵⣝⣝⢖⢤⢄⡀                     │   ┊
                  │           ┊                             ⠈⠑⠓⠵⢝⣝⢖⢦⢄⣀                │   ┊
                  │           ┊                                   ⠉⠑⠓⠵⢝⣖⢦⢄⣀           │   ┊
            500 k ┤           ┊                                         ⠉⠑⠓⠽⢖⣦⢄⣀      │   ┊
                  │           ┊                                               ⠉⠑⠛⠶⢦⣄⣀ │   ┊
                  │           ┊                                                     ⠉⠙⠒⠦⢄⣀┊
                  │           ┊                                                       │   ⠉⠉
                0 └┬──────────┴─────┬────────────────┬─────────────────┬──────────────┴─┬─┴─
                 4 KiB           64 KiB            1 MiB            16 MiB           256 MiB
                   ⢕⢕ LRU to active/inactive
        "#]],
    );
}

#[test]
fn nothing_to_gain_is_a_level() {
    check(
        &sample::level(),
        &[],
        &expect![[r#"
            page fills by cache size
                     │ enough 4.00 MiB
            10 k ┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
                 │   │
                 │   │
                 │   │
                 │   │
            5000 ┤   │
                 │   │
                 │   │
                 │   │
                 │   │
               0 └┬──┴────────┬────────────┬────────
                  0        16 MiB       32 MiB
        "#]],
        &expect![[r#"
            page fills by cache size
                         │ enough 4.00 MiB
            10 k ┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
                 │       │
                 │       │
            8000 ┤       │
                 │       │
                 │       │
            6000 ┤       │
                 │       │
            4000 ┤       │
                 │       │
                 │       │
            2000 ┤       │
                 │       │
                 │       │
                 │       │
               0 └┬──────┴──────┬────────────┬─────────────┬────────────┬─────────────┬─────
                  0           8 MiB       16 MiB        24 MiB       32 MiB        40 MiB
        "#]],
    );
}

#[test]
fn no_curve_is_said_to_be_none() {
    let drawn = modelled(&SizeReport::default(), 80, true);
    assert_eq!(drawn, "no curve: no file was read\n");
}

/// A report with these counts as runs of a search.
fn report_of(curve: &Curve, advice: &Recommend, measured: &[(Bytes, u64)]) -> SizeReport {
    let memory = sample::MEMORY;
    let other = memory.other_bytes();
    let run = |&(cache, fills): &(Bytes, u64)| SearchRun {
        limit_bytes: Some(other + cache),
        fills,
        ..SearchRun::default()
    };
    let runs = measured.iter().map(run).collect();
    SizeReport {
        memory,
        recommend: Some(advice.clone()),
        search: (!measured.is_empty()).then(|| SearchReport { runs, ..SearchReport::default() }),
        detail: SizeDetail { curve: curve.clone(), ..SizeDetail::default() },
        ..SizeReport::default()
    }
}

#[test]
fn every_picture_is_whole_and_within_its_card() {
    let curves = [
        ("cliff", sample::cliff()),
        ("staircase", sample::staircase()),
        ("smooth", sample::smooth()),
        ("level", sample::level()),
        ("empty", Curve::default()),
    ];
    for (name, curve) in curves {
        let advice = recommend(&curve, &sample::MEMORY, Bytes(128 << 10)).unwrap();
        let verified = sample::cliff_verified();
        let verified = if name == "cliff" { verified.as_slice() } else { &[] };
        let report = report_of(&curve, &advice, verified);
        let drawn = picture("grep -r <word> src && true", &report);
        assert!(drawn.contains("grep -r &lt;word&gt; src &amp;&amp; true"), "{name}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{name}: {drawn}");
        let measured = [format!("set {}", advice.limit_bytes)].to_vec();
        let modelled = || marks(&advice, true).into_iter().map(|mark| mark.label).collect();
        let labels: Vec<String> = if verified.is_empty() { modelled() } else { measured };
        for label in labels {
            assert!(drawn.contains(&label), "{name}: {label}");
        }
        // For a look at them all.
        if let Ok(folder) = std::env::var("NBUF_PICTURES") {
            std::fs::write(format!("{folder}/{name}.svg"), drawn).unwrap();
        }
    }
}
