//! What is shown of curves, as people and programs see it.

mod plots;
mod prefetches;
pub(crate) mod sample;
mod tables;

use console::measure_text_width as width_of;
use expect_test::expect;
use nbuf::experiment::result::CurveDocument;

use super::*;
use crate::show::page::tests::well_formed;
use crate::show::tests::without_escapes;

fn all() -> Vec<CurveDocument> {
    let whole = [
        sample::one(),
        sample::many(),
        sample::sampled(),
        sample::keys(),
        sample::parts(),
        sample::two_page_sizes(),
    ];
    whole.into_iter().chain(sample::lacking()).collect()
}

#[test]
fn no_line_is_too_wide_and_none_acts() {
    for document in all() {
        for width in 40..130 {
            for text in [table(&document, width), plot(&document, width, false)] {
                for line in text.lines() {
                    assert!(width_of(line) <= width, "{width}: {line}\n{text}");
                    assert!(!line.ends_with(' '), "{line:?}");
                }
                assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'));
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour_and_a_narrow_plot_is_text() {
    for document in all() {
        for width in 0..100 {
            let plain = plot(&document, width, false);
            assert_eq!(without_escapes(&plot(&document, width, true)), plain);
            assert!(plain.lines().all(|line| width_of(line) <= width), "{width}\n{plain}");
        }
    }
    assert_eq!(plot(&sample::one(), 13, false), "knee 424 MiB\n");
}

#[test]
fn a_row_of_values_for_each_size_of_each_part() {
    let mut document = sample::parts();
    let lru = &mut document.curves[0];
    lru.points.truncate(2);
    lru.windows.truncate(1);
    lru.windows[0].points.truncate(1);
    lru.groups.truncate(1);
    lru.groups[0].points.truncate(1);
    expect![[r#"
        policy,page_bytes,pages,cache_bytes,accesses,misses,requests,request_misses,misses_low,misses_high,part,name
        lru,4096,262,1073152,1141869,1141104,113872,113872,,,,
        lru,4096,417,1708032,1141869,1140404,113872,113872,,,,
        lru,4096,262,1073152,120000,119933,13000,,,,window,1372000000000000000
        lru,4096,262,1073152,400000,394907,,,,,group,"/srv/<script>alert(1)</script>&amp;""',??[31m?￿�"
    "#]].assert_eq(&csv(&document));
    let mut keys = sample::sampled();
    keys.curves[0].points.truncate(1);
    expect![[r#"
        policy,page_bytes,pages,cache_bytes,accesses,misses,requests,request_misses,misses_low,misses_high,part,name
        lru,,4235,,1141869,830517,,,816687,844347,,
    "#]].assert_eq(&csv(&keys));
}

#[test]
fn every_row_of_values_has_every_field() {
    // Only the whole trace has costs here: windows and groups leave their fields empty.
    let mut costly = sample::parts();
    let point = &mut costly.curves[0].points[0];
    (point.cost, point.miss_cost) = (Some(7.5), Some(2.5));
    for document in all().into_iter().chain([costly]) {
        let points = |curve: &nbuf::experiment::result::PolicyCurve| {
            let windows: usize = curve.windows.iter().map(|window| window.points.len()).sum();
            let groups: usize = curve.groups.iter().map(|group| group.points.len()).sum();
            curve.points.len() + windows + groups
        };
        let text = csv(&document);
        assert_eq!(text.lines().count(), 1 + document.curves.iter().map(points).sum::<usize>());
        let columns = text.lines().next().unwrap().split(',').count();
        for line in text.lines() {
            // Outside quotes, which every other piece is.
            let commas = line.split('"').step_by(2).map(|piece| piece.matches(',').count());
            assert_eq!(commas.sum::<usize>() + 1, columns, "{line}");
        }
    }
}

#[test]
fn every_page_is_well_formed_and_fetches_nothing() {
    for document in all() {
        let page = page(&document);
        well_formed(&page);
        assert!(page.len() < 100_000, "{}", page.len());
    }
}

#[test]
fn names_stay_text_on_the_page() {
    let mut document = sample::parts();
    document.trace.files = vec![sample::HOSTILE.into(), sample::HOSTILE.into()];
    document.trace.format = sample::HOSTILE.into();
    let lru = &mut document.curves[0];
    lru.policy = sample::HOSTILE.into();
    lru.target.as_mut().unwrap().target = sample::HOSTILE.into();
    let page = page(&document);
    assert_eq!(well_formed(&page).iter().filter(|name| *name == "script").count(), 1);
    assert!(!page.contains("<script>alert"), "{page}");
    let shown = "/srv/&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot;&#39;";
    // Title, heading, two files, format, policy, target, part and warning, at least.
    assert!(page.matches(shown).count() >= 9, "{}", page.matches(shown).count());
    assert!(!page.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'));
}

#[test]
fn the_page_has_what_the_document_has() {
    let many = page(&sample::many());
    for fragment in [
        "more than 781 MiB saves nothing. At 424 MiB arc hits most of 6 policies, 66.7 %; \
         no policy that takes every page in can hit more than 69.4 %.",
        "knee 424 MiB</text>",
        "<span class=\"strong\">53.1*</span>",
        "opt, the bound</th>",
        "head-room",
        "Lirs was left out",
        "--target hit=0.9 is not met",
    ] {
        assert!(many.contains(fragment), "{fragment}");
    }
    // The head-room in two charts, and its key.
    assert_eq!(many.matches("class=\"band bound\"").count(), 3);
    // Two charts draw the yardstick, the best and the worst of six policies at once.
    assert_eq!(many.matches("<g class=\"rest\"").count(), 3 * 2);
    assert_eq!(many.matches("<button type=\"button\"").count(), 3);
    let parts = page(&sample::parts());
    for fragment in
        ["aria-label=\"knee over time\"", ">all others</span>", "2013-06-23 15:06:40 UTC"]
    {
        assert!(parts.contains(fragment), "{fragment}");
    }
    assert_eq!(parts.matches("class=\"path\"").count(), 23);
    let sampled = page(&sample::sampled());
    assert_eq!(sampled.matches("class=\"band c0\"").count(), 3);
    assert!(sampled.contains("sizes below 4,000 keys cannot be judged from this sample"));
    // Nothing is drawn of what is not there.
    assert!(!page(&sample::one()).contains("head-room"));
    assert!(!page(&sample::one()).contains("over time"));
    for document in &sample::lacking()[..3] {
        assert!(!page(document).contains("<figure"));
    }
}
