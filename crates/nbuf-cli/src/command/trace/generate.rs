//! `nbuf trace generate`: traces whose curves are known.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nbuf::workload::format::OracleGeneral;
use nbuf::workload::synthetic::{Keys, Pattern};

use crate::output::{must_be_free, to_stdout, write_new};
use crate::voice::note;

/// Make a synthetic trace in oracleGeneral.
///
/// The same arguments make the same bytes on every machine. A thousand requests a second, of one
/// byte each.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf trace generate zipf -o zipf.oracleGeneral
  nbuf trace generate loop -n 100000 --keys 1000 -o - | nbuf trace stat -")]
pub(super) struct Generate {
    /// zipf: few keys often, many seldom; uniform: all alike; loop: one after the other, and again;
    /// scan: every key once
    #[arg(value_enum)]
    pattern: Kind,
    /// How many requests
    #[arg(short = 'n', value_name = "N", default_value_t = 20_000_000)]
    count: usize,
    /// How many keys there are; a scan has as many as requests
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    keys: u32,
    /// How steep zipf is
    #[arg(long, value_name = "A", default_value_t = 1.0)]
    alpha: f64,
    /// Where the random numbers begin
    #[arg(long, value_name = "N", default_value_t = 42)]
    seed: u64,
    /// The trace to write, refused when it exists; `-` is standard output
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

pub(super) fn generate(arguments: &Generate) -> Result<u8> {
    let Generate { pattern, count, keys, alpha, seed, output } = arguments;
    if *keys == 0 || !alpha.is_finite() || *alpha < 0.0 {
        bail!("there must be a key, and --alpha must be 0 or more");
    }
    let is_stdout = output == Path::new("-");
    if !is_stdout {
        must_be_free(output, "-o")?;
    }
    let pattern = match pattern {
        Kind::Zipf => Pattern::Zipf { alpha: *alpha },
        Kind::Uniform => Pattern::Uniform,
        Kind::Loop => Pattern::Loop,
        Kind::Scan => Pattern::Scan,
    };
    let mut oracle = OracleGeneral::default();
    for (number, key) in Keys::new(pattern, *keys, *seed).take(*count).enumerate() {
        oracle.push(u32::try_from(number / 1000).unwrap_or(u32::MAX), key, 1);
    }
    if is_stdout {
        return to_stdout(|out| oracle.write(out)).map(|()| 0);
    }
    let cannot = || format!("cannot write {}", output.display());
    write_new(output, "-o", |file| Ok(oracle.write(file)?)).with_context(cannot)?;
    note(format_args!("{count} requests are in {}", output.display()));
    Ok(0)
}
