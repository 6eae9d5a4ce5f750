//! The profile of `nbuf run --profile`.

use serde::{Deserialize, Serialize};

/// Where a command ran, and where its page faults were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunProfile {
    /// Time of a processor that a sample stands for.
    pub sample_seconds: f64,
    /// Samples of running threads.
    pub samples: u64,
    /// Whether the kernel was sampled, too. Without it, its time and its faults are missing.
    pub has_kernel: bool,
    /// Whether pages that enter the page cache were seen.
    pub has_fills: bool,
    /// Records of the kernel that were lost.
    pub lost: u64,
    /// What ran: programs, libraries, the kernel; those with the most time first.
    pub segments: Vec<RunSegment>,
    /// Whose pages were touched or filled; those with the most first.
    pub files: Vec<RunProfileFile>,
    /// Each stack with its samples, in the order of names.
    pub stacks: Vec<RunStack>,
}

/// What ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunSegment {
    /// The path of its file, or a name such as `kernel`.
    pub name: String,
    /// What it is.
    pub kind: RunSegmentKind,
    /// Samples in its code.
    pub samples: u64,
    /// The time that they stand for.
    pub cpu_seconds: f64,
    /// Page faults of its code that waited for no read.
    pub faults_minor: u64,
    /// Page faults of its code that waited for a read.
    pub faults_major: u64,
    /// Pages that its code, or calls by it, put into the page cache; nothing where they could not be seen.
    pub fills: Option<u64>,
    /// Its functions, those with the most time first.
    pub functions: Vec<RunFunction>,
    /// Why its functions have no names.
    pub unnamed: Option<String>,
}

/// Kinds of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunSegmentKind {
    /// A process executed it.
    Program,
    /// It was mapped.
    Library,
    /// The kernel and its modules.
    Kernel,
    /// Memory without a file, such as code that a program generated.
    Anonymous,
    /// No mapping was known for the address.
    #[default]
    Unknown,
}

/// A function, or a part of one that another one has inlined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunFunction {
    /// Its name, or a file and an offset in it.
    pub name: String,
    /// Samples in its own code.
    pub samples: u64,
    /// The time that they stand for.
    pub cpu_seconds: f64,
}

/// Whose pages were touched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunProfileFile {
    /// The path; `memory without a file`; or an inode that was read and never mapped.
    pub name: String,
    /// Page faults that waited for no read.
    pub faults_minor: u64,
    /// Page faults that waited for a read.
    pub faults_major: u64,
    /// Its pages that were put into the page cache; nothing where they could not be seen.
    pub fills: Option<u64>,
}

/// Samples with the same stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunStack {
    /// The name of the thread, then its functions, the outermost first. The kernel's end with `_[k]`, inlined
    /// ones with `_[i]`.
    pub frames: Vec<String>,
    /// How many.
    pub samples: u64,
}
