//! What is to be followed, by a name that outlives its processes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::record::{Named, Running};
use super::Error;
use crate::workload::record::running::{groups, is_pattern, name_of};

/// What is followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Processes that count as one program, and what they start. Their end is the end.
    Processes(Vec<u32>),
    /// A cgroup by its directory, or the cgroups that match a pattern; looked for in each window.
    Cgroup(PathBuf),
    /// A container, unit or pod; looked for in each window.
    Named(Named),
}

impl Wanted {
    /// The name in the lines.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Processes(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                numbers.join(",")
            }
            Self::Cgroup(path) if is_pattern(path) => path.display().to_string(),
            Self::Cgroup(path) => groups(path)
                .ok()
                .and_then(|found| found.first().map(|directory| name_of(directory)))
                .unwrap_or_else(|| path.display().to_string()),
            Self::Named(named) => named.name().to_owned(),
        }
    }

    pub(super) fn pattern(&self) -> Option<&Path> {
        match self {
            Self::Cgroup(path) => Some(path.as_path()).filter(|path| is_pattern(path)),
            _ => None,
        }
    }

    /// What runs under this name now.
    pub(super) fn running(&self) -> Result<Running, Error> {
        Ok(match self {
            Self::Processes(numbers) => Running { processes: numbers.clone(), cgroup: None },
            Self::Cgroup(path) => {
                Running::group(groups(path)?.into_iter().next().unwrap_or_default())
            }
            Self::Named(named) => Running::group(named.cgroup()?),
        })
    }
}
