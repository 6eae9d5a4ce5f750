//! What can be asked of `nbuf curve`.

use std::path::PathBuf;

use nbuf::experiment::curve::{
    Admission, Allocator, Expired, Oversized, Parameters, Prefetching, Rate, Spec, Ttl, Warmup,
    all_policies,
};
use nbuf::experiment::grid::Every;
use nbuf::experiment::target::Target;
use nbuf::units::{PAGE_BYTES, Size, SizeList};

use super::choices::{AccessUnit, Part, WritesDo};
use super::values::{every, overhead, page, rate, target, tolerance, warmup};
use crate::command::memory::allowed;
use crate::command::policy::{PolicyArgument, PolicyParser};

/// Every policy, and `all` of them.
const POLICY: PolicyParser = PolicyParser { words: &["all"], without: &[] };

/// What would caches of other sizes and policies hit?
///
/// Reads a trace in any format of `nbuf trace formats`, compressed or not, and counts the hits of each
/// policy at each size. By default: exact LRU at all sizes, and the optimum (OPT).
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, arg_required_else_help = true, allow_negative_numbers = true)]
pub(crate) struct Args {
    /// The trace, in one or several files; `-` is standard input
    #[arg(required_unless_present = "help_policies", value_name = "TRACE")]
    pub(super) traces: Vec<PathBuf>,

    /// The trace's format [default: detected]; columns of a CSV: csv:key=lbn,size=bytes
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<Parameters>,

    /// Policies, or `all`; parameters as v1:busy=3, see --help-policies [default: lru,opt; lru with --window, --by, --prefetch]
    #[arg(long, short, value_name = "POLICY,...", value_delimiter = ',',
        value_parser = POLICY)]
    pub(super) policy: Vec<PolicyArgument>,

    /// Cache sizes: pages (10000), 64MiB, 10% of the distinct pages, ranges 1000..500000 (sixteen
    /// in equal ratios) or 64MiB..1GiB:64MiB; of objects bytes, as 64MiB or 10% of the distinct bytes
    #[arg(long, short, value_name = "SIZE,...")]
    pub(super) size: Option<SizeList>,

    /// Bytes of a page; several give a curve each [default: 4KiB]
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = page)]
    pub(super) page: Vec<u64>,

    /// What is one access [default: page; key for traces of keys]
    #[arg(long, value_name = "WHAT")]
    pub(super) unit: Option<AccessUnit>,

    /// Bytes that each object takes in addition to its own; caches are then of objects
    #[arg(long, value_name = "BYTES", value_parser = overhead)]
    pub(super) overhead: Option<u64>,

    /// Who gives memory to each object: exact, jemalloc, redis:key=20 or memcached:key=20, with the
    /// length of a key in bytes; caches are then of objects
    #[arg(long, value_name = "NAME", default_value = "exact")]
    pub(super) allocator: Allocator,

    /// Times to live: those of the trace (trace), 10m, 1h or 7d for all objects, or trace,1h; an expired
    /// object misses; caches are then of objects
    #[arg(long, value_name = "TIME")]
    pub(super) ttl: Option<Ttl>,

    /// What becomes of expired objects: they keep their bytes until they are evicted (evict), or are
    /// freed at once (free)
    #[arg(long, value_name = "HOW", default_value = "evict", requires = "ttl")]
    pub(super) expired: Expired,

    /// What an object larger than the cache does: the others stay (bypass), or all are evicted in vain
    /// (clear); caches are then of objects
    #[arg(long, value_name = "HOW", default_value = "bypass")]
    pub(super) oversized: Oversized,

    /// Which objects that missed come in: threshold:bytes=64KiB, probability:p=0.5, tinylfu or
    /// adaptsize; repeated, all must admit them; caches are then of objects
    #[arg(long, value_name = "HOW")]
    pub(super) admit: Vec<Admission>,

    /// The column of a CSV that says what a miss costs: a latency, money; caches are then of objects
    #[arg(long, value_name = "COLUMN")]
    pub(super) cost: Option<String>,

    /// A snapshot of the store, whose sizes and times to live go to requests without: what memcached's
    /// metadump prints, or an RDB file of Redis; caches are then of objects
    #[arg(long, value_name = "FILE")]
    pub(super) snapshot: Option<PathBuf>,

    /// Pages to fetch before they are asked for: next:pages=1, stride, amp or mithril, see --help-policies;
    /// each policy then runs at each size
    #[arg(long, value_name = "HOW")]
    pub(super) prefetch: Option<Prefetching>,

    #[command(flatten)]
    pub(super) list: List,

    /// What a write does
    #[arg(long, value_name = "WHAT", default_value = "allocate")]
    pub(super) writes: WritesDo,

    /// Do not count the first requests, which fill the caches: 1000000, or 10% of all
    #[arg(long, value_name = "N|SHARE", value_parser = warmup)]
    pub(super) warmup: Option<Warmup>,

    /// Sample this share of the keys (0.01), or `auto`: from one percent up, until the band is narrow
    /// enough
    #[arg(long, value_name = "RATE|auto", value_parser = rate, conflicts_with_all = ["window", "by"])]
    pub(super) sample: Option<Rate>,

    /// With --sample auto: the half width of the widest band, in points of the hit ratio
    #[arg(long, value_name = "POINTS", default_value = "1", requires = "sample",
        value_parser = tolerance)]
    pub(super) tolerance: f64,

    /// Print only the three sizes: floor, knee and ceiling
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(super) knee: bool,

    /// Find the size for hit=0.95, or for the lowest bill: price=3.5,0.4 (dollars for a GiB-month of
    /// memory, dollars for a million misses)
    #[arg(long, value_name = "TARGET", value_parser = target)]
    pub(super) target: Option<Target>,

    /// One LRU curve per hour (1h), minute (1m) or number of requests (1000000); the cache is kept
    /// between them
    #[arg(long, value_name = "TIME|N", value_parser = every)]
    pub(super) window: Option<Every>,

    /// Split the LRU curve by file, task or operation
    #[arg(long, value_name = "WHAT")]
    pub(super) by: Option<Part>,

    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,

    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,

    /// Write an HTML page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// Seed of random policies and samples
    #[arg(long, value_name = "N", default_value = "0")]
    pub(super) seed: u64,

    /// Number of threads
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,

    /// Memory to use at most: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    pub(super) memory: Option<Size>,

    /// Stop when more records than this cannot be read
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(super) problems_max: u64,
}

/// What is listed instead of curves.
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// List all policies, admissions and prefetchers with their parameters
    #[arg(long, exclusive = true)]
    pub(super) help_policies: bool,
}

impl Args {
    /// What the experiment is asked.
    pub(super) fn spec(&self) -> Spec {
        let is_all = self.policy.iter().any(|argument| matches!(argument, PolicyArgument::Word(_)));
        let mut policies = if is_all { all_policies() } else { Vec::new() };
        policies.extend(self.policy.iter().filter_map(|argument| match argument {
            PolicyArgument::Word(_) => None,
            PolicyArgument::Policy(choice) => Some(*choice),
        }));
        Spec {
            traces: self.traces.clone(),
            format: self.from.clone(),
            problems_max: self.problems_max,
            memory: self.memory,
            policies,
            sizes: self.size.clone(),
            page_bytes: if self.page.is_empty() { vec![PAGE_BYTES] } else { self.page.clone() },
            asks_for_pages: self.asks_for_pages(),
            whole: self.unit.unwrap_or(AccessUnit::Page).into(),
            is_objects: self.unit == Some(AccessUnit::Object),
            overhead_bytes: self.overhead.unwrap_or(0),
            allocator: self.allocator,
            ttl: self.ttl,
            expired: self.expired,
            oversized: self.oversized,
            admissions: self.admit.clone(),
            cost: self.cost.clone(),
            snapshot: self.snapshot.clone(),
            prefetch: self.prefetch,
            writes: self.writes.into(),
            warmup: self.warmup,
            sample: self.sample,
            tolerance: self.tolerance,
            all_sizes: self.knee,
            target: self.target,
            every: self.window,
            by: self.by.map(Into::into),
            is_serial: self.threads == Some(1),
        }
    }
}

impl Args {
    /// The option that only pages have, if it was given.
    fn asks_for_pages(&self) -> Option<&'static str> {
        match self.unit {
            _ if !self.page.is_empty() => Some("--page"),
            Some(AccessUnit::Page) => Some("--unit page"),
            _ => None,
        }
    }
}

const HELP: &str = "\
Examples:
  nbuf curve trace.parquet
  nbuf curve --policy all --size 1%..100% trace.csv.zst
  nbuf curve --policy lru,v1:busy=0,v1:busy=3 --page 512 --size 1..8:1 trace.parquet
  nbuf curve --from arc --page 512 --size 1000,10000 OLTP.lis
  nbuf curve --size 64MiB..4GiB --overhead 56 --policy lru,gdsf objects.oracleGeneral.zst
  nbuf curve --size 4MiB..1GiB --allocator redis:key=24 --policy redis:samples=10,lru objects.csv
  nbuf curve --policy lru,arc --prefetch amp --size 1%..50% blocks.csv.gz
  nbuf curve --window 1h --by file --html curve.html blocks.csv.gz
  nbuf curve --warmup 10% --policy lru,arc trace.csv.zst
  nbuf curve --target hit=0.95 --json trace.parquet > curve.json
  zstdcat trace.zst | nbuf curve --sample 0.01 -

Exit status:
  0    the curve was drawn
  2    usage error
  125  nbuf failed; standard error says why
  130  interrupted by Ctrl-C; prints what was read so far";
