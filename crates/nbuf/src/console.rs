//! The program as the observer of an experiment: bars and lines on standard error, and questions on a
//! terminal.

use std::error::Error;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use nbuf::experiment::notice::{Notice, Question, Severity, causes};
use nbuf::experiment::session::{Cancellation, Interim, Observer, Session};

use crate::fail::say;
use crate::output::state_path;
use crate::show::progress::{Bar, bar};
use crate::verbosity::{self, Verbosity};
use crate::{permission, sudo_user};

/// What a verb does with a result that exists before the end.
type Take<'a> = &'a (dyn Fn(Interim<'_>) -> io::Result<()> + Sync);

/// Standard error and the terminal.
pub(crate) struct Console<'a> {
    bar: Mutex<Option<Bar>>,
    /// Whether to go on without asking.
    yes: bool,
    take: Take<'a>,
    broke: AtomicBool,
}

impl Console<'static> {
    /// One for a verb that has nothing before its end.
    pub(crate) fn plain() -> Self {
        Self::new(false, &|_| Ok(()))
    }
}

impl<'a> Console<'a> {
    pub(crate) fn new(yes: bool, take: Take<'a>) -> Self {
        Self { bar: Mutex::default(), yes, take, broke: AtomicBool::new(false) }
    }

    /// A session that this console observes, for the user who called.
    pub(crate) fn session(&self) -> Session<'_> {
        let mut session = Session::new(self);
        session.seed_by_time();
        session.spool = state_path();
        session.account = sudo_user::account();
        session
    }

    /// Whether a part failed that the rest went on without.
    pub(crate) fn is_broken(&self) -> bool {
        self.broke.load(Ordering::Relaxed)
    }

    /// Says something while the bar is out of the way.
    fn tell(&self, message: &str) {
        match &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(bar) => bar.suspend(|| say(message)),
            None => say(message),
        }
    }
}

impl Observer for Console<'_> {
    fn notice(&self, notice: &Notice<'_>) {
        let least = match notice.severity() {
            Severity::Detail => Verbosity::Verbose,
            Severity::Note => Verbosity::Normal,
            Severity::Warning => Verbosity::Quiet,
        };
        if !verbosity::is_at_least(least) {
            return;
        }
        self.tell(&match notice {
            // The remedy has the command line in it, which only the program knows.
            Notice::TracepointsClosed(error) => format!(
                "recording by system calls, because tracepoints are closed: {}",
                permission::brief(error)
            ),
            other => other.to_string(),
        });
    }

    fn failure(&self, error: &(dyn Error + 'static)) {
        self.tell(&causes(error));
        self.broke.store(true, Ordering::Relaxed);
    }

    fn progress(&self, stage: &str, done: usize, total: usize) {
        let mut shown = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = shown.get_or_insert_with(|| bar(stage, total));
        bar.say(stage);
        bar.set(done, total);
    }

    fn stage_over(&self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.clear();
        }
    }

    /// Asks on a terminal; elsewhere the call is the agreement.
    fn agrees(&self, question: &Question<'_>, cancellation: &Cancellation) -> io::Result<bool> {
        let asks = !self.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
        // A question needs to be understood, however quiet.
        if !verbosity::is_quiet() || asks {
            say(question);
        }
        if asks { answer(cancellation) } else { Ok(true) }
    }

    fn interim(&self, interim: Interim<'_>) -> io::Result<()> {
        (self.take)(interim)
    }

    fn insisted(&self, signal: i32) {
        self.stage_over();
        std::process::exit(128 + signal);
    }
}

fn answer(cancellation: &Cancellation) -> io::Result<bool> {
    let (stdin, mut err) = (io::stdin(), io::stderr());
    write!(err, "nbuf: go on? [Y/n] ")?;
    err.flush()?;
    // Our signals are blocked, so a read would sleep through them.
    if cancellation.comes_before(&stdin)? {
        writeln!(err)?;
        return Ok(false);
    }
    let mut answer = String::new();
    if stdin.lock().read_line(&mut answer)? == 0 {
        writeln!(err)?;
        return Ok(false);
    }
    // What is neither is no agreement.
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "" | "y" | "yes"))
}
