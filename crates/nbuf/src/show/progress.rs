//! Progress on standard error: none when that is no terminal, none before it has taken a while.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::verbosity;

/// What takes less is over before anybody asks.
const WHILE: Duration = Duration::from_secs(2);

/// A bar for a known number of steps.
pub(crate) struct Bar {
    inner: ProgressBar,
    shown: AtomicBool,
}

/// Begins one, unseen.
pub(crate) fn bar(what: &str, steps: usize) -> Bar {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
    if let Ok(style) =
        ProgressStyle::with_template("nbuf: {msg} {wide_bar} {pos}/{len}, {eta} left")
    {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    let shown = AtomicBool::new(verbosity::is_quiet() || !std::io::stderr().is_terminal());
    Bar { inner: bar, shown }
}

impl Bar {
    /// What is being done.
    pub(crate) fn say(&self, what: &str) {
        self.inner.set_message(what.to_owned());
    }

    /// So much is done.
    pub(crate) fn set(&self, done: usize, total: usize) {
        if self.inner.elapsed() > WHILE && !self.shown.swap(true, Ordering::Relaxed) {
            self.inner.set_draw_target(ProgressDrawTarget::stderr_with_hz(4));
        }
        self.inner.set_length(total as u64);
        self.inner.set_position(done as u64);
    }

    /// Says something while the bar is out of the way.
    pub(crate) fn suspend(&self, say: impl FnOnce()) {
        self.inner.suspend(say);
    }

    /// Takes it away.
    pub(crate) fn clear(&self) {
        self.inner.finish_and_clear();
    }
}
