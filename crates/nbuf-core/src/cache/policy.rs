//! What a replacement policy is, and the table of all of them.
//!
//! A policy works on dense page numbers (see [`Interner`](super::interner::Interner)). It decides
//! and *says what happened*; who counts is a meter. A lookup and a fill are apart, because a disc
//! is between them: a fill may come late, fail, or come unasked by readahead, and the page that
//! it wants to evict may not be free to go.
//!
//! Invariant: a policy never holds more pages than its capacity, and an evicted page was there.

mod access;
mod active_inactive;
mod adapt_size;
mod any;
mod arc;
mod car;
mod choice;
mod climber;
mod clock;
mod clock_pro;
mod fifo;
mod gdsf;
mod interface;
mod le_car;
mod lfu;
mod lhd;
mod lhd_classes;
mod lirs;
mod lru;
mod lru_k;
mod names;
mod opt;
mod parameter;
mod random;
mod redis;
mod row;
mod s3_fifo;
mod sieve;
mod simple;
mod sketch;
mod slru;
mod two_queue;
mod v1;
mod w_tiny_lfu;

pub use access::{Access, Cause, NEVER, Outcome};
pub(crate) use active_inactive::ActiveInactive;
pub use any::AnyPolicy;
pub(crate) use arc::Arc;
pub(in crate::cache) use arc::ArcLengths;
pub(crate) use car::Car;
pub use choice::{Choice, ChoiceError};
pub(crate) use clock::Clock;
pub(crate) use clock_pro::ClockPro;
pub(crate) use fifo::Fifo;
pub(crate) use gdsf::Gdsf;
pub use interface::Policy;
pub(crate) use le_car::LeCar;
pub(crate) use lfu::{Lfu, LfuDa};
pub(crate) use lhd::Lhd;
pub(crate) use lirs::Lirs;
pub(crate) use lru::{Lru, Mru};
pub(crate) use lru_k::LruK;
pub use names::{ALIASES, find};
pub(crate) use opt::Opt;
use parameter::Tuned;
pub use parameter::{Parameter, ParameterUnit, Settable};
pub(crate) use random::Random;
pub(crate) use redis::Redis;
pub use row::Row;
pub(crate) use s3_fifo::S3Fifo;
pub(crate) use sieve::Sieve;
pub use simple::Simple;
pub(crate) use slru::{S4lru, Slru};
pub(crate) use two_queue::TwoQueue;
pub(crate) use v1::V1;
pub(crate) use w_tiny_lfu::WTinyLfu;

use super::admission::Tuning;
use super::{engine, objects};

/// Every policy. Help, documents and tests go through this table.
pub const POLICIES: &[Row] = &[
    Row {
        engine: engine::stack,
        once_bytes: 16,
        objects: Some(objects::objects::<Lru>),
        ..Row::of::<Lru>("lru", "evicts the page used longest ago", "Mattson et al. 1970", 0)
    },
    Row {
        engine: engine::fifo,
        objects: Some(objects::objects::<Fifo>),
        ..Row::of::<Fifo>("fifo", "evicts the page filled longest ago", "Belady 1966", 9)
    },
    Row {
        engine: engine::clock,
        objects: Some(objects::objects::<Clock>),
        ..Row::of::<Clock>("clock", "FIFO that spares pages used since", "Corbató 1968", 9)
    },
    Row {
        engine: engine::sieve,
        objects: Some(objects::objects::<Sieve>),
        ..Row::of::<Sieve>(
            "sieve",
            "FIFO with a hand; spared pages keep their place",
            "Zhang et al. 2024",
            9,
        )
    },
    Row {
        objects: Some(objects::objects::<Random>),
        ..Row::of::<Random>("random", "evicts any page", "Belady 1966", 4)
    },
    Row {
        objects: Some(objects::objects::<Mru>),
        ..Row::of::<Mru>("mru", "evicts the page used last", "Chou and DeWitt 1985", 8)
    },
    Row {
        objects: Some(objects::objects::<Lfu>),
        ..Row::of::<Lfu>(
            "lfu",
            "evicts the page used least often",
            "folklore; Arlitt et al. 2000",
            8,
        )
    },
    Row {
        objects: Some(objects::objects::<LfuDa>),
        ..Row::of::<LfuDa>("lfu-da", "LFU with dynamic ageing", "Arlitt et al. 2000", 8)
    },
    Row {
        objects: Some(objects::objects::<Gdsf>),
        ..Row::of::<Gdsf>(
            "gdsf",
            "LFU-DA that counts uses for each byte of an object",
            "Cherkasova 1998",
            16,
        )
    },
    Row {
        settable: Some(&Lhd::SETTABLE),
        objects: Some(objects::objects::<Lhd>),
        ..Row::of::<Lhd>(
            "lhd",
            "evicts the lowest hit density of some random keys",
            "Beckmann et al. 2018",
            44,
        )
    },
    Row {
        engine: engine::stack,
        once_bytes: 16,
        settable: Some(&adapt_size::SETTABLE),
        objects: Some(|sizes_bytes, layers| {
            objects::adapt_size(sizes_bytes, layers, Tuning::USUAL)
        }),
        ..Row::of::<Lru>(
            "adaptsize",
            "LRU that admits small objects more likely, tuned",
            "Berger et al. 2017",
            40,
        )
    },
    Row {
        settable: Some(&Redis::SETTABLE),
        objects: Some(objects::objects::<Redis>),
        ..Row::of::<Redis>(
            "redis",
            "evicts the longest idle of some random keys, as Redis",
            "Sanfilippo 2016",
            16,
        )
    },
    Row {
        engine: engine::stack,
        once_bytes: 16,
        objects: Some(objects::slabs),
        ..Row::of::<Lru>(
            "memcached",
            "LRU in each slab class, as memcached",
            "Fitzpatrick 2004",
            16,
        )
    },
    Row {
        settable: Some(&Slru::SETTABLE),
        ..Row::of::<Slru>("slru", "protects pages used twice", "Karedla et al. 1994", 9)
    },
    Row::of::<S4lru>(
        "s4lru",
        "each use lifts a page by one of four segments",
        "Huang et al. 2013",
        9,
    ),
    Row {
        settable: Some(&TwoQueue::SETTABLE),
        ..Row::of::<TwoQueue>(
            "2q",
            "keeps pages used again after they left a FIFO",
            "Johnson and Shasha 1994",
            9,
        )
    },
    Row {
        objects: Some(objects::objects::<LruK>),
        ..Row::of::<LruK>("lru-2", "evicts by the second last use", "O'Neil et al. 1993", 20)
    },
    Row {
        engine: engine::arc,
        ..Row::of::<Arc>(
            "arc",
            "balances recency and frequency by itself",
            "Megiddo and Modha 2003",
            9,
        )
    },
    Row::of::<Car>("car", "ARC on clocks", "Bansal and Modha 2004", 10),
    Row {
        settable: Some(&Lirs::SETTABLE),
        ..Row::of::<Lirs>(
            "lirs",
            "keeps pages with short distances between uses",
            "Jiang and Zhang 2002",
            17,
        )
    },
    Row::of::<ClockPro>("clock-pro", "LIRS on a clock", "Jiang et al. 2005", 9),
    Row {
        engine: engine::s3_fifo,
        settable: Some(&S3Fifo::SETTABLE),
        ..Row::of::<S3Fifo>(
            "s3-fifo",
            "a small FIFO filters for a larger one",
            "Yang et al. 2023",
            9,
        )
    },
    Row {
        settable: Some(&WTinyLfu::SETTABLE),
        ..Row::of::<WTinyLfu>("w-tinylfu", "admits by frequency", "Einziger et al. 2017", 9)
    },
    Row {
        settable: Some(&LeCar::SETTABLE),
        ..Row::of::<LeCar>(
            "lecar",
            "learns whether to evict by recency or by frequency",
            "Vietri et al. 2018",
            25,
        )
    },
    Row::of::<ActiveInactive>(
        "active-inactive",
        "the kernel's lists, a page at a time",
        "Weiner 2014",
        13,
    ),
    Row {
        settable: Some(&V1::SETTABLE),
        ..Row::of::<V1>("v1", "LRU; a buffer just filled is busy", "Thompson and Ritchie 1971", 16)
    },
    Row {
        engine: engine::optimum,
        once_bytes: 7,
        settable: Some(&Opt::BYPASS),
        objects: Some(objects::bounds),
        ..Row::of::<Opt>("opt", "evicts the page whose next use is furthest away", "Belady 1966", 1)
    },
];

/// A capacity as the policies take it.
fn at_least_one(capacity: u32) -> u32 {
    assert!(capacity > 0, "a cache holds at least one page");
    capacity
}

/// An invariant for [`Policy::check`]: an error with this text unless it holds.
fn holds(condition: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(otherwise()) }
}
