//! Locks, counters and threads of this folder. `tests/single_flight.rs` puts loom's in their place.

pub(super) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
pub(super) use std::thread;
