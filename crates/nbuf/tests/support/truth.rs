//! A program that does what it is asked for known times, and says what it measured.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;

use super::Place;

/// Builds `truth.c` of `nbuf run`.
pub(crate) fn truth(place: &Place) -> PathBuf {
    built(place, "run")
}

/// Builds the `truth.c` in this folder of the tests.
pub(crate) fn built(place: &Place, folder: &str) -> PathBuf {
    let program = place.path("truth");
    let source = format!("{}/tests/{folder}/truth.c", env!("CARGO_MANIFEST_DIR"));
    let mut cc = Command::new("cc");
    let cc = cc.args(["-O1", "-w", "-pthread", &source, "-o"]).arg(&program);
    assert!(cc.status().unwrap().success());
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
