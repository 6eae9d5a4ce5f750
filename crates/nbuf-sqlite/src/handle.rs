//! A connection's file: decides when the pages of the shared cache may be used, and when they are dropped.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::below::Below;
use crate::code::Code;
use crate::index::{Index, Key};
use crate::options::Options;
use crate::state::{Look, State};

/// `SQLITE_LOCK_SHARED`.
const SHARED: i32 = 1;
/// `SQLITE_LOCK_EXCLUSIVE`.
const EXCLUSIVE: i32 = 4;

/// The cache of a file, for all its connections.
pub(crate) struct Shared<F>(Mutex<State<F>>);

impl<F: Below> Shared<F> {
    pub(crate) fn new(options: &Options, look: Look) -> Self {
        Self(Mutex::new(State::new(options, look)))
    }
}

/// An open file of one connection.
pub(crate) struct Handle<F> {
    file: F,
    shared: Arc<Shared<F>>,
    /// The lock that this connection holds on the file.
    level: i32,
    /// The index of the WAL, while it is mapped.
    index: Option<Index>,
    /// Whether it has taken a lock to read in WAL mode, and not read yet.
    begins: bool,
    /// Whether it holds the lock of checkpoints.
    checkpoints: bool,
}

impl<F: Below> Handle<F> {
    pub(crate) fn new(file: F, shared: Arc<Shared<F>>) -> Self {
        Self { file, shared, level: 0, index: None, begins: false, checkpoints: false }
    }

    pub(crate) fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<(), Code> {
        let shared = Arc::clone(&self.shared);
        if let Ok(mut state) = shared.0.lock() {
            if self.may_use(&mut state)? {
                return state.read(&self.file, buffer, offset);
            }
            state.figures.bypassed += 1;
        }
        self.file.read(buffer, offset)
    }

    pub(crate) fn write(&self, data: &[u8], offset: u64) -> Result<(), Code> {
        match self.state() {
            // A database is written under this lock, or by a checkpoint, which maps the index.
            Some(mut state) if self.level >= EXCLUSIVE || self.checkpoints => {
                state.write(&self.file, data, offset)
            }
            Some(mut state) => state.write_past(&self.file, data, offset),
            None => self.file.write(data, offset),
        }
    }

    pub(crate) fn truncate(&self, length: u64) -> Result<(), Code> {
        match self.state() {
            Some(mut state) => state.truncate(&self.file, length),
            None => self.file.truncate(length),
        }
    }

    /// It got this lock.
    pub(crate) fn locked(&mut self, level: i32) {
        if self.level < SHARED
            && level >= SHARED
            && let Some(mut state) = self.state()
        {
            state.enter();
        }
        self.level = self.level.max(level);
    }

    /// It is about to reduce its lock to this one.
    pub(crate) fn unlocks(&mut self, level: i32) {
        if self.level >= SHARED
            && level < SHARED
            && let Some(mut state) = self.state()
        {
            state.leave();
        }
        self.level = self.level.min(level);
    }

    /// The index of the WAL was mapped.
    pub(crate) fn mapped(&mut self, index: Index) {
        self.index = Some(index);
    }

    /// The index is about to be unmapped.
    pub(crate) fn unmaps(&mut self) {
        self.checkpoint_ends();
        self.index = None;
    }

    /// It got a lock to read in WAL mode.
    pub(crate) fn begins(&mut self) {
        self.begins = true;
    }

    /// It got the lock of checkpoints: until it releases that, all changes of the file come through here.
    pub(crate) fn checkpoint_begins(&mut self) {
        let Some(key) = self.index.and_then(Key::now) else { return };
        if let Some(mut state) = self.state() {
            state.follow(Some(key));
            if key.is_of_empty() {
                // What was before does not show in this key.
                state.forget();
            }
            state.is_checkpointing = true;
        }
        self.checkpoints = true;
    }

    /// It is about to release the lock of checkpoints.
    pub(crate) fn checkpoint_ends(&mut self) {
        if !std::mem::take(&mut self.checkpoints) {
            return;
        }
        if let Some(mut state) = self.state() {
            match self.index.and_then(Key::now) {
                Some(key) => state.follow(Some(key)),
                None => state.forget(),
            }
            state.is_checkpointing = false;
        }
    }

    /// The file changed without a write.
    pub(crate) fn forget(&self) {
        if let Some(mut state) = self.state() {
            state.forget();
            state.is_checked = false;
        }
    }

    /// The figures as a JSON object.
    pub(crate) fn statistics(&self) -> String {
        let Some(state) = self.state() else { return "{}".to_owned() };
        let (counts, settings, used) = state.counts();
        let figures = state.figures;
        format!(
            "{{\"pages\":{},\"page_bytes\":{},\"used_pages\":{used},\"reads\":{},\"lookups\":{},\"hits\":{},\
             \"misses\":{},\"evictions\":{},\"bypassed_reads\":{},\"writes\":{},\"drops\":{}}}",
            settings.pages,
            settings.page_bytes,
            counts.reads,
            counts.lookups,
            counts.hits,
            counts.misses(),
            counts.evictions,
            figures.bypassed,
            figures.writes,
            figures.drops,
        )
    }

    /// Nothing after a panic in the cache: what it holds is not certain any more, and all calls go past it.
    fn state(&self) -> Option<MutexGuard<'_, State<F>>> {
        self.shared.0.lock().ok()
    }

    /// Whether the cache is right for a read of this connection now. Drops what is not.
    fn may_use(&mut self, state: &mut State<F>) -> Result<bool, Code> {
        if self.level < SHARED || !state.is_checked && !state.check(&self.file)? {
            return Ok(false);
        }
        match self.index {
            Some(index) => match Key::now(index) {
                Some(key) => {
                    state.follow(Some(key));
                    if std::mem::take(&mut self.begins) && key.is_of_empty() {
                        state.begin_with_empty_wal();
                    }
                    Ok(true)
                }
                None => Ok(false),
            },
            // A checkpoint of another process needs no lock that a shared one keeps away.
            None if state.header.is_wal() && self.level < EXCLUSIVE => Ok(false),
            None => {
                state.follow(None);
                Ok(true)
            }
        }
    }
}

impl<F> Drop for Handle<F> {
    fn drop(&mut self) {
        let Ok(mut state) = self.shared.0.lock() else { return };
        if self.level >= SHARED {
            state.holders = state.holders.saturating_sub(1);
            // The lock goes with the file: what others write from now on is not known.
            if state.holders == 0 {
                state.is_checked = false;
            }
        }
        if self.checkpoints {
            state.is_checkpointing = false;
        }
    }
}
