//! `nbuf unix`: First Edition Unix on a PDP-11/20, and the nbuf experiment.

mod boot;
mod converse;
mod images;
mod lines;
mod script;
mod sweep;

use anyhow::{Result, bail};
use clap::{Subcommand, ValueEnum};
use nbuf_pdp11::timing::{HOST_MIPS, SIMH_RK_UNITS, Timing};

use crate::fail::Senseless;

/// First Edition Unix on a PDP-11/20, and how long it takes with 1 to 6 buffers.
///
/// The machine's time is a pure function of its instructions: two runs end alike to the last digit.
/// The disc images are yours; none is part of nbuf.
#[derive(Debug, clap::Args)]
#[command(after_help = images::WHERE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Boot(boot::Boot),
    Sweep(Box<sweep::Sweep>),
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    match &arguments.what {
        What::Boot(boot) => boot::run(boot),
        What::Sweep(sweep) => sweep::run(sweep),
    }
}

/// The mains of North America.
const MAINS_HZ: u64 = 60;

/// What the machine costs.
#[derive(Debug, clap::Args)]
struct Costs {
    /// instant: discs are done at once; simh: as SIMH 3.8 counts, in instructions; hardware: the
    /// machine of 1971, by its handbooks
    #[arg(long, value_enum, value_name = "MODEL")]
    timing: Option<Model>,
    /// Under simh: how many million instructions of SIMH's host are a second [default: 250]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    host_mips: Option<u64>,
    /// Under hardware: the frequency of the mains, which drive the clock and turn the drum [default: 60]
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u64).range(10..=400))]
    mains: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Model {
    Instant,
    Simh,
    Hardware,
}

impl Costs {
    /// Refuses a figure of another model than the one that counts.
    fn timing(&self, unless_told: Model) -> Result<Timing> {
        let model = self.timing.unwrap_or(unless_told);
        let is_other = |wanted| {
            !matches!((model, wanted), (Model::Simh, "simh") | (Model::Hardware, "hardware"))
        };
        let given = [
            ("--host-mips", "simh", self.host_mips.is_some()),
            ("--mains", "hardware", self.mains.is_some()),
        ];
        for (option, wanted, is_given) in given {
            if is_given && is_other(wanted) {
                bail!(Senseless(format!(
                    "{option} is for --timing {wanted}: write that, or leave {option} out"
                )));
            }
        }
        Ok(match model {
            Model::Instant => Timing::instant(),
            Model::Simh => Timing::simh(self.host_mips(), SIMH_RK_UNITS),
            Model::Hardware => Timing::hardware(self.mains.unwrap_or(MAINS_HZ)),
        })
    }

    fn host_mips(&self) -> u64 {
        self.host_mips.unwrap_or(HOST_MIPS)
    }
}
