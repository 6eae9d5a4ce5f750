//! Progress on standard error: none when that is no terminal, none before it has taken a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A bar for a known number of steps.
pub(crate) fn bar(what: &str, steps: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), target());
    if let Ok(style) = ProgressStyle::with_template("nbuf: {msg} {wide_bar} {pos}/{len}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(4)
    } else {
        ProgressDrawTarget::hidden()
    }
}
