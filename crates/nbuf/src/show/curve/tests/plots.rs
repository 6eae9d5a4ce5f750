//! Plots of a narrow terminal; `tests/cmd/curve.trycmd` has wide ones.

use expect_test::expect;
use nbuf::experiment::result::PolicyCurve;

use super::super::plot;
use super::sample;

#[test]
fn one_policy() {
    expect![[r#"
        lru hit % by cache size
                              knee 424 MiB │
         75 ┤                              │  ⣀⠤
            │                              ⡠⠔⠉
            │                            ⡠⠊│
         50 ┤                          ⢀⠜  │
            │                         ⡠⠃   │
            │                       ⢀⠜     │
         25 ┤                      ⡠⠊      │
            │                    ⡠⠊        │
            │                 ⣀⠤⠊          │
            │⣀⣀⣀⣀⣀⣀⣀⣀⣀⡠⠤⠤⠤⠔⠒⠊⠉             │
          0 └─────────────┬─────────────┬──┴────
                       16 MiB        256 MiB
    "#]]
    .assert_eq(&plot(&sample::one(), 40, false));
}

#[test]
fn four_of_many_policies() {
    expect![[r#"
        hit % by cache size
                              knee 424 MiB │
         75 ┤                              ◇⠤⣀⣠●
            │                          ⠤⠒⣀⠤⡲⠝⠉
            │                      ⢀⠔ ⢀■⠊⡡⠊│
         50 ┤                      ⠁⢀⡴⠋⢀⠜  │
            │                  ⠔⠊ ⢀▲⠋ ⡠⠃   │
            │               ⢀   ⢀⡴⠋ ⢀⠜     │
         25 ┤              ◇⠁ ⣠⡲⠋  ⡠⠊      │
            │          ⡠⠔  ⢀⣔⠞⠁  ⡠⠊        │
            │      ⡠⠔  ■⣤⠴⠞⠋  ⣀●⠊          │
            │⣤⣤●⣭⣤⣴▲⣒⣛⡩⠭⠤⠤⠔⠒⠊⠉             │
          0 └─────────────┬─────────────┬──┴────
                       16 MiB        256 MiB
             ● lru   ▲ s3-fifo   ■ w-tinylfu
             ◇ opt   3 more in the table
    "#]]
    .assert_eq(&plot(&sample::many(), 40, false));
}

#[test]
fn a_sample_has_its_band() {
    expect![[r#"
        lru hit % by cache size in keys
                        knee 68,302 │
        100 ┤                       │
            │                       │
            │                       │    ⢀⣀⡤⠤⠴⠒⠒
         75 ┤                      ⣀⡤⠴⠒⠊⠉⠁
            │                 ⢀⣠⠔⠒⠉⠁│
            │             ⢀⡤⠔⠋⠁     │
         50 ┤         ⢀⣀⠔⠚⠁         │
            │      ⢀⠴⠖⠉             │
            │  ⢀⣤⠔⠛⠁                │
            │⠔⠛⠁                    │
         25 └───────┬───────────────┴──┬────────
                  10 k               100 k
             ⢕⢕ 95 % band
    "#]]
    .assert_eq(&plot(&sample::sampled(), 40, false));
}

#[test]
fn page_sizes_have_a_plot_each() {
    let drawn = plot(&sample::two_page_sizes(), 40, false);
    let titles: Vec<&str> = drawn.lines().filter(|line| line.starts_with("lru")).collect();
    assert_eq!(titles, ["lru hit %, pages of 4 KiB", "lru hit %, pages of 64 KiB"]);
}

#[test]
fn a_single_size_is_a_mark() {
    let mut document = sample::sampled();
    let curve = &mut document.curves[0];
    (curve.corners, curve.sample) = (None, None);
    curve.points.truncate(1);
    let opt = PolicyCurve { policy: "opt".to_owned(), ..curve.clone() };
    document.curves.push(opt);
    for width in 20..130 {
        let drawn = plot(&document, width, false);
        let picture = drawn.split('└').next().unwrap();
        assert_eq!(picture.matches(['●', '◇']).count(), 1, "{drawn}");
    }
}
