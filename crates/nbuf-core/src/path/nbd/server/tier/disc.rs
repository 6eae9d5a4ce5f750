//! The disc of a second tier. To close its file may take for ever, as to read it may, so another thread does that.

use std::mem::ManuallyDrop;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::super::Backend;
use crate::disc::{Completion, Disc};
use crate::trace::request::Request;
use crate::units::Nanos;

/// How long the file of a tier that is lost may take to be closed: one that does not hang is closed by then.
const LOST: Duration = Duration::from_millis(100);

/// Such a disc.
pub(in crate::path::nbd::server) struct TierDisc {
    /// There until this value is dropped.
    disc: Option<Backend>,
    size_bytes: u64,
    /// How long it is waited for then.
    patience: Duration,
}

impl TierDisc {
    /// A disc that may take this long for a request.
    pub(super) fn new(disc: Backend, limit: Nanos) -> Self {
        let size_bytes = disc.size_bytes();
        Self { disc: Some(disc), size_bytes, patience: Duration::from_nanos(limit.0) }
    }

    /// Its descriptor is ready: something may have come.
    pub(super) fn notice(&mut self) {
        if let Some(disc) = &mut self.disc {
            disc.notice();
        }
    }

    /// Sends what was asked of it after the last look at what is complete.
    pub(super) fn send(&mut self) {
        if let Some(disc) = &mut self.disc {
            disc.send();
        }
    }

    /// Whether it has answered already what no descriptor wakes for.
    pub(super) fn has_done(&self) -> bool {
        self.disc.as_ref().is_some_and(Backend::has_done)
    }

    /// Waits for no request when it is dropped. Those that the kernel has keep their memory.
    pub(super) fn abandon(&mut self) {
        self.patience = self.patience.min(LOST);
        if let Some(disc) = &mut self.disc {
            disc.abandon();
        }
    }
}

impl Disc for TierDisc {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        if let Some(disc) = &mut self.disc {
            disc.submit(now, request, data);
        }
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        self.disc.as_mut()?.next_completion(until)
    }

    fn under_way(&self) -> usize {
        self.disc.as_ref().map_or(0, Disc::under_way)
    }
}

impl Drop for TierDisc {
    /// Waits until the file is closed, as its lock ends then, but not for a disc that hangs.
    fn drop(&mut self) {
        let Some(open) = self.disc.take().and_then(Backend::into_open_file) else { return };
        // Without a thread it stays open.
        let open = ManuallyDrop::new(open);
        let (tell, closed) = channel::<()>();
        let close = move || {
            drop(ManuallyDrop::into_inner(open));
            drop(tell);
        };
        if std::thread::Builder::new().name("tier".to_owned()).spawn(close).is_ok() {
            let _ = closed.recv_timeout(self.patience);
        }
    }
}
