//! What can be asked of `nbuf fleet`.

use std::path::PathBuf;

use nbuf::experiment::curve::{Choice, Parameters, all_policies};
use nbuf::experiment::fleet::{Ask, Rows, Runner, Spec, Split};
use nbuf::experiment::result::FleetBy;
use nbuf::units::{Bytes, CacheSize, Nanos, Size};

use super::values::{By, Partitions, Runners, amount, bytes, cache_size, page, rows, share, time};
use crate::command::memory::allowed;
use crate::command::policy::{PolicyArgument, PolicyParser};
use crate::fail::UsageError;

/// Every policy, and `all` of them.
const POLICY: PolicyParser = PolicyParser { words: &["all"], without: &[] };

/// How much cache do thousands of volumes need?
///
/// Plans tasks over all inputs, works on them with several processes, and merges what they leave into one
/// exact LRU curve for each volume. Prints the memory that volumes and the whole need, and the best split of a
/// budget. The same command continues what Ctrl-C ended.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  nbuf fleet traces/*.csv.zst --out fleet --budget 64GiB
  nbuf fleet 'traces/*/*.parquet' --by directory --out fleet --hit-ratio 95%
  nbuf fleet hours/ --by volume --out fleet --html fleet.html
  nbuf fleet 'traces/host=*/*.parquet' --by host --out fleet
  nbuf fleet 'traces/host=*/*.parquet' --by host --partitions file --out fleet
  nbuf fleet traces/ --out fleet --policies lru,s3-fifo,sieve --policy-size 5%
  nbuf fleet hours/ --by volume --out fleet --until 24h --budget 64GiB
  nbuf fleet plan traces/ --out fleet       # then, on many machines:
  nbuf fleet work --tasks fleet/tasks.jsonl --share-from SLURM_ARRAY_TASK_ID --shares 100
  nbuf fleet reduce --out fleet --budget 64GiB

Exit status:
  0    all tasks are done
  1    a task failed or is not done; the others are in the answer
  2    usage error
  125  nbuf failed; standard error says why
  130  interrupted by Ctrl-C; finished tasks are kept")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) step: Option<Step>,

    #[command(flatten)]
    pub(super) plan: PlanArgs,

    /// Where the work is done
    #[arg(long, value_name = "RUNNER", default_value = "local", value_parser = Runners)]
    pub(super) on: Runner,

    #[command(flatten)]
    pub(super) ask: AskArgs,
}

/// A step alone.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Step {
    /// Write the plan, and do nothing of it
    Plan(PlanArgs),
    /// Do rows of a plan in this process
    Work(WorkArgs),
    /// Answer from what is finished
    Reduce(ReduceArgs),
}

/// What is planned.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// Files, directories, or patterns in quotes; any format of `nbuf trace formats`
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,

    /// The folder for the plan and its results: new, empty, or one that nbuf has made
    #[arg(long, value_name = "DIR", required = true)]
    pub(super) out: Option<PathBuf>,

    /// What a volume is
    #[arg(long, value_name = "WHAT", default_value = "file")]
    by: By,

    /// The format of the inputs [default: detected]; columns of a CSV: csv:key=lbn,size=bytes
    #[arg(long, value_name = "FORMAT")]
    from: Option<Parameters>,

    /// Bytes of a page
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page)]
    page: u64,

    /// How volumes are split: auto, none, time:8 (exact), hash:16 (an estimate, with a band)
    #[arg(long, value_name = "HOW", default_value = "auto")]
    split: Split,

    /// Processes that work at once [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,

    /// Memory of all workers: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    memory: Option<Size>,

    /// Compare these policies on each volume, such as lru,s3-fifo,sieve [default: none]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = POLICY)]
    policies: Vec<PolicyArgument>,

    /// Compare policies at this size: 1000p, 64MiB, or a share of the pages of each volume
    #[arg(long, value_name = "SIZE", default_value = "10%", value_parser = cache_size)]
    policy_size: CacheSize,

    /// Compare, from this time after the first request on, the split by what came before [default: none]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) until: Option<Nanos>,

    /// With --by host, compare the shared cache with partitions of it [default: none]
    #[arg(long, value_name = "WHAT")]
    partitions: Option<Partitions>,
}

impl PlanArgs {
    pub(super) fn workers(&self) -> u16 {
        let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.workers.unwrap_or_else(|| u16::try_from(processors()).unwrap_or(u16::MAX))
    }

    pub(super) fn spec(&self) -> Spec {
        Spec {
            inputs: self.inputs.clone(),
            out: self.out.clone().unwrap_or_default(),
            by: self.by.into(),
            format: self.from.clone(),
            page_bytes: self.page,
            split: self.split,
            workers: self.workers(),
            memory: self.memory,
            policies: self.policies(),
            policy_size: self.policy_size,
            until: self.until,
            partitions: self.partitions.map(FleetBy::from),
            ..Spec::default()
        }
    }
}

impl PlanArgs {
    /// The policies, each once, in the order in which they are first named.
    fn policies(&self) -> Vec<Choice> {
        let is_all =
            self.policies.iter().any(|argument| matches!(argument, PolicyArgument::Word(_)));
        let mut choices = if is_all { all_policies() } else { Vec::new() };
        choices.extend(self.policies.iter().filter_map(|argument| match argument {
            PolicyArgument::Word(_) => None,
            PolicyArgument::Policy(choice) => Some(*choice),
        }));
        let mut distinct: Vec<Choice> = Vec::new();
        for choice in choices {
            if distinct.iter().all(|known| known.to_string() != choice.to_string()) {
                distinct.push(choice);
            }
        }
        distinct
    }
}

/// Which rows are done.
#[derive(Debug, clap::Args)]
pub(super) struct WorkArgs {
    /// The plan: tasks.jsonl in the folder of the fleet
    #[arg(long, value_name = "FILE")]
    pub(super) tasks: PathBuf,

    /// Rows of the plan, both included, from 1 [default: all]
    #[arg(long, value_name = "A..B", value_parser = rows, conflicts_with_all = ["share_from"])]
    rows: Option<(usize, usize)>,

    /// Do the share whose number, from 0, is in this variable of the environment, as
    /// `SLURM_ARRAY_TASK_ID` or `JOB_COMPLETION_INDEX`
    #[arg(long, value_name = "VARIABLE", requires = "shares")]
    share_from: Option<String>,

    /// Shares that the rows are dealt to
    #[arg(long, value_name = "N", requires = "share_from",
        value_parser = clap::value_parser!(u32).range(1..))]
    shares: Option<u32>,
}

impl WorkArgs {
    pub(super) fn rows(&self) -> Result<Rows, UsageError> {
        if let Some((first, last)) = self.rows {
            return Ok(Rows::Range(first, last));
        }
        let (Some(name), Some(shares)) = (&self.share_from, self.shares) else {
            return Ok(Rows::All);
        };
        let shares = usize::try_from(shares).unwrap_or(usize::MAX);
        let value = std::env::var(name).unwrap_or_default();
        match value.parse() {
            Ok(share) if share < shares => Ok(Rows::Share { share, shares }),
            _ => Err(UsageError(format!(
                "{name} is `{value}`, which is no share from 0 to {}: set it, or number the array from 0",
                shares - 1
            ))),
        }
    }
}

/// What is answered, of what folder.
#[derive(Debug, clap::Args)]
pub(super) struct ReduceArgs {
    /// The folder of the fleet
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,

    #[command(flatten)]
    pub(super) ask: AskArgs,
}

/// What is answered, and how.
#[derive(Debug, clap::Args)]
pub(super) struct AskArgs {
    /// The hit ratio that memory is wanted for
    #[arg(long, value_name = "SHARE", default_value = "90%", value_parser = share)]
    hit_ratio: f64,

    /// Split this memory over all volumes
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    budget: Option<Bytes>,

    /// Milliseconds that a miss takes
    #[arg(long, value_name = "MS", value_parser = amount)]
    miss_ms: Option<f64>,

    /// Dollars for a million misses
    #[arg(long, value_name = "DOLLARS", value_parser = amount)]
    miss_price: Option<f64>,

    /// Dollars for a GiB of memory in a month
    #[arg(long, value_name = "DOLLARS", value_parser = amount)]
    gib_price: Option<f64>,

    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,

    /// Write an HTML page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
}

impl AskArgs {
    /// Whether there is memory to split.
    pub(super) fn has_budget(&self) -> bool {
        self.budget.is_some()
    }

    pub(super) fn ask(&self) -> Ask {
        let Self { hit_ratio, budget, miss_ms, miss_price, gib_price, .. } = *self;
        Ask { hit_ratio, budget, miss_ms, miss_price, gib_price }
    }
}

/// The arguments of a worker.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    #[arg(long)]
    pub(super) tasks: PathBuf,
}
