//! What is to be advised: made by hand, from a command line, or read from a file.

use std::path::PathBuf;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::experiment::bench::path_names;
use crate::experiment::bench::pattern_text::AccessPattern;
use crate::path;
use crate::units::Size;

/// The spec of advice. The default measures nothing: it takes a `pattern` or a `trace`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// What a program asks of its file.
    pub pattern: Option<AccessPattern>,
    /// A recorded trace, whose most frequent requests are the pattern.
    pub trace: Option<PathBuf>,
    /// With a trace: memory that may be used, by default half of what is available.
    pub memory: Option<Size>,
    /// How it is done now.
    pub now: Way,
    /// Whether the whole job is done in each way, to verify the advice.
    pub verify: bool,
    /// A file to be read instead of ours.
    pub file: Option<PathBuf>,
    /// Where the files lie, as for `bench`.
    pub directory: Option<PathBuf>,
}

/// The name of a path; by default `read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub struct Way(&'static str);

/// No path has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give one of {}", path_names().collect::<Vec<_>>().join(", "))]
pub struct UnknownPath;

impl Way {
    /// The name.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl Default for Way {
    fn default() -> Self {
        Self("read")
    }
}

impl FromStr for Way {
    type Err = UnknownPath;

    fn from_str(name: &str) -> Result<Self, UnknownPath> {
        path::row(name).map(|row| Self(row.name)).ok_or(UnknownPath)
    }
}

impl<'de> Deserialize<'de> for Way {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl From<Way> for &'static str {
    fn from(way: Way) -> Self {
        way.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_from_a_file_and_written_again() {
        let text = r#"
            pattern = "4KiB, random, cold, file 1GiB, touches 25%, depth 8"
            now = "mmap"
            verify = true
        "#;
        let spec: Spec = toml::from_str(text).unwrap();
        let pattern = spec.pattern.unwrap();
        assert_eq!((pattern.touched_bytes, pattern.depth, spec.now.name()), (1 << 28, 8, "mmap"));
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
        let error = toml::from_str::<Spec>(r#"now = "teleport""#).unwrap_err().to_string();
        assert!(error.contains("give one of "), "{error}");
    }
}
