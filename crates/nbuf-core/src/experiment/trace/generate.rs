//! Synthetic traces, whose curves are known.
//!
//! ```
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::trace::generate::{Pattern, Spec, run};
//!
//! let directory = tempfile::tempdir()?;
//! let output = directory.path().join("zipf.oracleGeneral");
//! let spec = Spec { pattern: Pattern::Zipf, count: 1000, keys: 100, ..Spec::of(&output) };
//! assert_eq!(run(&spec, &mut Session::new(&()))?.count, 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Error;
use crate::experiment::output::{Readers, must_be_free, write_new};
use crate::experiment::result::TraceMade;
use crate::experiment::session::Session;
use crate::workload::format::OracleGeneral;
use crate::workload::synthetic::{self, Keys};

/// The requests between two reports of progress.
const MILLION: usize = 1_000_000;

/// The spec of a synthetic trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Which keys.
    pub pattern: Pattern,
    /// Requests.
    pub count: usize,
    /// Keys; a scan has one per request.
    pub keys: u32,
    /// The skew of zipf.
    pub alpha: f64,
    /// Seeds the random numbers.
    pub seed: u64,
    /// The format.
    pub to: To,
    /// The new trace; nothing may have its name.
    pub output: PathBuf,
}

/// A pattern of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Few keys often, many seldom.
    Zipf,
    /// All keys alike.
    Uniform,
    /// All keys in order, again and again.
    Loop,
    /// Every key once.
    Scan,
}

/// A format that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum To {
    /// The format of libCacheSim: a thousand requests a second, of one byte each.
    OracleGeneral,
    /// Keys alone, of four bytes.
    U32le,
}

impl Spec {
    /// Twenty million requests to a million keys, zipf with exponent 1.
    pub fn of(output: &Path) -> Self {
        Self {
            pattern: Pattern::Zipf,
            count: 20_000_000,
            keys: 1_000_000,
            alpha: 1.0,
            seed: 42,
            to: To::OracleGeneral,
            output: output.to_owned(),
        }
    }

    fn keys(&self) -> Result<impl Iterator<Item = u64> + use<>, Error> {
        if self.keys == 0 || !self.alpha.is_finite() || self.alpha < 0.0 {
            return Err(Error::NoKeys);
        }
        let pattern = match self.pattern {
            Pattern::Zipf => synthetic::Pattern::Zipf { alpha: self.alpha },
            Pattern::Uniform => synthetic::Pattern::Uniform,
            Pattern::Loop => synthetic::Pattern::Loop,
            Pattern::Scan if self.to == To::U32le && u32::try_from(self.count).is_err() => {
                return Err(Error::ScanTooLong);
            }
            Pattern::Scan => synthetic::Pattern::Scan,
        };
        pattern.must_fit(self.keys)?;
        Ok(Keys::new(pattern, self.keys, self.seed).take(self.count))
    }

    /// Writes the trace to a stream, and takes the name of no file. The inner error is of the stream.
    pub fn write(&self, out: impl Write) -> Result<io::Result<()>, Error> {
        let keys = self.keys()?;
        Ok(write(keys, self.to, out))
    }
}

/// Makes the trace. The same spec makes the same bytes on every machine.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<TraceMade, Error> {
    let output = &spec.output;
    must_be_free(output, "-o")?;
    let mut steps = session.steps("requests (millions)", spec.count.div_ceil(MILLION));
    // The keys end where the session does, and then there is no file.
    let goes_on = |(number, _): &(usize, u64)| number % MILLION != 0 || !session.is_over();
    let keys = spec.keys()?.enumerate().take_while(goes_on).map(|(number, key)| {
        if number > 0 && number % MILLION == 0 {
            steps.next();
        }
        key
    });
    let all = |file: &File| {
        write(keys, spec.to, file)?;
        if session.is_over() { Err(io::Error::from(io::ErrorKind::Interrupted)) } else { Ok(()) }
    };
    write_new(output, "-o", Readers::All, all)
        .map_err(|source| Error::of_writing(output, source))?;
    let (count, what) = (spec.count as u64, "request".to_owned());
    Ok(TraceMade { count, what, ..TraceMade::of(output) })
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
