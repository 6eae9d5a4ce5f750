//! Curves of caches that prefetch, on every face.

use console::measure_text_width as width_of;
use expect_test::expect;

use super::super::{csv, page, table};
use super::sample;
use crate::show::page::tests::well_formed;

#[test]
fn one_policy_has_its_prefetches() {
    let mut document = sample::prefetched();
    document.curves.truncate(1);
    drop(document.curves[0].points.drain(2..14));
    expect![[r#"
        Trace …/w106.vscsitrace.gz (vscsi, gzip)
          113,872 requests: 67,405 reads (2.65
            GiB) and 46,467 writes (1.71 GiB),
            in 86.0 min
          a write puts its pages into the cache,
            as a read does
          1,141,869 accesses to 269,210 distinct
            pages of 4 KiB (1.03 GiB)
          the caches prefetch (--prefetch
            amp:pages=2:most=256:trigger=0), and
            every policy runs at each size

        lru
              size  hit %   useful  useless
          1.02 MiB   0.07      382   34,351
          1.63 MiB   0.13      732   21,582
           674 MiB   67.8  386,903       52
          1.03 GiB   71.6  408,564       33

          An LRU cache of 424 MiB (108,566
            pages) saves most of the misses that
            can be saved; more than 781 MiB
            saves nothing.
          floor    41.8 MiB   10,700 pages
          knee      424 MiB  108,566 pages
          ceiling   781 MiB  200,000 pages
    "#]]
    .assert_eq(&table(&document, 40));
}

#[test]
fn policies_have_them_side_by_side() {
    let mut document = sample::prefetched();
    document.curves.iter_mut().for_each(|curve| drop(curve.points.drain(2..14)));
    for width in 40..130 {
        let text = table(&document, width);
        for line in text.lines() {
            assert!(width_of(line) <= width && !line.ends_with(' '), "{width}: {line}");
        }
        assert!(text.contains("useless"), "{text}");
    }
}

#[test]
fn values_and_the_page_have_them() {
    let mut document = sample::prefetched();
    let html = page(&document);
    well_formed(&html);
    assert!(html.contains(">useless</th>") && html.contains(">device reads</th>"), "{html}");
    assert!(html.contains("--prefetch amp:pages=2:most=256:trigger=0"), "{html}");
    document.curves[1].points[1].prefetch = None;
    document.curves.iter_mut().for_each(|curve| curve.points.truncate(2));
    expect![[r#"
        policy,page_bytes,pages,cache_bytes,accesses,misses,requests,request_misses,misses_low,misses_high,part,name,prefetches,useful,useless,unused,device_reads
        lru,4096,262,1073152,1141869,1141104,,,,,,,34745,382,34351,12,1175849
        lru,4096,417,1708032,1141869,1140404,,,,,,,22326,732,21582,12,1162730
        arc,4096,262,1073152,1141869,1137600,,,,,,,36497,2134,34351,12,1174097
        arc,4096,417,1708032,1141869,1134440,,,,,,,,,,,
    "#]].assert_eq(&csv(&document));
    assert!(csv(&document).lines().all(|line| line.matches(',').count() == 16));
}
