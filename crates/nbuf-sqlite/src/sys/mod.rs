//! Calls from SQLite and to it. Nothing else here is unsafe.
//!
//! Every function that SQLite calls catches panics: none unwinds into C. After a panic in a cache, its file is read and
//! written without it.

mod abi;
mod api;
mod entry;
mod methods;
mod real;
mod shm;
mod vfs;

pub use entry::{sqlite3_nbufdefault_init, sqlite3_nbufsqlite_init};

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the body gives, or this if it panics.
fn guard<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}
