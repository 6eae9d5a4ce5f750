//! Tables at the widths of terminals.

use expect_test::expect;

use super::super::table;
use super::sample;

#[test]
fn one_policy() {
    expect![[r#"
        Trace /traces/cloudphysics/w106.vscsitrace.gz (vscsi, gzip)
          113,872 requests: 67,405 reads (2.65 GiB) and 46,467 writes (1.71 GiB), in
            86.0 min
          a write puts its pages into the cache, as a read does
          1,141,869 accesses to 269,210 distinct pages of 4 KiB (1.03 GiB); 23.6 % are
            first accesses, which miss in any cache

        lru
            pages      size  hit %  requests %     misses
              262  1.02 MiB   0.07           0  1,141,104
              417  1.63 MiB   0.13           0  1,140,404
              663  2.59 MiB   0.25           0  1,139,069
            1,054  4.12 MiB   0.47           0  1,136,526
            1,676  6.55 MiB   0.89        0.10  1,131,697
            2,664  10.4 MiB   1.69        0.90  1,122,613
            4,235  16.5 MiB   3.16        2.37  1,105,747
            6,731  26.3 MiB   5.83        5.04  1,075,281
           10,700  41.8 MiB   10.4        9.64  1,022,747
           17,008  66.4 MiB   17.7        17.0    939,192
           27,034   106 MiB   28.0        27.2    821,887
           42,970   168 MiB   40.2        39.4    683,105
           68,302   267 MiB   52.0        51.2    548,606
          108,566   424 MiB   61.4        60.6    441,250
          172,564   674 MiB   67.8        67.0    368,062
          269,210  1.03 GiB   71.6        70.8    324,741

          An LRU cache of 424 MiB (108,566 pages) hits 61.4 % of page accesses; more
            than 781 MiB saves nothing.
          floor    41.8 MiB   10,700 pages  below it a cache is useless
          knee      424 MiB  108,566 pages  most of what can be saved is saved
          ceiling   781 MiB  200,000 pages  above it nothing more is gained
          --target hit=0.6: lru needs 344 MiB (88,001 pages)
    "#]]
    .assert_eq(&table(&sample::one(), 80));
}

#[test]
fn a_sample_of_keys() {
    expect![[r#"
        Trace standard input (csv, zstd)
          1,141,869 requests, all reads
          left out: 3 unreadable records
          1,141,869 accesses to about 269,210 distinct keys

        lru
             keys  hit %   95 % band   misses
            4,235   27.3  26.1..28.5  830,517
            6,731   34.8  33.8..35.7  744,791
           10,700   42.9  42.2..43.7  651,579
           17,008   51.2  50.6..51.8  556,803
           27,034   59.1  58.6..59.6  466,729
           42,970   66.2  65.8..66.5  386,455
           68,302   72.1  71.8..72.4  318,914
          108,566   76.8  76.6..77.1  264,788
          172,564   80.5  80.3..80.7  223,080
          269,210   83.1  82.9..83.3  192,980
          sampled: 1 % of the keys and the 1,024 asked for most, 3,716 in all, seed 42
          sizes below 4,000 keys cannot be judged from this sample

          An LRU cache of 68,302 keys hits 72.1 % (band 71.8..72.4) of accesses; more
            than 172,564 keys saves nothing.
          floor      4,235 keys  below it a cache is useless
          knee      68,302 keys  most of what can be saved is saved
          ceiling  172,564 keys  above it nothing more is gained
    "#]]
    .assert_eq(&table(&sample::sampled(), 80));
}

/// What comes after the answer.
fn parts(width: usize) -> String {
    let all = table(&sample::parts(), width);
    let from = all.find("Over time").expect("windows");
    all[from..].to_owned()
}

#[test]
fn windows_and_parts() {
    expect![[r#"
        Over time, lru, from 2013-06-23 15:06:40 UTC: hits in % of accesses at some
            sizes
          from, min  requests  41.8 MiB  424 MiB  674 MiB     knee
                  0    13,000      8.85     58.1     65.1  406 MiB
               10.0    13,997      5.73     54.3     65.0  651 MiB
               20.0    14,994      5.28     53.4     64.8  711 MiB
               30.0    15,991      6.83     56.1     65.2     none
               40.0    16,988      12.6     59.9     64.5  268 MiB
               50.0    17,985                              101 MiB
               60.0    18,982      18.1     60.8     63.7  165 MiB
               70.0    19,979      8.75     58.0     65.1  412 MiB
               80.0    20,976      5.70     54.3     65.0  654 MiB

        Parts, lru: hits in % at 424 MiB
          accesses  share %  hit %      knee
           400,000     35.0   85.7  35.2 MiB  …cript>alert(1)</script>&amp;"',??[31m?￿�
           200,000     17.5   76.2  39.1 MiB  …path/that/goes/on/for/longer/than/a/line
           133,333     11.7   68.5  43.0 MiB  …r/lib/postgresql/16/main/base/16384/2602
           100,000     8.76   62.3  46.9 MiB  …r/lib/postgresql/16/main/base/16384/2603
            80,000     7.01   57.1  50.8 MiB  …r/lib/postgresql/16/main/base/16384/2604
            66,666     5.84   52.7  54.7 MiB  …r/lib/postgresql/16/main/base/16384/2605
            57,142     5.00   49.0  58.6 MiB  …r/lib/postgresql/16/main/base/16384/2606
            50,000     4.38   45.7  62.5 MiB  …r/lib/postgresql/16/main/base/16384/2607
            44,444     3.89   42.8  66.4 MiB  …r/lib/postgresql/16/main/base/16384/2608
            40,000     3.50   40.3  70.3 MiB  …r/lib/postgresql/16/main/base/16384/2609
            36,363     3.18   38.1  74.2 MiB  …r/lib/postgresql/16/main/base/16384/2610
            33,333     2.92   36.1  78.1 MiB  …r/lib/postgresql/16/main/base/16384/2611
            30,769     2.69   34.3  82.0 MiB  …r/lib/postgresql/16/main/base/16384/2612
            28,571     2.50   32.6  85.9 MiB  …r/lib/postgresql/16/main/base/16384/2613
            26,666     2.34   31.2  89.8 MiB  …r/lib/postgresql/16/main/base/16384/2614
            25,000     2.19   29.8  93.8 MiB  …r/lib/postgresql/16/main/base/16384/2615
            23,529     2.06   28.6  97.7 MiB  …r/lib/postgresql/16/main/base/16384/2616
            22,222     1.95   27.4   102 MiB  …r/lib/postgresql/16/main/base/16384/2617
            21,052     1.84   26.4   105 MiB  …r/lib/postgresql/16/main/base/16384/2618
            20,000     1.75   25.4   109 MiB  …r/lib/postgresql/16/main/base/16384/2619
          and 3 more

          Warning: /srv/<script>alert(1)</script>&amp;"',??[31m?￿� was cut short.
    "#]]
    .assert_eq(&parts(80));
}

#[test]
fn windows_and_parts_on_a_narrow_terminal() {
    expect![[r#"
        Over time, lru, from 2013-06-23
            15:06:40 UTC: hits in % of accesses
            at some sizes
          from, min  requests  424 MiB     knee
                  0    13,000     58.1  406 MiB
               10.0    13,997     54.3  651 MiB
               20.0    14,994     53.4  711 MiB
               30.0    15,991     56.1     none
               40.0    16,988     59.9  268 MiB
               50.0    17,985           101 MiB
               60.0    18,982     60.8  165 MiB
               70.0    19,979     58.0  412 MiB
               80.0    20,976     54.3  654 MiB

        Parts, lru: hits in % at 424 MiB
          share %  hit %      knee
             35.0   85.7  35.2 MiB  …,??[31m?￿�
             17.5   76.2  39.1 MiB  …han/a/line
             11.7   68.5  43.0 MiB  …16384/2602
             8.76   62.3  46.9 MiB  …16384/2603
             7.01   57.1  50.8 MiB  …16384/2604
             5.84   52.7  54.7 MiB  …16384/2605
             5.00   49.0  58.6 MiB  …16384/2606
             4.38   45.7  62.5 MiB  …16384/2607
             3.89   42.8  66.4 MiB  …16384/2608
             3.50   40.3  70.3 MiB  …16384/2609
             3.18   38.1  74.2 MiB  …16384/2610
             2.92   36.1  78.1 MiB  …16384/2611
             2.69   34.3  82.0 MiB  …16384/2612
             2.50   32.6  85.9 MiB  …16384/2613
             2.34   31.2  89.8 MiB  …16384/2614
             2.19   29.8  93.8 MiB  …16384/2615
             2.06   28.6  97.7 MiB  …16384/2616
             1.95   27.4   102 MiB  …16384/2617
             1.84   26.4   105 MiB  …16384/2618
             1.75   25.4   109 MiB  …16384/2619
          and 3 more

          Warning:
            /srv/<script>alert(1)</script>&amp;"
            ',??[31m?￿� was cut short.
    "#]]
    .assert_eq(&parts(40));
}

#[test]
fn windows_without_times_have_numbers() {
    let mut document = sample::parts();
    document.curves[0].windows.iter_mut().for_each(|window| window.from_ns = 0);
    let all = table(&document, 80);
    assert!(all.contains("  window  requests") && all.contains("\n       1    13,000"), "{all}");
}

#[test]
fn a_bound_that_others_pass_is_not_called_one() {
    let mut document = sample::many();
    assert!(table(&document, 80).contains("no policy that takes every"));
    document.curves[1].points.iter_mut().for_each(|point| point.misses = point.accesses);
    assert!(!table(&document, 80).contains("no policy"));
}

#[test]
fn what_is_lacking_is_said() {
    let mut texts = String::new();
    for document in sample::lacking() {
        let all = table(&document, 80);
        let (_, answer) = all.split_once("\n\n").expect("something after what was read");
        let is_row = |line: &&str| line.trim_start().starts_with(char::is_numeric);
        texts
            .extend(answer.lines().filter(|line| !is_row(line)).map(|line| line.to_owned() + "\n"));
        texts.push_str("---\n");
    }
    expect![[r#"
          There is no curve.
        ---
        lru
          pages      size  hit %  misses

          There is no curve: the trace accesses no pages.
        ---
        lru
          sampled: 1 % of the keys and the 1,024 asked for most, 3,716 in all, seed 42
          no size can be judged from this sample

          The sample is too small to judge any size.
        ---
        lru
            pages      size  hit %     misses

          No cache saves anything: with 1.03 GiB (269,210 pages) every access still
            misses.
        ---
        lru
          pages      size  hit %  requests %     misses

          An LRU cache of 424 MiB (108,566 pages) saves most of the misses that can be
            saved; more than 781 MiB saves nothing.
          floor    41.8 MiB   10,700 pages  below it a cache is useless
          knee      424 MiB  108,566 pages  most of what can be saved is saved
          ceiling   781 MiB  200,000 pages  above it nothing more is gained
          --target hit=0.6: lru needs 344 MiB (88,001 pages)
        ---
    "#]]
    .assert_eq(&texts);
}

#[test]
fn page_sizes_have_a_section_each() {
    let all = table(&sample::two_page_sizes(), 80);
    let titles: Vec<&str> = all.lines().filter(|line| line.starts_with("Pages of")).collect();
    assert_eq!(titles, ["Pages of 4 KiB", "Pages of 64 KiB"]);
    assert!(all.contains("An LRU cache of 438 MiB (7,000 pages) hits 65.0 %"), "{all}");
}

#[test]
fn policies_are_compared_where_they_differ() {
    let mut document = sample::many();
    // At the knee and above all hit the same.
    for curve in &mut document.curves {
        let from_knee = curve.points.iter_mut().filter(|point| point.pages >= 108_566);
        from_knee.for_each(|point| point.misses = 400_000);
    }
    let all = table(&document, 80);
    assert!(all.contains("At 267 MiB arc hits most of 6 policies, 60.9 %"), "{all}");
    let lru = document.curves[0].points.clone();
    document.curves.iter_mut().for_each(|curve| curve.points.clone_from(&lru));
    let all = table(&document, 80);
    assert!(all.contains("At 424 MiB all 6 policies hit the same, 65.0 %"), "{all}");
}
