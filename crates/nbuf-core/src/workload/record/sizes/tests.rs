//! Sizes as they were seen, and as what left the cache shows them.

use super::*;

#[test]
fn the_last_size_seen_counts_unless_a_touch_belies_it() {
    let mut sizes = Sizes::default();
    assert_eq!(sizes.at(5, 1), 0, "nothing known");
    sizes.push(10, 5000);
    sizes.push(20, 9000);
    let cases = [(5, 1, 5000), (10, 1, 5000), (19, 1, 5000), (25, 1, 9000), (15, 6000, 9000)];
    for (time, floor, want) in cases {
        assert_eq!(sizes.at(time, floor), want, "at {time}");
    }
    assert_eq!(sizes.at(30, 10_000), 10_000, "touched beyond anything seen");
    assert_eq!(sizes.at(11, 1), 5000);
    sizes.grow(12, 7000);
    assert_eq!((sizes.at(13, 1), sizes.at(21, 1)), (7000, 9000));
    sizes.grow(14, 8000);
    assert_eq!((sizes.at(14, 1), sizes.at(21, 1), sizes.seen.len()), (8000, 9000, 2));
}

#[test]
fn a_size_seen_too_early_is_that_of_the_write_that_made_it() {
    let mut sizes = Sizes::default();
    for (time, bytes) in [(0, 0), (15, 8192), (40, 8192)] {
        sizes.push(time, bytes);
    }
    sizes.explain(&[(10, 4096), (20, 8192)]);
    sizes.grow(10, 4096);
    assert_eq!((sizes.at(16, 1), sizes.at(20, 1)), (4096, 8192));

    let mut sizes = Sizes::default();
    for (time, bytes) in [(0, 0), (15, 8192)] {
        sizes.push(time, bytes);
    }
    sizes.explain(&[(10, 4096), (20 + LOOK_NS, 8192)]);
    assert_eq!(sizes.at(16, 1), 8192, "another process made it so large");
}

#[test]
fn a_file_that_nobody_saw_was_as_large_as_the_pages_that_went() {
    let mut sizes = Sizes::default();
    sizes.went(20, 40_960);
    assert_eq!((sizes.at(10, 1), sizes.at(10, 40_960)), (40_960, 40_960));
    assert_eq!((sizes.at(10, 50_000), sizes.at(21, 1)), (0, 0), "unknown");
    sizes.grow(15, 8192);
    assert_eq!(sizes.at(16, 1), 8192);
}

#[test]
fn pages_that_went_tell_of_a_size_that_nobody_saw() {
    let mut sizes = Sizes::default();
    sizes.push(30, 0);
    sizes.went(20, 4096);
    sizes.went(21, 40_960);
    assert_eq!((sizes.at(10, 1), sizes.at(21, 8193)), (40_960, 40_960));
    assert_eq!((sizes.at(22, 0), sizes.at(30, 0)), (0, 0), "truncated by then");

    let mut sizes = Sizes::default();
    for (time, bytes) in [(10, 40_960), (30, 5000)] {
        sizes.push(time, bytes);
    }
    sizes.went(20, 40_960);
    assert_eq!((sizes.at(15, 1), sizes.at(25, 1)), (40_960, 5000), "truncated and rewritten");
    assert_eq!(sizes.at(25, 9000), 9000, "unless it was touched beyond");
    sizes.grow(15, 50_000);
    assert_eq!((sizes.at(16, 1), sizes.at(25, 1)), (50_000, 5000));
}

#[test]
fn a_file_that_was_truncated_and_removed_unseen_was_as_large_as_what_went_last() {
    let mut truncated = Sizes::default();
    truncated.push(10, 40_960);
    for (time, end) in [(20, 8192), (21, 40_960), (40, 4096), (41, 12_288)] {
        truncated.went(time, end);
    }
    let cases = [(15, 40_960), (25, 12_288), (41, 12_288), (42, 40_960)];
    for (time, want) in cases {
        assert_eq!(truncated.at(time, 1), want, "at {time}");
    }
    let mut kept = truncated.clone();
    kept.push(50, 40_960);
    assert_eq!(kept.at(25, 1), 40_960, "its pages were let go, and it was seen afterwards");

    let mut partly = Sizes::default();
    partly.push(10, 40_960);
    partly.went(20, 8192);
    partly.went(30, 4096);
    assert_eq!(partly.at(25, 1), 40_960, "its last page never went");

    let mut unseen = Sizes::default();
    unseen.went(20, 40_960);
    unseen.went(40, 12_288);
    assert_eq!((unseen.at(10, 1), unseen.at(25, 1)), (40_960, 12_288));
}
