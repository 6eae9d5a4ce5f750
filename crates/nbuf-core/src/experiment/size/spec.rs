//! What `size` does: made by hand, from a command line, or read from a file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Ask;
use crate::experiment::capture::Capture;
use crate::experiment::target::Target;
use crate::experiment::time::Rate;
use crate::meter::service::Sample;
use crate::units::{Bytes, Size};
use crate::workload::command::Until;

/// The spec of a sizing. The default sizes nothing: it takes a `command` or a `trace`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The command and its arguments.
    #[serde(with = "crate::experiment::words")]
    pub command: Vec<OsString>,
    /// A recorded trace instead of a command; nothing is run then.
    pub trace: Option<PathBuf>,
    /// With a trace: memory that may be used, by default half of what is available.
    pub memory: Option<Size>,
    /// How the command is recorded.
    pub capture: Capture,
    /// When a run is over.
    pub until: Until,
    /// Shell command that runs before every run.
    pub prepare: Option<String>,
    /// Time for all runs together.
    #[serde(rename = "time_max_seconds", with = "crate::experiment::seconds")]
    pub time_max: Option<Duration>,
    /// Least time for a run under a limit, however short the prediction; by default a minute.
    #[serde(rename = "run_time_min_seconds", with = "crate::experiment::seconds")]
    pub run_time_min: Option<Duration>,
    /// How much of the log of the recording stays in memory.
    pub log_memory_bytes: Option<usize>,
    /// A private disc for the data of the command.
    pub private_disc: Option<PrivateDisc>,
    /// Recommends a size even from a lower bound.
    pub force: bool,
    /// What to recommend instead of the knee.
    pub target: Option<Target>,
    /// Another readahead window to report on.
    pub readahead: Option<Bytes>,
    /// The rate that the discs of verified runs are held to.
    pub rate: Rate,
    /// Whether predictions are verified by more runs.
    pub verify: bool,
    /// Limits to verify under, or shares of the footprint as cache; by default 1.0, 0.9 and 0.75 of
    /// the recommendation.
    pub verify_at: Vec<Size>,
    /// Runs under each limit.
    pub samples: u16,
    /// Runs at most: those that verify, their repetitions, and those that search for the size where the
    /// model gives none that holds; 0 for no search. `samples` above 1 count as one.
    pub runs: u16,
    /// Whether a command that used the terminal may run again.
    pub agreed: bool,
}

/// A directory that is copied to a private file system, where the command runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateDisc {
    /// The directory.
    pub directory: PathBuf,
    /// Size of the file system.
    pub size_bytes: Bytes,
    /// Its readahead window.
    pub readahead_bytes: Bytes,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            trace: None,
            memory: None,
            capture: Capture::default(),
            until: Until::default(),
            prepare: None,
            time_max: None,
            run_time_min: None,
            log_memory_bytes: None,
            private_disc: None,
            force: false,
            target: None,
            readahead: None,
            rate: Rate::default(),
            verify: true,
            verify_at: Vec::new(),
            samples: 1,
            runs: RUNS,
            agreed: false,
        }
    }
}

/// What `runs` are by default.
const RUNS: u16 = 8;
/// What `run_time_min` is by default.
const RUN_TIME_MIN: Duration = Duration::from_mins(1);

impl Spec {
    /// How long a run under a limit may take at the least.
    pub(super) fn run_time_min(&self) -> Duration {
        self.run_time_min.unwrap_or(RUN_TIME_MIN)
    }

    /// Runs at most, where 0 means no search.
    pub(super) fn runs_max(&self) -> usize {
        usize::from(if self.runs == 0 { RUNS } else { self.runs })
    }

    /// Whether the target is met or missed by runs alone.
    pub(super) fn is_timed(&self) -> bool {
        matches!(self.target, Some(Target::Slowdown(_) | Target::Stall(_)))
    }

    /// Whether runs may search for the size, where a target or the user does not set it.
    pub(super) fn may_search(&self) -> bool {
        let is_chosen = self.target.is_some() && !self.is_timed() || !self.verify_at.is_empty();
        self.verify && self.runs > 0 && !self.force && !is_chosen
    }

    /// What the analysis is asked, with reads of the files that were probed.
    pub(super) fn ask(&self, probed: Vec<Sample>) -> Ask {
        let Self { force, target, readahead, rate, .. } = *self;
        Ask { force, target, readahead, probed, rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_from_a_file_and_written_again() {
        let text = r#"
            command = ["grep", "-r", "main", "src"]
            verify_at = ["96MiB", "50%"]
            target = "hit=0.95"
            samples = 3
            time_max_seconds = 90
            until = "main"
            [rate]
            iops = 500
            [private_disc]
            directory = "/srv/data"
            size_bytes = 1073741824
            readahead_bytes = 131072
        "#;
        let spec: Spec = toml::from_str(text).unwrap();
        let want = Spec {
            command: ["grep", "-r", "main", "src"].map(OsString::from).to_vec(),
            verify_at: vec![Size::Absolute(Bytes(96 << 20)), Size::Percent(50.0)],
            target: Some(Target::Hit(0.95)),
            samples: 3,
            time_max: Some(Duration::from_secs(90)),
            until: Until::Main,
            rate: Rate { iops: Some(500), bytes_per_second: None },
            private_disc: Some(PrivateDisc {
                directory: "/srv/data".into(),
                size_bytes: Bytes(1 << 30),
                readahead_bytes: Bytes(128 << 10),
            }),
            ..Spec::default()
        };
        assert_eq!(spec, want);
        let again: Spec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
        assert_eq!(again, want);
    }

    #[test]
    fn a_word_that_no_spec_has_is_refused() {
        let error = toml::from_str::<Spec>("sample = 3").unwrap_err().to_string();
        assert!(error.contains("unknown field `sample`"), "{error}");
    }
}
