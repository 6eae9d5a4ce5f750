//! What a sweep and a scan do: made by hand, from a command line, or read from a file.

use std::io;

use serde::{Deserialize, Serialize};

use super::super::stages::StageError;
use crate::timing::{HOST_MIPS, Model};

/// The spec of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The numbers of buffers, ascending.
    pub numbers: Vec<u16>,
    /// The number of assemblies for each.
    pub samples: u64,
    /// The machine.
    pub model: Model,
}

impl Default for Spec {
    fn default() -> Self {
        Self { numbers: (1..=6).collect(), samples: 10, model: Model::default() }
    }
}

/// The spec of a scan over the speeds of the pack's controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScanSpec {
    /// The number of buffers.
    pub buffers: u16,
    /// The million instructions of SIMH's host in a second.
    pub host_mips: u64,
    /// The units of the controller for a command.
    pub rk_units: Vec<u64>,
}

impl Default for ScanSpec {
    fn default() -> Self {
        Self { buffers: 1, host_mips: HOST_MIPS, rk_units: Vec::new() }
    }
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No signal can end the experiment.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// A stage failed.
    #[error(transparent)]
    Stage(#[from] StageError),
}
