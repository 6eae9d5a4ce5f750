//! Documents: the results of the verbs as JSON, each read and written by one type.
//!
//! The field `schema` of a document names its schema and version. `docs/schemas` has the schemas, and
//! what a version promises.
//!
//! ```
//! use nbuf::experiment::document;
//! use nbuf::experiment::result::DoctorDocument;
//!
//! let refused = document::read::<DoctorDocument>(b"{\"schema\": \"nbuf-size/1\"}").unwrap_err();
//! assert!(refused.to_string().contains("nbuf-size/1"));
//! ```

#[cfg(feature = "system")]
mod file;

#[cfg(feature = "system")]
pub use file::{OpenError, open};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::result::{
    AdviceDocument, BenchDocument, Comparison, CourseDocument, CurveDocument, DistancesDocument,
    DoctorDocument, FleetDocument, FleetRow, FleetTask, LiveDocument, LiveFollow, LiveFollowed,
    LiveMachine, LoadDocument, LoadHistory, PingDocument, RecordDocument, ReplayDocument,
    RunComparison, RunDocument, ServeDocument, ServeNeeds, SizeReport, SweepDocument,
    TraceDocument, TraceHead, TraceMade, WatchDocument,
};

/// The result of a verb.
pub trait Document: Serialize + DeserializeOwned {
    /// Name and version of the schema, as `nbuf.size/1`.
    const SCHEMA: &'static str;
}

macro_rules! documents {
    ($($name:ident),* $(,)?) => {
        $(impl Document for $name {
            const SCHEMA: &'static str = $name::SCHEMA;
        })*
    };
}

documents!(
    AdviceDocument,
    BenchDocument,
    Comparison,
    CourseDocument,
    CurveDocument,
    DistancesDocument,
    DoctorDocument,
    FleetDocument,
    FleetRow,
    FleetTask,
    LiveDocument,
    LiveFollow,
    LiveFollowed,
    LiveMachine,
    LoadDocument,
    LoadHistory,
    PingDocument,
    RecordDocument,
    ReplayDocument,
    RunComparison,
    RunDocument,
    ServeDocument,
    ServeNeeds,
    SizeReport,
    SweepDocument,
    TraceDocument,
    TraceHead,
    TraceMade,
    WatchDocument,
);

/// Why a text is no document; the messages continue a sentence that begins with its name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// There is nothing in it.
    #[error("is empty")]
    Empty,
    /// It is not JSON.
    #[error("is no JSON document ({0})")]
    Json(serde_json::Error),
    /// It has no field `schema`.
    #[error("does not name the schema {wanted}")]
    NoSchema {
        /// The schema to be read.
        wanted: &'static str,
    },
    /// It is another document, or another version.
    #[error("has the schema {found}, not {wanted}")]
    Schema {
        /// Its schema.
        found: String,
        /// The schema to be read.
        wanted: &'static str,
    },
    /// A field is missing, or of another type.
    #[error("is not a whole document ({0})")]
    Fields(serde_json::Error),
}

/// Reads a document.
pub fn read<D: Document>(json: &[u8]) -> Result<D, DocumentError> {
    if json.iter().all(u8::is_ascii_whitespace) {
        return Err(DocumentError::Empty);
    }
    let value: Value = serde_json::from_slice(json).map_err(DocumentError::Json)?;
    let wanted = D::SCHEMA;
    match value.get("schema").and_then(Value::as_str) {
        Some(found) if found == wanted => {}
        Some(found) => return Err(DocumentError::Schema { found: found.to_owned(), wanted }),
        None => return Err(DocumentError::NoSchema { wanted }),
    }
    serde_json::from_value(value).map_err(DocumentError::Fields)
}

/// Writes a document, with a line feed at its end.
pub fn write<D: Document>(document: &D) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// Writes a document on one line, with a line feed at its end.
pub fn write_line<D: Document>(document: &D) -> serde_json::Result<String> {
    Ok(serde_json::to_string(document)? + "\n")
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::experiment::result::{BenchRow, Point, TargetReport, Verified};
    use crate::units::Bytes;

    /// A document with the keys of an earlier nbuf, given as old and new, is read as the same one.
    #[track_caller]
    fn check_renamed<D: Document + Debug + PartialEq>(document: &D, renamed: &[[&str; 2]]) {
        let mut text = write(document).unwrap();
        for [old, new] in renamed {
            let new = format!("\"{new}\":");
            assert!(text.contains(&new), "{text}");
            text = text.replace(&new, &format!("\"{old}\":"));
        }
        assert_eq!(read::<D>(text.as_bytes()).unwrap(), *document);
    }

    #[test]
    fn documents_with_keys_of_before_are_read() {
        let (schema, warnings) = (BenchDocument::SCHEMA.to_owned(), vec!["noise".into()]);
        let rows = vec![BenchRow::default()];
        let bench = BenchDocument { schema, rows, warnings, ..BenchDocument::default() };
        check_renamed(&bench, &[["cautions", "warnings"], ["proof", "label_check"]]);
        let doctor = DoctorDocument {
            schema: DoctorDocument::SCHEMA.to_owned(),
            ..DoctorDocument::default()
        };
        check_renamed(&doctor, &[["abilities", "capabilities"]]);
        let replay = ReplayDocument {
            schema: ReplayDocument::SCHEMA.to_owned(),
            ..ReplayDocument::default()
        };
        let renamed = [
            ["locked_seconds", "interrupts_off_seconds"],
            ["lock_outs", "interrupts_off"],
            ["lock_out_max_seconds", "interrupts_off_max_seconds"],
        ];
        check_renamed(&replay, &renamed);
    }

    #[test]
    fn sizes_with_keys_of_before_are_read() {
        let point = Point {
            cache_bytes: Bytes(4096),
            lru_misses: 3,
            lru_fills: 4,
            active_inactive_fills: 5,
            interpolated: false,
        };
        let run = Verified {
            within_band: Some(true),
            cliff_bytes: Some(Bytes(8192)),
            samples_within_band: 2,
            ..Verified::default()
        };
        let (goal, reason) = ("hit=0.9".to_owned(), "it hits".to_owned());
        let size = SizeReport {
            schema: SizeReport::SCHEMA.to_owned(),
            curve: vec![point],
            target: Some(TargetReport { goal, met: true, reason, knee: None }),
            verify: vec![run],
            ..SizeReport::default()
        };
        let renamed = [
            ["two_list_fills", "active_inactive_fills"],
            ["asked", "goal"],
            ["held", "within_band"],
            ["step_bytes", "cliff_bytes"],
            ["samples_held", "samples_within_band"],
        ];
        check_renamed(&size, &renamed);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let sweep = SweepDocument {
            schema: SweepDocument::SCHEMA.to_owned(),
            command: vec!["./prog".into(), "{n}".into()],
            ..SweepDocument::default()
        };
        let text = write(&sweep).unwrap();
        assert_eq!(read::<SweepDocument>(text.as_bytes()).unwrap(), sweep);
        let error = read::<TraceDocument>(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "has the schema nbuf.sweep/1, not nbuf.stat/1");
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for (text, want) in [
            (" \n", "is empty"),
            ("{", "is no JSON document ("),
            ("[]", "does not name the schema nbuf.sweep/1"),
            (r#"{"schema":"nbuf.sweep/1"}"#, "is not a whole document (missing field"),
        ] {
            let error = read::<SweepDocument>(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(want), "{error}");
        }
    }
}
