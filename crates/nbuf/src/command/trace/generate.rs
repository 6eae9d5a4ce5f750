//! `nbuf trace generate`: traces whose curves are known.

use std::path::{Path, PathBuf};

use anyhow::Result;
use nbuf::experiment::trace::generate::{self, Spec};

use super::input::refused;
use super::made;
use crate::console::Console;
use crate::output::to_stdout;

/// Make a synthetic trace.
///
/// The same arguments make the same bytes on every machine. oracleGeneral has a thousand requests a
/// second, of one byte each. It needs 24 bytes of memory per request, because a record names the next
/// request for its key. u32le has only keys, and needs no memory.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf trace generate zipf -o zipf.oracleGeneral
  nbuf trace generate loop -n 100000 --keys 1000 -o - | nbuf trace stat -
  nbuf trace generate zipf -n 1000000000 --to u32le -o - | nbuf curve --from u32le -")]
pub(super) struct Generate {
    /// zipf: few keys often, many seldom; uniform: all keys alike; loop: all keys in order, again and
    /// again; scan: every key once
    #[arg(value_enum)]
    pattern: Kind,
    /// Number of requests
    #[arg(short = 'n', value_name = "N", default_value_t = 20_000_000)]
    count: usize,
    /// Number of keys; a scan has one per request
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    keys: u32,
    /// Skew of zipf
    #[arg(long, value_name = "A", default_value_t = 1.0)]
    alpha: f64,
    /// Seed of random numbers
    #[arg(long, value_name = "N", default_value_t = 42)]
    seed: u64,
    /// Format to write
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = To::OracleGeneral)]
    to: To,
    /// Write the trace to this file, which must not exist; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    Zipf,
    Uniform,
    Loop,
    Scan,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum To {
    #[value(name = "oracleGeneral")]
    OracleGeneral,
    U32le,
}

pub(super) fn generate(arguments: &Generate) -> Result<u8> {
    let spec = arguments.spec();
    if arguments.output == Path::new("-") {
        let mut wrong = None;
        to_stdout(|out| {
            spec.write(out).unwrap_or_else(|error| {
                wrong = Some(error);
                Ok(())
            })
        })?;
        return wrong.map_or(Ok(0), |error| Err(refused(error)));
    }
    made(&generate::run(&spec, &mut Console::plain().session()).map_err(refused)?);
    Ok(0)
}

impl Generate {
    fn spec(&self) -> Spec {
        Spec {
            pattern: match self.pattern {
                Kind::Zipf => generate::Pattern::Zipf,
                Kind::Uniform => generate::Pattern::Uniform,
                Kind::Loop => generate::Pattern::Loop,
                Kind::Scan => generate::Pattern::Scan,
            },
            count: self.count,
            keys: self.keys,
            alpha: self.alpha,
            seed: self.seed,
            to: match self.to {
                To::OracleGeneral => generate::To::OracleGeneral,
                To::U32le => generate::To::U32le,
            },
            output: self.output.clone(),
        }
    }
}
