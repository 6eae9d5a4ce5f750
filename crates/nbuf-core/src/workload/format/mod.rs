//! The forms a trace is kept in, one file a form, and the table of them all: [`FORMATS`].
//!
//! The native form turns bytes into a [`Trace`](crate::trace::Trace) and back. All others are read
//! only: a [`Parser`] takes whole records from the front of some bytes and makes [`Request`]s of
//! them, so that one parser serves a file, a pipe and a test.
//!
//! [`Request`]: crate::trace::request::Request
//!
//! Invariant: nothing is opened here, and no bytes make it panic or take more memory than they
//! justify: a trace comes from anywhere. Invariant: what cannot be read is left out *and counted*
//! ([`Problems`]). Invariant: how the bytes are cut into slices changes nothing.
//!
//! ```
//! use nbuf::workload::format::{FORMATS, find};
//!
//! assert!(find("msr").is_some());
//! for format in FORMATS {
//!     println!("{}", format.name);
//! }
//! ```

mod alibaba;
mod arc;
mod batch;
mod blkparse;
mod blktrace;
mod calendar;
mod csv;
mod etw;
mod fields;
mod fio;
mod fiu;
mod fixed;
mod flat;
mod hash;
mod k5cloud;
mod keys;
mod known;
mod lcs;
mod lirs;
mod memcached_watch;
mod meta_kv;
mod mqsim;
mod msr;
pub mod native;
mod native_requests;
mod nginx;
mod objects;
mod oracle_general;
mod parameters;
mod perf;
mod redis_monitor;
mod rocksdb;
pub mod snapshot;
mod spc;
mod strace;
mod systor;
mod table;
mod tectonic;
mod tencent;
mod trial;
mod twitter;
mod twr;
mod vscsi;
mod wikimedia;
mod words;

pub use batch::{BATCH_REQUESTS, Batch, Place, Problem, ProblemKind, Problems};
pub use hash::key as key_of_text;
pub use native_requests::request as native_request;
pub use objects::Objects;
pub use oracle_general::OracleGeneral;
pub use parameters::{ParameterError, Parameters};
pub use table::{Format, Guess, Head, Likeness, Made, Make, Parser, Reading, guess};

/// All formats, those that are known by more before those that are known by less.
pub const FORMATS: &[Format] = &[
    native_requests::ROW,
    oracle_general::ROW,
    lcs::ROW,
    twr::TWR,
    twr::TWR_NS,
    twr::ORACLE_SYS_TWR_NS,
    vscsi::ROW,
    msr::ROW,
    alibaba::ROW,
    tencent::ROW,
    systor::ROW,
    spc::ROW,
    fiu::ROW,
    mqsim::ROW,
    k5cloud::ROW,
    etw::ROW,
    tectonic::ROW,
    twitter::ROW,
    wikimedia::ROW,
    meta_kv::ROW,
    nginx::ROW,
    redis_monitor::ROW,
    memcached_watch::ROW,
    rocksdb::ROW,
    blkparse::ROW,
    blktrace::ROW,
    fio::ROW,
    strace::ROW,
    perf::ROW,
    arc::ROW,
    lirs::ROW,
    csv::ROW,
    keys::ROW,
    flat::ROWS[0],
    flat::ROWS[1],
    flat::ROWS[2],
    flat::ROWS[3],
    flat::ROWS[4],
    flat::ROWS[5],
];

/// The row with this name, whatever its capitals.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;
