//! A VFS of SQLite whose databases are read through nbuf's cache, as a loadable extension.
//!
//! Only the main database has a cache; journals, WALs, temporary files and all locks are the affair of the VFS below.
//! All connections of a process to a file share its cache. Writes go through it, so that a sync is the one of the file.
//!
//! Other processes write the file as well. A page is served from the cache only if no transaction of theirs can have
//! changed it since it was read:
//!
//! - **Without a lock** nothing is served and nothing is kept. So are databases that were opened with `immutable` or `nolock`.
//! - **Outside WAL** only the holder of the exclusive lock writes, and no process gets it as long as another holds the shared one. So
//!   the cache is right while a connection of this process holds a lock. When the first one takes a lock, the file is
//!   compared with the state that the last one left: its length, its times to the nanosecond, and its header. The header has
//!   the counter that each transaction changes. Pages stay only if all are equal.
//! - **In WAL mode** a checkpoint of another process writes the file while others read. It writes frames that no reader looks
//!   for in the file, and then advances the count of frames written back, in the shared memory. A read of a page from the
//!   file is after that count. So each read compares the count, and the salts of the WAL's generation, with those for which the
//!   pages are right, and drops the pages if they differ. While a connection of this process holds the lock of
//!   checkpoints, the changes came through this cache, and the pages stay. Without the shared memory nothing is
//!   served, except under the exclusive lock.
//! - **With an empty WAL** there are no salts yet, and after a crash another database can look the same. Readers keep
//!   checkpoints away then, so the file is compared when one begins, by its length and times. If it was written within the
//!   last tenth of a second, its times may not show the next change, and the pages are dropped.
//! - **When the file cannot be identified**, after a panic, and with another layout of the shared memory, the cache is bypassed.
//!
//! Two caches of one file, such as those of two processes, are therefore right without knowing of each other. Cost: outside WAL two calls
//! of the kernel for the first lock and at most one for the last; in WAL mode seven loads a read. A miss holds the file's mutex while the
//! file below reads.

mod below;
mod code;
mod files;
mod handle;
mod index;
mod options;
mod stamp;
mod state;
#[expect(unsafe_code, reason = "SQLite calls, is called, and owns memory here and nowhere else")]
mod sys;
#[cfg(test)]
mod tests;

pub use sys::{sqlite3_nbufdefault_init, sqlite3_nbufsqlite_init};
