//! Which tests run together: those that need the machine to themselves, and those that share it.

use std::fs::{File, OpenOptions, TryLockError};
use std::time::Duration;

/// Held as long as a test runs.
#[derive(Debug)]
pub(crate) struct Lock {
    _machine: File,
    _slot: Option<File>,
}

impl Lock {
    /// Waits until no other test of this machine has a lock.
    pub(crate) fn alone() -> Self {
        let _gate = gate();
        let machine = open("lock");
        machine.lock().unwrap();
        Self { _machine: machine, _slot: None }
    }

    /// Waits until no test is alone, and few share the machine.
    pub(crate) fn shared() -> Self {
        let _gate = gate();
        let slot = slot();
        let machine = open("lock");
        machine.lock_shared().unwrap();
        Self { _machine: machine, _slot: Some(slot) }
    }
}

/// Held while a test waits for its lock: those that share cannot overtake one that waits to be alone.
fn gate() -> File {
    let gate = open("gate");
    gate.lock().unwrap();
    gate
}

/// However many processors there are: those that share have one disc and one memory.
const SHARERS_MAX: usize = 3;

/// One of the places of those that share: one more than there are processors, as most of them sleep.
fn slot() -> File {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let places = (processors + 1).min(SHARERS_MAX);
    loop {
        for place in 0..places {
            let slot = open(&format!("slot-{place}"));
            match slot.try_lock() {
                Ok(()) => return slot,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => panic!("/tmp/nbuf-tests.slot-{place}: {error}"),
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn open(name: &str) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(format!("/tmp/nbuf-tests.{name}")).unwrap()
}
