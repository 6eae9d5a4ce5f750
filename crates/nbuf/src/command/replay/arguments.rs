//! What can be asked of `nbuf replay`.

use std::path::PathBuf;

use clap::builder::TypedValueParser as _;
use nbuf::experiment::replay;
use nbuf::experiment::replay::{CachingUnit, Cpu, Format, Spec, Writes};
use nbuf::units::{Bytes, Nanos, Size, SizeList};

use super::parameters::{self, number, setting};
use crate::command::memory::allowed;
use crate::command::policy::PolicyParser;

/// How long would it take behind this cache, in front of that disc?
///
/// Replays a trace in any format of `nbuf trace formats`, or a synthetic workload, in virtual time.
/// Processes send requests, a processor searches and copies, a cache of any policy serves hits, and a
/// disc with its queue serves misses. A range of sizes draws elapsed time and hit ratio by size, and
/// gives the sizes where a cache is slower than none, where it pays, and where more saves nothing.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help(), arg_required_else_help = true, allow_negative_numbers = true)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag of the command line")]
pub(crate) struct Args {
    /// The trace, in one or several files; `-` is standard input. Or a synthetic workload: zipf,
    /// uniform, loop or scan, with options such as zipf:keys=10000,alpha=1,requests=100000,writes=0.2;
    /// tools (users of the MAX-IV Tools who type commands); shot (a machine of 1982 after a
    /// measurement)
    #[arg(required = true, value_name = "TRACE")]
    pub(super) traces: Vec<PathBuf>,

    /// The trace's format [default: detected]; columns of a CSV: csv:key=lbn,size=bytes
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<Format>,

    /// The cache's policy; a parameter as v1:busy=3 [default: lru; none without --size]
    #[arg(long, short, value_name = "POLICY",
        value_parser = POLICY.map(|asked| asked.to_string()))]
    pub(super) policy: Option<String>,

    /// Cache sizes: units (512), 2MiB, 0 for no cache; a range 0..768:32 draws the curve
    #[arg(long, short, value_name = "SIZE,...", value_parser = SizeList::with_none)]
    pub(super) size: Option<SizeList>,

    /// The cache's unit: sector, track or cylinder of the disc, or a number of bytes [default: 4KiB;
    /// sector with max-iv]
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    pub(super) unit: Option<CachingUnit>,

    /// What a write does to the cache [default: fill]
    #[arg(long, value_name = "WHAT")]
    pub(super) writes: Option<WritesDo>,

    /// The disc; an unknown name lists the known ones
    #[arg(
        long,
        short,
        value_name = "NAME|FILE|file:PATH",
        default_value = "nvme-ssd",
        long_help = "The disc; an unknown name lists the known ones. A name with a dot or a slash is a file that \
            describes a drive: TOML, or DiskSim's .model, .diskspecs or .parv. `file:PATH` is a real file in \
            real time, created if missing"
    )]
    pub(super) disc: String,

    /// Overwrite the file of --disc
    #[arg(long)]
    pub(super) destroy: bool,

    /// Number of processes; they share the tasks of the trace, or its requests if it has no tasks
    #[arg(long, value_name = "N", default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) processes: u32,

    /// Closed loop: a process sends its next request at the reply, and ignores the trace's times
    #[arg(long)]
    pub(super) closed: bool,

    /// Closed loop with this think time (500ms)
    #[arg(long, value_name = "TIME", value_parser = think, allow_hyphen_values = true)]
    pub(super) think: Option<Nanos>,

    /// Processor times: modcomp-900us, -400us, -320us, -250us, -218us, modern, free, or your own as
    /// 10us,320us (a comparison, copying 256 bytes) [default: modern; modcomp-320us
    /// with max-iv]
    #[arg(long, value_name = "CPU")]
    pub(super) cpu: Option<Cpu>,

    /// With max-iv: layout of a sector's address [default: sector-low]
    #[arg(long, value_name = "ORDER")]
    pub(super) address: Option<Order>,

    /// With max-iv: number of hash lists [default: 251]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub(super) lists: Option<u32>,

    /// With max-iv: cache only sectors before this position of their file
    #[arg(long, value_name = "N")]
    pub(super) positions: Option<u32>,

    /// With tools: number of users [default: 5]
    #[arg(long, value_name = "N", value_parser = |text: &str| number("users", text))]
    pub(super) users: Option<u32>,

    /// With tools: number of commands per user [default: 40]
    #[arg(long, value_name = "N", value_parser = |text: &str| number("commands", text))]
    pub(super) commands: Option<u32>,

    /// With tools: set a parameter of the users' work; see the list below
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub(super) set: Vec<(String, u32)>,

    /// Print six figures: tracks in cache, hash queue lengths, and distributions of these, of hit
    /// rates, service times and operation rates
    #[arg(long)]
    pub(super) figures: bool,

    /// Seed of random choices
    #[arg(long, value_name = "N", default_value = "0")]
    pub(super) seed: u64,

    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,

    /// Write an HTML page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// Memory to use at most: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    pub(super) memory: Option<Size>,

    /// Stop when more records than this cannot be read
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(super) problems_max: u64,
}

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum WritesDo {
    /// It goes to the disc, and fills the cache
    Fill,
    /// It goes to the disc, and evicts its units
    Evict,
}

/// How the address of a sector is composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Order {
    /// Track over sector, as in the paper
    SectorLow,
    /// Sector over track, which spreads the hash better
    TrackLow,
    /// The sector's number
    Plain,
}

/// Examples, what the tools take, and exit statuses.
fn help() -> String {
    let mut text = EXAMPLES.to_owned();
    text += "\nNumbers of tools, for --set, and where they come from in the paper (LBL-15552):\n";
    text += &parameters::help();
    text + STATUSES
}

const EXAMPLES: &str = "\
Examples:
  nbuf replay trace.parquet --size 64MiB --policy arc --disc sata-ssd
  nbuf replay --closed --processes 8 --size 0..1GiB:64MiB blocks.csv.gz
  nbuf replay zipf:keys=100000,requests=1000000 --size 10000 --disc network
  nbuf replay --json --disc null --size 4096 trace.parquet > replay.json
  nbuf replay tools --users 5 --policy max-iv --size 512 --disc modcomp-4138 --figures
";

const STATUSES: &str = "
Exit status:
  0    the whole trace was replayed
  2    usage error
  125  nbuf or the disc failed; standard error says why
  130  interrupted by Ctrl-C; prints what was replayed so far";

impl Args {
    /// The spec that the command line gives.
    pub(super) fn spec(&self) -> Spec {
        Spec {
            traces: self.traces.clone(),
            format: self.from.clone(),
            problems_max: self.problems_max,
            memory: self.memory,
            policy: self.policy.clone(),
            sizes: self.size.clone(),
            unit: self.unit,
            writes: self.writes.map(Writes::from),
            disc: self.disc.clone(),
            destroy: self.destroy,
            processes: self.processes,
            closed: self.closed,
            think: self.think,
            cpu: self.cpu.clone(),
            address: self.address.map(replay::Order::from),
            lists: self.lists,
            positions: self.positions,
            users: self.users,
            commands: self.commands,
            set: self.set.clone(),
            has_figures: self.figures || self.html.is_some(),
        }
    }
}

impl From<Order> for replay::Order {
    fn from(order: Order) -> Self {
        match order {
            Order::SectorLow => Self::SectorLow,
            Order::TrackLow => Self::TrackLow,
            Order::Plain => Self::Plain,
        }
    }
}

impl From<WritesDo> for Writes {
    fn from(writes: WritesDo) -> Self {
        match writes {
            WritesDo::Fill => Self::Fill,
            WritesDo::Evict => Self::Evict,
        }
    }
}

/// The policy that knows the future needs one that does not depend on it.
const POLICY: PolicyParser = PolicyParser { words: &["none", "max-iv"], without: &["opt"] };

fn unit(text: &str) -> Result<CachingUnit, String> {
    match text {
        "sector" => return Ok(CachingUnit::Sector),
        "track" => return Ok(CachingUnit::Track),
        "cylinder" => return Ok(CachingUnit::Cylinder),
        _ => {}
    }
    match text.parse::<Size>() {
        Ok(Size::Absolute(Bytes(bytes @ 1..=0x4000_0000))) => {
            Ok(CachingUnit::Chunk(u32::try_from(bytes).unwrap_or(u32::MAX)))
        }
        _ => Err("write sector, track, cylinder, or bytes up to 1GiB such as 4KiB".into()),
    }
}

fn think(text: &str) -> Result<Nanos, String> {
    if text.trim_start().starts_with('-') {
        return Err("the think time is negative: write 0 or more, such as 500ms".into());
    }
    text.parse().map_err(|error: nbuf::units::NanosError| error.to_string())
}
