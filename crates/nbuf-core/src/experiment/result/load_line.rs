//! A line of `nbuf load --lines-out`: one interaction, as the ready message of 1969 was one command.

use serde::{Deserialize, Serialize};

use super::RunParts;
use crate::units::Bytes;

/// One interaction. Its times are from the beginning of its step, except where they are durations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LoadLine {
    /// The number of the step, from 1, in the order of the document.
    pub step: u64,
    /// The users of the step.
    pub users: u32,
    /// The memory limit of the step.
    pub limit_bytes: Option<Bytes>,
    /// The places of the system table.
    pub table: Option<u32>,
    /// The processors of the step.
    pub cpus: Option<u32>,
    /// The class.
    pub class: String,
    /// The number of the user in the class, from 1; with open arrivals, who took this one.
    pub user: u32,
    /// The command with its arguments, or `GET` and the address.
    pub action: String,
    /// When it was to begin.
    pub intended_ns: u64,
    /// When it began.
    pub began_ns: u64,
    /// When its last process had ended, or the answer was complete.
    pub ended_ns: u64,
    /// The think time before it.
    pub think_ns: u64,
    /// The wait for a place in the system table.
    pub place_ns: u64,
    /// Processor time of the command and its descendants; nothing for a request, as the next three.
    pub cpu_ns: Option<u64>,
    /// Page faults that needed I/O.
    pub major_faults: Option<u64>,
    /// Page faults that needed none.
    pub minor_faults: Option<u64>,
    /// Bytes read from discs, by call or by fault.
    pub read_bytes: Option<Bytes>,
    /// Where the time from the beginning to the end went; nothing where that could not be seen, and for a failed one.
    pub real_time: Option<RunParts>,
    /// Whether it failed.
    pub has_failed: bool,
    /// Whether the figures of the step include it: it succeeded, and its answer came in the window.
    pub is_counted: bool,
}
