//! `nbuf unix`: First Edition Unix on a PDP-11/20, and the nbuf experiment.

mod boot;
mod sweep;

use anyhow::{Result, bail};
use clap::{Subcommand, ValueEnum};
use nbuf_pdp11::timing::{self, HOST_MIPS, MAINS_HZ};

use crate::fail::UsageError;

/// What to type without them.
const WHERE: &str = "\
Images:
  rf0.dsk and rk0.dsk, the drum and the pack of Unix as of June 1972, are built by either of
    git clone https://github.com/jserv/unix-v1        (the fork, easier; then make -C unix-v1)
    git clone https://github.com/DoctorWkt/unix-jun72 (the restoration of 2009)
  as their README says; then
    nbuf unix boot --images unix-v1/images
  Unix V1 is under the Caldera licence of 2002, which lets you use and pass it on with its notice.

Exit status:
  0    success
  2    usage error
  125  images are missing or wrong, or the guest crashed or failed
  130  interrupted by Ctrl-C; prints what was measured so far";

/// Run First Edition Unix on a PDP-11/20, and time it with 1 to 6 buffers.
///
/// The machine's time depends only on its instructions: two runs agree to the last digit. You supply
/// the disc images; nbuf contains none.
#[derive(Debug, clap::Args)]
#[command(after_help = WHERE)]
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

/// What the machine costs.
#[derive(Debug, clap::Args)]
struct Costs {
    /// Disc timing. instant: no delay; simh: SIMH 3.8's, in instructions; hardware: the machine of
    /// 1971, by its handbooks
    #[arg(long, value_enum, value_name = "MODEL")]
    timing: Option<Model>,
    /// With simh: millions of instructions a second of SIMH's host [default: 250]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    host_mips: Option<u64>,
    /// With hardware: mains frequency, which drives the clock and the drum [default: 60]
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
    fn model(&self, unless_told: Model) -> Result<timing::Model> {
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
                bail!(UsageError(format!(
                    "{option} needs --timing {wanted}: add that, or leave {option} out"
                )));
            }
        }
        Ok(match model {
            Model::Instant => timing::Model::Instant,
            Model::Simh => timing::Model::Simh { host_mips: self.host_mips() },
            Model::Hardware => timing::Model::Hardware { mains_hz: self.mains.unwrap_or(MAINS_HZ) },
        })
    }

    fn host_mips(&self) -> u64 {
        self.host_mips.unwrap_or(HOST_MIPS)
    }
}
