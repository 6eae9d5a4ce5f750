//! A WORKLOAD asks, through a PATH, a CACHE in front of a DISC; METERS sit on the joints; an
//! EXPERIMENT varies one of them.
//!
//! This is the library under the program `nbuf`; `ARCHITECTURE.md` is its map.
//!
//! # A first curve
//!
//! How often would caches of two sizes hit? A [`Grid`](experiment::grid::Grid) counts the hits of
//! policies at sizes in one pass:
//!
//! ```
//! use nbuf::experiment::grid::{Grid, Names, Plan};
//! use nbuf::trace::request::{Op, Request};
//! use nbuf::workload::synthetic::{Keys, Pattern};
//!
//! let keys = Keys::new(Pattern::Zipf { alpha: 1.0 }, 1000, 42).take(100_000);
//! let requests: Vec<_> = keys.map(|key| Request::new(Op::Read, key * 4096, 4096)).collect();
//! let policies = vec!["lru".parse()?, "s3-fifo".parse()?];
//! let mut grid = Grid::new(Plan { policies, sizes: Some("10,100".parse()?), ..Plan::default() })?;
//! grid.take(&requests);
//! for curve in grid.finish(&Names::default())? {
//!     println!("{}: {:.1} %", curve.policy, 100.0 * curve.points[0].hit_ratio());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A first replay
//!
//! How long would a program wait? [`replay`](experiment::replay::replay) runs clients against a
//! cache and a modelled disc in virtual time:
//!
//! ```
//! use nbuf::cache::layer::NoCache;
//! use nbuf::experiment::replay::{Cpu, Dispatcher, Layout, Machine, Pace, replay};
//! use nbuf::trace::request::{Op, Request, Unit};
//! use nbuf::units::Nanos;
//!
//! let requests: Vec<_> = (0..100).map(|n| Request::new(Op::Read, n * 7919 % 400 * 4096, 4096)).collect();
//! let disc = nbuf::disc::named("rk05")?;
//! let cpu = Cpu::named("modern").ok_or("no such processor")?;
//! let machine = Machine { cpu, sector_bytes: disc.shape().sector_bytes, moves_bytes: false };
//! let layout = Layout::blind(Unit::Bytes, 4096);
//! let pace = Pace::Closed { think: Nanos::ZERO };
//! let mut clients = Dispatcher::new(requests.chunks(10), layout, pace, 1, false);
//! let stats = replay(&machine, &mut NoCache, &mut disc.build(0), &mut clients, &mut ())?;
//! assert_eq!((stats.requests(), stats.hits()), (100, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A first policy
//!
//! A policy of your own runs next to the built-in ones: [`Row::of`](cache::policy::Row::of).
//!
//! # Features
//!
//! | feature | what it adds | needs |
//! |---|---|---|
//! | `pure` | nothing: the name of what is always there: traces, policies, curves, modelled discs, replay | |
//! | `system` | inputs by name, probes, processes | Linux |
//! | `capture` | recording, sizing and verifying of commands | `system` |
//! | `paths` | the ways to read and write a file and to wake a thread, measured; the server of NBD | `system`, a C compiler |
//! | `compression` | packed inputs; zstd in native traces | a C compiler |
//! | `tokio` | a cached file for tasks of tokio | `paths` |
//!
//! `capture`, `paths` and `compression` are on by default. `--no-default-features --features pure` builds without C, and for
//! `wasm32-unknown-unknown`.

// A part alone leaves some of the rest unused; the whole is checked.
#![cfg_attr(
    not(all(feature = "capture", feature = "paths", feature = "compression")),
    allow(
        dead_code,
        unused_imports,
        unreachable_pub,
        reason = "used by the features that are off"
    )
)]

pub mod cache;
pub(crate) mod clock;
pub mod disc;
pub mod experiment;
#[doc(hidden)]
pub mod internal;
pub(crate) mod meter;
#[cfg(feature = "paths")]
pub(crate) mod path;
#[cfg_attr(
    any(feature = "system", target_arch = "x86_64"),
    expect(unsafe_code, reason = "raw kernel calls live here and nowhere else")
)]
mod sys;
pub mod trace;
pub mod units;
pub mod workload;

#[cfg(feature = "paths")]
pub use path::cached_file;
