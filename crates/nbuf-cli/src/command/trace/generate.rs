//! `nbuf trace generate`: traces whose curves are known.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nbuf::sys::publish::Readers;
use nbuf::workload::format::OracleGeneral;
use nbuf::workload::synthetic::{Keys, Pattern};

use crate::output::{must_be_free, to_stdout, write_new};
use crate::show::text;
use crate::voice::note;

/// Make a synthetic trace.
///
/// The same arguments make the same bytes on every machine. oracleGeneral has a thousand requests a
/// second, of one byte each; they wait in memory, 24 bytes each, because a record names the next
/// request with its key. u32le is the keys alone, without end if need be.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf trace generate zipf -o zipf.oracleGeneral
  nbuf trace generate loop -n 100000 --keys 1000 -o - | nbuf trace stat -
  nbuf trace generate zipf -n 1000000000 --to u32le -o - | nbuf curve --from u32le -")]
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
    /// What to write
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = To::OracleGeneral)]
    to: To,
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

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum To {
    #[value(name = "oracleGeneral")]
    OracleGeneral,
    U32le,
}

pub(super) fn generate(arguments: &Generate) -> Result<u8> {
    let Generate { pattern, count, keys, alpha, seed, to, output } = arguments;
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
        Kind::Scan if matches!(to, To::U32le) && u32::try_from(*count).is_err() => {
            bail!("a scan in u32le ends with its numbers: write -n 4294967295 or less")
        }
        Kind::Scan => Pattern::Scan,
    };
    pattern.must_fit(*keys)?;
    let made = Keys::new(pattern, *keys, *seed).take(*count);
    if is_stdout {
        return to_stdout(|out| write(made, *to, out)).map(|()| 0);
    }
    let cannot = || format!("cannot write {}", output.display());
    write_new(output, "-o", Readers::All, |file| Ok(write(made, *to, file)?))
        .with_context(cannot)?;
    let made = text::count(*count as u64, "request", "requests");
    note(format_args!("{} has {made}", output.display()));
    Ok(0)
}

fn write(keys: impl Iterator<Item = u64>, to: To, out: impl Write) -> io::Result<()> {
    match to {
        To::OracleGeneral => {
            let mut oracle = OracleGeneral::default();
            for (number, key) in keys.enumerate() {
                oracle.push(u32::try_from(number / 1000).unwrap_or(u32::MAX), key, 1);
            }
            oracle.write(out)
        }
        To::U32le => {
            let mut out = io::BufWriter::with_capacity(1 << 18, out);
            for key in keys {
                let key = u32::try_from(key).map_err(io::Error::other)?;
                out.write_all(&key.to_le_bytes())?;
            }
            out.flush()
        }
    }
}
