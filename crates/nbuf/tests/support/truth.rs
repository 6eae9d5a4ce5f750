//! A program that does what it is asked for known times, and says what it measured.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;

use super::Place;

/// Builds `truth.c`.
pub(crate) fn truth(place: &Place) -> PathBuf {
    let program = place.path("truth");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/truth.c");
    let built = Command::new("cc")
        .args(["-O1", "-w", "-pthread", source, "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(built.success());
    program
}

/// Makes runs again that a busy machine disturbed: one of four must hold.
pub(crate) fn in_four_tries(runs: impl Fn()) {
    for _ in 0..3 {
        if catch_unwind(AssertUnwindSafe(&runs)).is_ok() {
            return;
        }
    }
    runs();
}
