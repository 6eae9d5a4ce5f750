//! Watches a running server, interval by interval.

use std::path::PathBuf;
use std::time::Duration;

use super::{Error, stats};
use crate::clock::unix_time;
use crate::experiment::result::ServeDocument;
use crate::experiment::session::{Interim, Session};
use crate::experiment::watch::wait;

/// How often an observer may look at keys.
const TICK: Duration = Duration::from_millis(100);

/// Which server is watched, and how.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchSpec {
    /// Its control socket, or its socket if the control socket has the usual name.
    pub server: PathBuf,
    /// The length of an interval, in milliseconds.
    pub interval_ms: u64,
    /// After how many intervals it ends; nothing for never.
    pub count: Option<u64>,
}

/// Watches until the count is reached or a signal comes. Each interval is given to the observer as an
/// [`Interim::Served`]. A signal ends the interval under way, which is shorter then. The last document of the server.
pub fn watch(spec: &WatchSpec, session: &mut Session<'_>) -> Result<ServeDocument, Error> {
    session.cancellation.listen().map_err(Error::Signals)?;
    let mut before = stats(&spec.server)?;
    let mut number = 0;
    let mut due = session.clock.elapsed();
    loop {
        due += Duration::from_millis(spec.interval_ms);
        loop {
            let left = due.saturating_sub(session.clock.elapsed()).min(TICK);
            let left_ns = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
            wait(session, left_ns).map_err(Error::Signals)?;
            session.observer.interim(Interim::Watching).map_err(Error::Observer)?;
            if session.clock.elapsed() >= due || session.cancellation.poll().is_some() {
                break;
            }
        }
        let total = stats(&spec.server)?;
        let interval = total.since(&before);
        let unix_seconds = unix_time().unwrap_or_default().as_secs_f64();
        let served = Interim::Served { unix_seconds, total: &total, interval: &interval };
        session.observer.interim(served).map_err(Error::Observer)?;
        number += 1;
        let is_last = spec.count.is_some_and(|count| number >= count);
        if is_last || session.is_over() {
            return Ok(total);
        }
        before = total;
    }
}
