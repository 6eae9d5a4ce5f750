//! A test that does not run says so.

use std::fs::OpenOptions;
use std::io::Write;

/// Says that a test does not run and why. Where `NBUF_SKIP_LOG` names a file, a line is appended
/// to it, so that skips can be counted.
#[expect(clippy::print_stderr, reason = "a skip is said aloud")]
pub(crate) fn skip(reason: &str) {
    eprintln!("SKIP (counted): {reason}");
    let Some(log) = std::env::var_os("NBUF_SKIP_LOG") else {
        return;
    };
    let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
    log.write_all(format!("{reason}\n").as_bytes()).unwrap();
}
