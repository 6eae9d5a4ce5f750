//! Why there are no curves.

use std::io;

use crate::cache::prefetch::Prefetching;
use crate::experiment::joined::CannotJoin;
use crate::experiment::objects::CannotWeigh;
use crate::experiment::warning::CurveWarning;
use crate::units::count;
use crate::units::{SizeListError, TooLarge};
use crate::workload::source::SourceError;

/// Why there are no curves.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A policy that small caches do not stand for.
    #[error(
        "--sample cannot draw w-tinylfu: its sketch has a power of two of counters, so small caches \
         do not stand for large ones; leave it or --sample out"
    )]
    SampleOfSketch,
    /// A policy that learns less in a small cache.
    #[error(
        "--sample cannot draw lecar: it learns with each miss of a remembered page, and small caches have \
         fewer; leave it or --sample out"
    )]
    SampleOfLearner,
    /// Small caches need a further reading.
    #[error(
        "--sample reads the trace several times for other policies than lru, and a pipe can be read \
         only once: give a file, or --policy lru"
    )]
    SampleOfPipe,
    /// Only LRU is split.
    #[error(
        "--window and --by split the curve of lru, which --policy does not name: add lru \
         to --policy"
    )]
    SplitWithoutLru,
    /// No signal can end the reading.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// The trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It takes too much memory.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The trace has no sizes.
    #[error(
        "the keys of {name} have no bytes here, because {format} {} no sizes: write a number of \
         them such as --size 10000, or 10%",
        gives(*has_snapshot)
    )]
    NoSizes {
        /// The trace.
        name: String,
        /// Its format.
        format: &'static str,
        /// Whether a snapshot has none for its keys either.
        has_snapshot: bool,
    },
    /// A trace of keys has no pages.
    #[error(
        "{name} has keys and no pages ({format}), so {option} has no meaning: leave it out, or take --unit object"
    )]
    PagesOfKeys {
        /// The trace.
        name: String,
        /// Its format.
        format: &'static str,
        /// The option that asks for pages.
        option: &'static str,
    },
    /// A price of misses and a column of their costs.
    #[error(
        "--target price= has one price for all misses, and --cost has a price for each: leave one of them out"
    )]
    PriceAndCost,
    /// A policy has no rule for objects.
    #[error(transparent)]
    CannotWeigh(CannotWeigh),
    /// Only whole traces of objects are counted.
    #[error(
        "--sample, --window and --by count pages or keys, not bytes of objects: leave them out, or \
         write sizes without a unit such as --size 10000"
    )]
    PartsOfObjects,
    /// The sizes cannot be used.
    #[error(transparent)]
    Sizes(#[from] SizeListError),
    /// The trace has no times.
    #[error(
        "--window cannot cut {name} by time, because no time passes in it ({format}): give a number of \
         requests such as --window 1000000"
    )]
    NoTime {
        /// The trace.
        name: String,
        /// Its format.
        format: &'static str,
    },
    /// Only a CSV has columns.
    #[error(
        "--cost names a column of a CSV, and --from {format} is none: take --from csv:key=..,size=.., or leave --cost out"
    )]
    CostOfFormat {
        /// The format that was named.
        format: String,
    },
    /// A table has no column of costs.
    #[error(
        "no column of the table has the costs of misses: name it, such as columns={{\"cost\": \"{column}\"}}"
    )]
    NoCosts {
        /// The column that was asked for.
        column: String,
    },
    /// The snapshot is of no use.
    #[error(transparent)]
    CannotJoin(#[from] CannotJoin),
    /// No time passes in which an object could expire.
    #[error(
        "--ttl cannot expire the objects of {name}, because no time passes in it ({format}): take a trace with \
         times (csv:key=..,size=..,time=..), or leave --ttl out"
    )]
    NoTimeToLive {
        /// The trace.
        name: String,
        /// Its format.
        format: &'static str,
    },
    /// The trace has no times to live.
    #[error(
        "no request of {name} has a time to live ({format}): give one for all objects such as --ttl 1h, or name a \
         column with --from csv:key=..,size=..,time=..,ttl=.."
    )]
    NoLifetimes {
        /// The trace.
        name: String,
        /// Its format.
        format: &'static str,
    },
    /// The optimum has no bounds where objects expire.
    #[error("{}", CurveWarning::OptExpires)]
    OptExpires,
    /// The optimum counts every access.
    #[error("{}", CurveWarning::OptStores)]
    OptStores,
    /// Pages have no such writes.
    #[error("--writes store is for caches of objects: add --unit object, or leave it out")]
    StoresPages,
    /// Parts and samples of caches that prefetch.
    #[error(
        "--prefetch runs whole traces at each size, so --sample, --window and --by do not go with it: leave them \
         out, or leave --prefetch out"
    )]
    PrefetchOfParts,
    /// Objects have no next page.
    #[error(
        "--prefetch is for caches of pages, and these caches are of objects: leave --prefetch out, or take sizes in \
         pages without the options of objects"
    )]
    PrefetchOfObjects,
    /// Keys and whole requests have no next page.
    #[error(
        "--prefetch {prefetching} counts from page to page, and each access to {name} is to {what}: take --prefetch \
         mithril, or leave --prefetch out"
    )]
    PrefetchOfKeys {
        /// As it was asked for.
        prefetching: Prefetching,
        /// The trace.
        name: String,
        /// What is accessed.
        what: &'static str,
    },
    /// The optimum has no rule for pages that come unasked.
    #[error(
        "opt has no rule for pages that are prefetched: leave opt out of --policy, or leave --prefetch out"
    )]
    OptPrefetches,
    /// The trace has one part only.
    #[error(
        "--by {by} cannot split {name}, because it names no {what} ({format}): take --by op, or leave \
         --by out"
    )]
    OnePart {
        /// What it is to be split by.
        by: &'static str,
        /// What the trace does not name.
        what: &'static str,
        /// The trace.
        name: String,
        /// Its format.
        format: &'static str,
    },
    /// A share of a pipe is not known before its end.
    #[error(
        "--warmup with a share counts the requests first, and a pipe can be read only once: give a file, \
         or a number of requests such as --warmup 1000000"
    )]
    WarmupOfPipe,
    /// The warm-up leaves nothing.
    #[error(
        "--warmup {warmup} leaves nothing to count: {name} has {}; give a smaller number, or a \
         share such as --warmup 10%",
        count(.requests.to_owned(), "request", "requests")
    )]
    WarmupOfAll {
        /// Requests of the warm-up.
        warmup: u64,
        /// The trace.
        name: String,
        /// Its requests.
        requests: u64,
    },
    /// A pipe cannot be widened.
    #[error(
        "--sample auto reads the trace several times, and a pipe can be read only once: give a \
         file, or a rate such as --sample 0.01"
    )]
    AutoOfPipe,
    /// A pipe has been sampled with the first page size.
    #[error("a pipe can be read only once: sample it with one page size")]
    PipeOnce,
    /// The trace has no requests.
    #[error("{name} has no requests, so there is no curve: name another trace")]
    Empty {
        /// The trace.
        name: String,
    },
}

impl Error {
    /// Whether the command line alone is wrong, whatever the files are.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::SampleOfSketch
                | Self::SplitWithoutLru
                | Self::CostOfFormat { .. }
                | Self::PriceAndCost
                | Self::PrefetchOfParts
        )
    }
}

fn gives(has_snapshot: bool) -> &'static str {
    if has_snapshot { "and the snapshot give" } else { "gives" }
}
