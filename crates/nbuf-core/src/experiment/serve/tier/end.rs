//! The end of a run: the index of the file, and a first page that says that it ended in order.

use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::Duration;

use super::layout::index_byte;
use super::{Header, TierFile, page, write};
use crate::cache::tiered::{Entry, to_bytes};
use crate::clock::unix_time;
use crate::experiment::notice::TierNotice;
use crate::experiment::serve::in_time::{Insisted, Steps, in_time};
use crate::experiment::serve::state::Identity;
use crate::sys::files;

/// Two changes within one tick of a kernel's clock may have one time.
const TICK: Duration = Duration::from_millis(20);
/// The same of file systems that keep whole seconds, or every second one.
const TICK_COARSE: Duration = Duration::from_secs(2);
/// Bytes of the index that are written and on the disc before the next ones.
const STEP_BYTES: usize = 8 << 20;

impl TierFile {
    /// Notes that the server ended in order and what the file holds. Otherwise, and if its disc hangs, the file begins empty
    /// at the next start, and the notice is returned that says so. It waits for its disc, unless a second signal comes.
    pub(in crate::experiment::serve) fn end(
        self,
        entries: Option<Vec<Entry>>,
        insisted: Insisted<'_>,
    ) -> Option<TierNotice> {
        let is_in_order = entries.is_some();
        // Nothing depends on how a file is closed that is not kept.
        let limit = if is_in_order { self.patience + TICK_COARSE } else { TICK_COARSE };
        let work = move |steps: &Steps| {
            if let Some(entries) = entries {
                return self.keep(&entries, steps);
            }
            // Also to close the file may take for ever.
            drop(self);
            Ok(())
        };
        match in_time(limit, insisted, work) {
            Ok(()) if is_in_order => None,
            Err(error) if is_in_order => Some(TierNotice::NotKept(error)),
            _ => Some(TierNotice::NotClean),
        }
    }

    fn keep(&self, entries: &[Entry], steps: &Steps) -> io::Result<()> {
        let there = files::regular(self.place.path())?.metadata()?;
        let ours = self.file.metadata()?;
        if (there.dev(), there.ino()) != (ours.dev(), ours.ino()) {
            return Err(io::Error::other("another file has its name now"));
        }
        let index = to_bytes(entries);
        let mut at = index_byte(&self.geometry);
        for part in index.chunks(STEP_BYTES) {
            self.file.write_all_at(part, at)?;
            self.file.sync_data()?;
            steps.done()?;
            at += part.len() as u64;
        }
        self.file.sync_all()?;
        let disc = self.settled_identity()?;
        // From here on the identity is the one of a moment at which the server still waited: a later change of the disc
        // shows.
        steps.done()?;
        let header = Header {
            is_clean: true,
            index_bytes: index.len() as u64,
            index_sum: crc32fast::hash(&index),
            ..self.header(disc)
        };
        write(&self.file, &page(&header)?)
    }

    /// Who the disc is, at a moment after which a change gives it another time.
    fn settled_identity(&self) -> io::Result<Identity> {
        let identity = self.source.identity()?;
        let [.., seconds, nanos] = identity.times;
        let tick = if nanos == 0 { TICK_COARSE } else { TICK };
        let changed = u64::try_from(seconds).ok().zip(u32::try_from(nanos).ok());
        let changed = changed.map(|(seconds, nanos)| Duration::new(seconds, nanos));
        if changed.zip(unix_time()).is_some_and(|(at, now)| now < at + tick) {
            std::thread::sleep(tick);
        }
        if self.source.identity()? == identity {
            return Ok(identity);
        }
        Err(io::Error::other("another program changes the disc"))
    }
}
