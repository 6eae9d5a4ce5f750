//! What counts the fills of a run.

use serde::{Deserialize, Serialize};

/// What counts the fills of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Meter {
    /// The tracepoint of pages put into the cache. Exact, and for the privileged.
    #[default]
    Tracepoint,
    /// The kernel's account of the reads of each process from discs (`ru_inblock`), which every
    /// user may see for their own processes. A fill is a read, except for holes and for pages that
    /// writes put into the cache. Reads of directories and inodes count too, and so do calls with
    /// `O_DIRECT`.
    BytesRead,
}
