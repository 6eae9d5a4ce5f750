//! Traces of any format as one of the two that are written.
//!
//! ```
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::trace::Inputs;
//! use nbuf::experiment::trace::convert::{Spec, To, run};
//! use nbuf::units::Bytes;
//!
//! # use nbuf::experiment::trace::generate;
//! # let directory = tempfile::tempdir()?;
//! # let trace = directory.path().join("loop.oracleGeneral");
//! # let spec = generate::Spec { count: 1000, keys: 10, ..generate::Spec::of(&trace) };
//! # generate::run(&spec, &mut Session::new(&()))?;
//! let inputs = Inputs { paths: vec![trace], ..Inputs::default() };
//! let output = directory.path().join("again.oracleGeneral");
//! let to = To::OracleGeneral { page_bytes: Bytes(4096) };
//! let made = run(&Spec { inputs, output, to, partition_by: None }, &mut Session::new(&()))?;
//! assert_eq!(made.count, 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Error, Inputs};
use crate::experiment::fleet::plan::{FNV, fnv};
use crate::experiment::output::{
    OutputError, Readers, must_be_free, write_new, write_trace, write_trace_with,
};
use crate::experiment::result::{TraceMade, TraceReading};
use crate::experiment::session::Session;
use crate::sys::files;
use crate::trace::Trace;
use crate::trace::request::Unit;
use crate::units::{Bound, Bytes};
use crate::workload::convert::{ToNative, ToOracleGeneral};
use crate::workload::partition::Partitioned;
use crate::workload::source::Source;
use crate::workload::within::{Growing, take_within};

/// The trace in the folder of a file or volume.
const PART: &str = "part-0.parquet";

/// The spec of a conversion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The traces.
    pub inputs: Inputs,
    /// The new trace; nothing may have its name.
    pub output: PathBuf,
    /// Its format.
    pub to: To,
    /// A trace for each file or volume, in a folder of its own below `output`.
    #[serde(default)]
    pub partition_by: Option<PartitionBy>,
}

/// The longest name of a folder, on all file systems of Linux that matter.
const FOLDER_BYTES_MAX: usize = 255;
const HASH_DIGITS: usize = 16;

/// What the folders of a partitioned trace are named by, as `DuckDB` and Spark name theirs: `volume=12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartitionBy {
    /// Files.
    File,
    /// Volumes.
    Volume,
}

impl PartitionBy {
    /// The folder of a file or volume. Names may be paths: what a folder cannot have is `%` and two digits. A long name
    /// is cut, and a hash of all of it follows.
    fn folder(self, name: &str) -> String {
        let by = match self {
            Self::File => "file",
            Self::Volume => "volume",
        };
        let plain = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        };
        let whole: String = name.bytes().map(plain).collect();
        if by.len() + 1 + whole.len() <= FOLDER_BYTES_MAX {
            return format!("{by}={whole}");
        }
        let room = FOLDER_BYTES_MAX - by.len() - 2 - HASH_DIGITS;
        let mut cut = String::new();
        for piece in name.bytes().map(plain) {
            if cut.len() + piece.len() > room {
                break;
            }
            cut.push_str(&piece);
        }
        format!("{by}={cut}.{:0HASH_DIGITS$x}", fnv(FNV, name.as_bytes()))
    }
}

/// A format that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum To {
    /// nbuf's own: bytes, files and times, in Parquet.
    Native,
    /// The format of libCacheSim: one record of 24 bytes per access of a page.
    OracleGeneral {
        /// The page, where a trace has bytes.
        page_bytes: Bytes,
    },
}

/// Converts.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<TraceMade, Error> {
    let session = &*session;
    must_be_free(&spec.output, "-o")?;
    let (mut source, bound) = spec.inputs.open(session)?;
    let unit = source.detected().unit;
    let format = source.detected().format.name;
    let cannot = |source: OutputError| Error::of_writing(&spec.output, source);
    let mut made = TraceMade::of(&spec.output);
    match (spec.to, spec.partition_by) {
        (To::Native, _) if unit == Unit::Keys => return Err(Error::KeysToNative { format }),
        (To::OracleGeneral { .. }, Some(_)) => return Err(Error::PartitionedKeys),
        (To::Native, Some(by)) => {
            let mut parts = Partitioned::default();
            made.reading = Some(spec.take(&mut parts, &mut source, bound, session)?);
            made.dropped = parts.dropped().into();
            let traces = parts.finish(source.objects(), format, source.warnings());
            (made.count, made.what) = (spec.write_parts(traces, by, session)?, "record".to_owned());
        }
        (To::Native, None) => {
            let mut to = ToNative::default();
            made.reading = Some(spec.take(&mut to, &mut source, bound, session)?);
            made.dropped = to.dropped.into();
            let trace = to.finish(source.objects(), format, source.warnings());
            let written =
                session.writing(|progress| write_trace_with(&trace, &spec.output, "-o", progress));
            written.map_err(cannot)?;
            (made.count, made.what) = (trace.records.len() as u64, "record".to_owned());
        }
        (To::OracleGeneral { page_bytes }, None) => {
            let mut to = ToOracleGeneral::new(unit, page_bytes);
            let remedy = "allow more with --memory, or take larger pages with --page";
            let bound = Bound { remedy, ..bound };
            made.reading = Some(spec.take(&mut to, &mut source, bound, session)?);
            made.dropped = to.dropped.into();
            (made.count, made.what) = (to.oracle.len() as u64, "access".to_owned());
            write_new(&spec.output, "-o", Readers::Owner, |file| to.oracle.write(file))
                .map_err(cannot)?;
        }
    }
    Ok(made)
}

impl Spec {
    /// Writes a trace for each name into a folder of its own; how many records they have. What was written
    /// is removed again if one fails, or a signal comes.
    fn write_parts(
        &self,
        traces: impl Iterator<Item = (String, Trace)>,
        by: PartitionBy,
        session: &Session<'_>,
    ) -> Result<u64, Error> {
        if !session.cancellation.is_deaf() {
            session.cancellation.listen().map_err(Error::Signals)?;
        }
        must_make(&self.output)?;
        // Folders, and whether the part in each is ours.
        let mut made: Vec<(PathBuf, bool)> = Vec::new();
        let write = || {
            let mut count = 0;
            for (name, trace) in traces {
                if session.cancellation.poll().is_some() {
                    return Err(Error::Interrupted);
                }
                let folder = self.output.join(by.folder(&name));
                must_make(&folder)?;
                let path = folder.join(PART);
                made.push((folder, false));
                write_trace(&trace, &path, "-o")
                    .map_err(|error| Error::of_writing(&path, error))?;
                if let Some((_, is_ours)) = made.last_mut() {
                    *is_ours = true;
                }
                count += trace.records.len() as u64;
            }
            Ok(count)
        };
        let written = write();
        if written.is_err() {
            // What another process has put there stays, and so does its folder.
            for (folder, is_ours) in made.iter().rev() {
                if *is_ours {
                    let found = files::directory(folder);
                    let _ = found.and_then(|it| files::unlink(it, PART.as_ref()));
                }
                let _ = files::remove_directory(folder);
            }
            let _ = files::remove_directory(&self.output);
        }
        written
    }

    fn take(
        &self,
        to: &mut impl Growing,
        source: &mut Source,
        bound: Bound,
        session: &Session<'_>,
    ) -> Result<TraceReading, Error> {
        self.inputs.each(source, session, |source, batch| {
            let bound = bound.without(source.bytes());
            take_within(to, &batch.requests, "the new trace", bound)?;
            Ok(true)
        })
    }
}

fn must_make(folder: &Path) -> Result<(), Error> {
    let unmade = |source| OutputError::Unmade { directory: folder.to_owned(), source };
    files::make_directory(folder).map_err(|source| Error::of_writing(folder, unmade(source)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_names_that_are_legal_and_their_own() {
        let folder = |name: &str| PartitionBy::File.folder(name);
        assert_eq!(folder("/a b"), "file=%2Fa%20b");
        assert_eq!(PartitionBy::Volume.folder("7"), "volume=7");
        let longest = "x".repeat(FOLDER_BYTES_MAX - "file=".len());
        assert_eq!(folder(&longest), format!("file={longest}"));
        let long: Vec<String> =
            ["a", "b"].map(|end| folder(&format!("/{}{end}", "ä".repeat(300)))).to_vec();
        assert_ne!(long[0], long[1]);
        for name in &long {
            assert!(name.len() <= FOLDER_BYTES_MAX && name.len() > FOLDER_BYTES_MAX - 3, "{name}");
            let (cut, hash) = name.rsplit_once('.').unwrap();
            assert_eq!(
                (cut.rfind('%').map(|at| cut.len() - at), hash.len()),
                (Some(3), HASH_DIGITS)
            );
        }
    }
}
