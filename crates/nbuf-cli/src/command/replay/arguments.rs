//! What can be asked of `nbuf replay`.

use std::path::PathBuf;

use clap::builder::TypedValueParser as _;
use nbuf::cache::front::Writes;
use nbuf::experiment::replay::Cpu;
use nbuf::units::{Bytes, Nanos, Size, SizeList};
use nbuf::workload::format::Parameters;

use super::users::{self, number, setting};
use crate::command::memory::allowed;
use crate::command::policy::PolicyParser;

/// How long would it take behind this cache, in front of that disc?
///
/// Replays a trace in any of the formats that `nbuf trace formats` lists, or requests that are made up,
/// in virtual time: processes ask, a processor searches and copies, a cache of any policy serves what it
/// has, and a disc with its queue does the rest. With a range of sizes it draws elapsed time and hit
/// ratio against size, and says where a cache is worse than none, where it is worth it, and where
/// more gains nothing.
#[derive(Debug, clap::Args)]
#[command(after_long_help = help(), arg_required_else_help = true, allow_negative_numbers = true)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag of the command line")]
pub(crate) struct Args {
    /// The trace, in one or several files; - is standard input. Or requests that are made up: zipf,
    /// uniform, loop, scan, with options such as zipf:keys=10000,alpha=1,requests=100000,writes=0.2;
    /// tools, users of the MAX-IV Tools typing commands; shot, a machine of 1982 after a measurement
    #[arg(required = true, value_name = "TRACE")]
    pub(super) traces: Vec<PathBuf>,

    /// Its format, instead of what it looks like; columns of a CSV: csv:key=lbn,size=bytes
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<Parameters>,

    /// What the cache keeps, one with a parameter as v1:busy=3; none where there is no --size, else
    /// lru
    #[arg(long, short, value_name = "POLICY",
        value_parser = POLICY.map(|asked| asked.to_string()))]
    pub(super) policy: Option<String>,

    /// How large the cache is: units (512), 2MiB, 0 for none; a range 0..768:32 draws the curve
    #[arg(long, short, value_name = "SIZE,...", value_parser = SizeList::with_none)]
    pub(super) size: Option<SizeList>,

    /// What it keeps: whole sectors, tracks or cylinders of the disc, or chunks of so many bytes
    /// [default: 4KiB; the sector with max-iv]
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    pub(super) unit: Option<CachingUnit>,

    /// What a write does to it [default: fill]
    #[arg(long, value_name = "WHAT")]
    pub(super) writes: Option<WritesDo>,

    /// What is behind it; a name that does not exist lists those that do
    #[arg(
        long,
        short,
        value_name = "NAME|FILE|file:PATH",
        default_value = "nvme-ssd",
        long_help = "What is behind it; a name that does not exist lists those that do. A name with a dot or a \
            slash in it is a file that describes a drive, ours in TOML or DiskSim's .model, .diskspecs or .parv; \
            `file:PATH` is a real file in real time, made where there is none"
    )]
    pub(super) disc: String,

    /// Write over the file of --disc that is there
    #[arg(long)]
    pub(super) destroy: bool,

    /// How many processes ask: tasks of the trace are dealt to them, or requests where it has none
    #[arg(long, value_name = "N", default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) processes: u32,

    /// A process asks as soon as it has its answer, whatever the times of the trace
    #[arg(long)]
    pub(super) closed: bool,

    /// The same, after so long
    #[arg(long, value_name = "TIME", value_parser = think, allow_hyphen_values = true)]
    pub(super) think: Option<Nanos>,

    /// What the processor takes: modcomp-900us, -400us, -320us, -250us, -218us, modern, free, or prices
    /// such as 10us,320us for a comparison and for copying 256 bytes [default: modern; modcomp-320us
    /// with max-iv]
    #[arg(long, value_name = "CPU")]
    pub(super) cpu: Option<Cpu>,

    /// With max-iv: how the address of a sector is composed [default: sector-low]
    #[arg(long, value_name = "ORDER")]
    pub(super) address: Option<Order>,

    /// With max-iv: how many hash lists there are [default: 251]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub(super) lists: Option<u32>,

    /// With max-iv: take in only sectors before this position of their file
    #[arg(long, value_name = "N")]
    pub(super) positions: Option<u32>,

    /// With tools: how many users there are [default: 5]
    #[arg(long, value_name = "N", value_parser = |text: &str| number("users", text))]
    pub(super) users: Option<u32>,

    /// With tools: how many commands each of them types [default: 40]
    #[arg(long, value_name = "N", value_parser = |text: &str| number("commands", text))]
    pub(super) commands: Option<u32>,

    /// With tools: one of the numbers that say what the users do; they stand below
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub(super) set: Vec<(String, u32)>,

    /// Six figures: tracks in cache, hash queue lengths, and distributions of these, of hit rates, service
    /// times and rates of operations
    #[arg(long)]
    pub(super) figures: bool,

    /// What chance begins with
    #[arg(long, value_name = "N", default_value = "0")]
    pub(super) seed: u64,

    /// One JSON document on standard output
    #[arg(long)]
    pub(super) json: bool,

    /// Write a page for a browser into this file, which must not exist
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// Memory that may be used: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    pub(super) memory: Option<Size>,

    /// Give up when more records than this cannot be read
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(super) problems_max: u64,
}

/// What the cache keeps whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CachingUnit {
    Sector,
    Track,
    Cylinder,
    Chunk(u32),
}

impl CachingUnit {
    /// As it is called in results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sector => "sector",
            Self::Track => "track",
            Self::Cylinder => "cylinder",
            Self::Chunk(_) => "chunk",
        }
    }
}

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum WritesDo {
    /// It goes to the disc, and the cache takes in what it wrote
    Fill,
    /// It goes to the disc, and what the cache has of it goes
    Evict,
}

/// How the address of a sector is composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Order {
    /// Track over sector, as in the paper
    SectorLow,
    /// Sector over track, so that the hash has more to go by
    TrackLow,
    /// Sectors counted through
    Plain,
}

/// Examples, what the tools take, and exit statuses.
fn help() -> String {
    let mut text = EXAMPLES.to_owned();
    text += "\nNumbers of tools, for --set, and where they come from in the paper (LBL-15552):\n";
    text += &users::help();
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
  0    all was replayed
  2    the command line makes no sense
  125  nbuf or the disc failed, and nbuf says why
  130  ended by Ctrl-C; what had been replayed by then is shown";

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
        return Err("nobody thinks for less than no time: write 0 or more, such as 500ms".into());
    }
    text.parse().map_err(|error: nbuf::units::NanosError| error.to_string())
}
