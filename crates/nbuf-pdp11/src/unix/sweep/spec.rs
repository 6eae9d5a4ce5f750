//! What a sweep does: made by hand, from a command line, or read from a file.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::images::ImagesError;
use super::super::stages::StageError;
use crate::timing::Model;

/// The spec of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The folder with the images.
    pub images: PathBuf,
    /// The numbers of buffers, ascending.
    pub numbers: Vec<u16>,
    /// The number of assemblies for each.
    pub samples: u64,
    /// The machine.
    pub model: Model,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            images: PathBuf::from("."),
            numbers: (1..=6).collect(),
            samples: 10,
            model: Model::default(),
        }
    }
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no images.
    #[error(transparent)]
    Images(#[from] ImagesError),
    /// No signal can end the experiment.
    #[error("cannot listen for Ctrl-C")]
    Signals(#[source] io::Error),
    /// A stage failed.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The observer refused the trace.
    #[error("cannot hand the trace on")]
    Observer(#[source] io::Error),
}
