//! Runs the library on a thread of its own, while this one looks for Ctrl-C and reports progress.
//!
//! The library takes no signals, which are Python's. Python's lock is free meanwhile. After Ctrl-C the library gets a moment to end, and ends alone if it needs more.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nbuf::experiment::session::{Cancellation, Observer, Session};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// What the library gets to end after Ctrl-C.
const GRACE: Duration = Duration::from_millis(20);

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stage {
    name: String,
    done: usize,
    total: usize,
}

/// Keeps the last report.
#[derive(Default)]
struct Seen(Mutex<Stage>);

impl Observer for Seen {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.name != stage {
            stage.clone_into(&mut seen.name);
        }
        (seen.done, seen.total) = (done, total);
    }
}

/// What `work` makes with a session, on this many threads; 0 is one for each processor.
///
/// The threads are of this call alone: a process that is forked later finds none of them missing.
pub(crate) fn watch<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Session<'_>) -> T + Send + 'static,
) -> PyResult<T> {
    let seen = Arc::new(Seen::default());
    let cancellation = Cancellation::without_signals();
    let stopper = cancellation.stopper();
    let (send, receive) = mpsc::sync_channel(1);
    let observer = Arc::clone(&seen);
    let run = move || {
        let done = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map(|pool| {
            pool.install(|| {
                let session = Session::new(&*observer);
                work(Session { cancellation, ..session })
            })
        });
        // After Ctrl-C there is no receiver.
        let _ = send.send(done);
    };
    thread::Builder::new().name("nbuf".to_owned()).spawn(run)?;
    // Only this thread receives; the lock lets it do so without Python's.
    let receive = Mutex::new(receive);
    let wait = |time| {
        py.detach(|| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time))
    };
    let mut told = Stage::default();
    let outcome = loop {
        match wait(LOOK) {
            Ok(done) => {
                // Work that ends between two looks has a last step, too.
                report(&seen, &mut told, progress)?;
                break done;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "a defect of nbuf, which standard error describes; please report it",
                ));
            }
        }
        let looked = py.check_signals().and_then(|()| report(&seen, &mut told, progress));
        if let Err(error) = looked {
            stopper.stop();
            let _ = wait(GRACE);
            return Err(error);
        }
    };
    outcome.map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Calls `progress(stage, done, total)` if there is something new.
fn report(seen: &Seen, told: &mut Stage, to: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(to) = to else { return Ok(()) };
    let stage = seen.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if stage != *told && stage.total > 0 {
        to.call1((&stage.name, stage.done, stage.total))?;
        *told = stage;
    }
    Ok(())
}
