//! Work on a file whose disc may hang: its owner waits for each step for a limited time, and then goes on without it.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

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
/// Those of the work, and [`TimedOut`](io::ErrorKind::TimedOut).
pub(super) fn in_time(
    limit: Duration,
    work: impl FnOnce(&Steps) -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let (report, reports) = channel();
    let steps = Steps(report);
    let run = move || {
        let outcome = work(&steps);
        let _ = steps.0.send(Some(outcome));
    };
    std::thread::Builder::new().name("tier".to_owned()).spawn(run)?;
    loop {
        match reports.recv_timeout(limit) {
            Ok(Some(outcome)) => return outcome,
            Ok(None) => {}
            Err(_) => {
                let why = format!("its disc has not answered for {} s", limit.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(in_time(limit, slow).unwrap_err().to_string(), "in the end");
        // It comes back after its owner has given it up, and does nothing more.
        let (back, came) = channel::<()>();
        let (tell, ended) = channel();
        let hangs = move |steps: &Steps| -> io::Result<()> {
            let _ = came.recv();
            let is_given_up = steps.done().is_err();
            let _ = tell.send(is_given_up);
            Ok(())
        };
        let error = in_time(Duration::from_millis(20), hangs).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(back);
        assert!(ended.recv().unwrap());
    }
}
