//! Work on a file whose disc may hang: its owner waits for each step for a limited time, and then goes on without it.
//!
//! At the end of a server a second signal ends every such wait.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::clock::Stopwatch;

/// How long a step at the end may take, if its file has no limit of its own.
pub(super) const STEP_MAX: Duration = Duration::from_secs(10);
/// How often the owner looks for a second signal.
const LOOK: Duration = Duration::from_millis(20);
/// How long all steps may take after that: those of a disc that does not hang are done by then.
const SOON: Duration = Duration::from_millis(100);

/// Whether a second signal came, so that nothing is waited for any more.
pub(super) type Insisted<'a> = &'a (dyn Fn() -> bool + Sync);

/// For a start, which no signal ends.
pub(super) const NEVER: Insisted<'static> = &|| false;

/// The steps of a work, for its owner.
#[derive(Debug)]
pub(super) struct Steps(Sender<Option<io::Result<()>>>);

impl Steps {
    /// Reports that a step is done.
    ///
    /// # Errors
    /// If the owner does not wait any more, so that nothing may depend on what would follow.
    pub(super) fn done(&self) -> io::Result<()> {
        let gone = |_| io::Error::other("its owner does not wait any more");
        self.0.send(None).map_err(gone)
    }
}

/// Does some work in a thread, and waits for it as long as each of its steps takes no longer than the limit. A thread that
/// comes back later finds that out at its next step.
///
/// # Errors
/// Those of the work, [`TimedOut`](io::ErrorKind::TimedOut), and [`Interrupted`](io::ErrorKind::Interrupted) by a second
/// signal.
pub(super) fn in_time(
    limit: Duration,
    insisted: Insisted<'_>,
    work: impl FnOnce(&Steps) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let (report, reports) = channel();
    let steps = Steps(report);
    let run = move || {
        let outcome = work(&steps);
        let _ = steps.0.send(Some(outcome));
    };
    std::thread::Builder::new().name("in-time".to_owned()).spawn(run)?;
    let (mut step, mut hurry) = (Stopwatch::start(), None::<Stopwatch>);
    loop {
        if hurry.is_none() && insisted() {
            hurry = Some(Stopwatch::start());
        }
        let (since, most) = hurry.map_or((step, limit), |since| (since, limit.min(SOON)));
        let left = most.saturating_sub(since.elapsed());
        match reports.recv_timeout(left.min(LOOK)) {
            Ok(Some(outcome)) => return outcome,
            Ok(None) if hurry.is_none() || !left.is_zero() => step = Stopwatch::start(),
            Err(RecvTimeoutError::Timeout) if left > LOOK => {}
            _ if hurry.is_some() => {
                let why = "a second signal came before its disc answered";
                return Err(io::Error::new(io::ErrorKind::Interrupted, why));
            }
            _ => {
                let why = format!("its disc has not answered for {} s", limit.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn work_is_waited_for_step_by_step() {
        let limit = Duration::from_millis(500);
        let slow = move |steps: &Steps| -> io::Result<()> {
            for _ in 0..4 {
                std::thread::sleep(limit / 2);
                steps.done()?;
            }
            Err(io::Error::other("in the end"))
        };
        assert_eq!(in_time(limit, NEVER, slow).unwrap_err().to_string(), "in the end");
        // It comes back after its owner has given it up, and does nothing more.
        let (back, came) = channel::<()>();
        let (tell, ended) = channel();
        let hangs = move |steps: &Steps| -> io::Result<()> {
            let _ = came.recv();
            let is_given_up = steps.done().is_err();
            let _ = tell.send(is_given_up);
            Ok(())
        };
        let error = in_time(Duration::from_millis(20), NEVER, hangs).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(back);
        assert!(ended.recv().unwrap());
    }

    /// Each of these works would be waited for without end.
    #[test]
    fn a_second_signal_ends_the_wait_in_whichever_step_it_comes() {
        let limit = Duration::from_hours(1);
        for steps_before in [0, 1, 3] {
            static HAS_COME: AtomicBool = AtomicBool::new(false);
            HAS_COME.store(false, Ordering::SeqCst);
            let (_back, came) = channel::<()>();
            let hangs = move |steps: &Steps| -> io::Result<()> {
                for _ in 0..steps_before {
                    steps.done()?;
                }
                HAS_COME.store(true, Ordering::SeqCst);
                let _ = came.recv();
                Ok(())
            };
            let insisted = || HAS_COME.load(Ordering::SeqCst);
            let error = in_time(limit, &insisted, hangs).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Interrupted, "{steps_before}");
        }
        // Steps that never end do not keep it either.
        let goes_on = |steps: &Steps| -> io::Result<()> {
            loop {
                steps.done()?;
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let error = in_time(limit, &|| true, goes_on).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }
}
