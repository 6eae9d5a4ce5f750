//! What a reader must know before a figure is believed: data in the document of a verb, and the one
//! place that words it.
//!
//! In JSON a warning is its words, as every version of the documents has had it; one that is read from
//! there is a [`Warning::Text`]. No code looks at the words.
//!
//! ```
//! use nbuf::experiment::warning::{Severity, Warning};
//!
//! let warning = Warning::Mapped { share: 0.5, is_forced: false };
//! assert_eq!(warning.severity(), Severity::Warning);
//! println!("{warning}");
//! ```

mod bench;
mod curve;
mod fleet;
mod live;
mod load;
mod ping;
mod replay;
mod run;
mod trace;
mod watch;
mod words;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::compare::Which;
use crate::trace::{Detoured, Peer};
use crate::units::{Bytes, Nanos};
pub use bench::BenchWarning;
pub use curve::CurveWarning;
pub use fleet::FleetWarning;
pub use live::LiveWarning;
pub use load::{LoadStepName, LoadWarning};
pub use ping::PingWarning;
pub use replay::ReplayWarning;
pub use run::RunWarning;
pub use trace::TraceWarning;
pub use watch::WatchWarning;

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A step, for those who follow.
    Detail,
    /// Good to know.
    Note,
    /// Something is missing, or not as wanted.
    Warning,
}

/// A warning.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// In the words of a recording, of an input, or of a document.
    Text(String),

    /// About measured paths.
    Bench(BenchWarning),
    /// About curves over objects.
    Curve(CurveWarning),
    /// About a fleet.
    Fleet(FleetWarning),
    /// About programs that run.
    Live(LiveWarning),
    /// About a load.
    Load(LoadWarning),
    /// About measured wake-ups.
    Ping(PingWarning),
    /// About a replay.
    Replay(ReplayWarning),
    /// About a run of a command, or a comparison of two.
    Run(RunWarning),
    /// About the reading of a trace.
    Trace(TraceWarning),
    /// About an interval of the machine.
    Watch(WatchWarning),

    /// Files that the page cache does not serve.
    Uncached(Detoured),
    /// Servers that were not recorded did work for the command.
    WorkElsewhere {
        /// The one that worked most.
        peer: Peer,
        /// Servers besides.
        others: usize,
        /// Processor time of the command.
        cpu: Nanos,
    },
    /// The kernel evicts by the multi-generational LRU, whose model is not validated.
    MultiGenerational,
    /// The share of mapped accesses is so high that the curve is a lower bound.
    Mapped {
        /// Their share, from 0 to 1.
        share: f64,
        /// Whether a size is recommended all the same.
        is_forced: bool,
    },
    /// Writes whose cost under a limit is not predicted.
    Written {
        /// Their share of the accesses, from 0 to 1.
        share: f64,
    },
    /// The recording stopped the command at each call, so that its time is not known.
    Untimed,
    /// The command touched no page of a file.
    NothingTouched,
    /// A program that chooses its memory by the limit that it sees.
    SizesItself {
        /// The program.
        program: &'static str,
        /// The setting that fixes its memory.
        setting: &'static str,
    },
    /// Other memory differed between runs by more than the limit had room for, so it was raised.
    OtherMemoryVaries {
        /// The least that a run had at its peak.
        low_bytes: Bytes,
        /// The most.
        high_bytes: Bytes,
        /// What the limit was raised by.
        raised_bytes: Bytes,
    },
    /// Files that no run can begin without in memory.
    Unreachable {
        /// The share of their pages, from 0 to 1.
        share: f64,
    },
    /// The machine has less memory than the command can use.
    MemoryShort {
        /// What there is.
        total_bytes: Bytes,
        /// What holds all that the command touches.
        needed_bytes: Bytes,
    },
    /// The run without a limit filled another number of pages than the recorded one.
    NotRepeatable,
    /// Runs are missing, because a signal came.
    RunsMissing {
        /// The signal.
        signal: i32,
    },

    /// Memory was too small to count distinct pages or keys.
    CountCut {
        /// The memory that was allowed.
        allowed_bytes: Bytes,
        /// What allows more.
        remedy: &'static str,
    },
    /// A signal ended the reading of a trace.
    ReadingEnded {
        /// Whether it had been read before.
        is_again: bool,
        /// Requests read.
        requests: u64,
    },
    /// Policies that need a second reading like the first one.
    PoliciesLeftOut {
        /// Their names.
        policies: Vec<String>,
        /// Requests of the first and the last reading, where the trace changed.
        changed: Option<(u64, u64)>,
    },
    /// Policies that cannot be counted over objects with sizes.
    PoliciesOfPages {
        /// Their names.
        policies: Vec<String>,
    },
    /// A sample cannot look for a size.
    TargetLeftOut,
    /// A sample is too thin for any size.
    SampleTooThin,
    /// Requests without a place.
    Unplaced {
        /// How many.
        requests: u64,
    },

    /// Two documents are of different commands.
    CommandsDiffer {
        /// The first command.
        a: String,
        /// The second one.
        b: String,
    },
    /// The devices of two documents read ahead differently.
    ReadaheadDiffers {
        /// The window of the first.
        a: Bytes,
        /// The window of the second.
        b: Bytes,
    },
    /// Two documents were captured by different backends.
    CapturesDiffer {
        /// The first backend.
        a: String,
        /// The second one.
        b: String,
    },
    /// Both commands failed alike.
    BothFailed {
        /// Their exit status.
        status: i32,
    },
    /// One of two documents is too low, because events were lost.
    EventsLost {
        /// The document.
        which: Which,
        /// How many.
        lost: u64,
    },
    /// The curve of one of two documents is a lower bound.
    LowerBound {
        /// The document.
        which: Which,
    },
    /// The fills of one of two documents were out of band.
    OutOfBand {
        /// The document.
        which: Which,
    },
}

impl Warning {
    /// How much it matters: a warning says that a figure may be wrong, a note what it does not cover.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Bench(warning) => warning.severity(),
            Self::Fleet(warning) => warning.severity(),
            Self::Live(warning) => warning.severity(),
            Self::Load(warning) => warning.severity(),
            Self::Ping(warning) => warning.severity(),
            Self::Replay(warning) => warning.severity(),
            Self::Run(warning) => warning.severity(),
            Self::Uncached(_)
            | Self::Untimed
            | Self::NothingTouched
            | Self::OtherMemoryVaries { .. }
            | Self::BothFailed { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl From<String> for Warning {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Warning {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Warning {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::Text)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Warning {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Warning".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "What a reader must know before a figure is believed, in words."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_its_words_in_json() {
        let warning = Warning::EventsLost { which: Which::B, lost: 3 };
        let json = serde_json::to_string(&warning).unwrap();
        assert_eq!(json, "\"B lost 3 events: its figures are too low\"");
        let read: Warning = serde_json::from_str(&json).unwrap();
        assert_eq!(read, Warning::Text(warning.to_string()));
    }
}
