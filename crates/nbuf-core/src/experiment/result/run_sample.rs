//! The figures of one run of several, without histograms and without a profile.

use serde::{Deserialize, Serialize};

use super::{RunCache, RunDocument, RunParts};
use crate::units::Bytes;

/// One run of `nbuf run --runs N`. The fields are those of the document, of this run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunSample {
    /// From the word to begin to the end of the last descendant.
    pub real_seconds: f64,
    /// Time of all processors in programs.
    pub user_seconds: f64,
    /// Time of all processors in the kernel, for the command.
    pub system_seconds: f64,
    /// Page faults that waited for a disc.
    pub faults_major: u64,
    /// Page faults that did not.
    pub faults_minor: u64,
    /// What it asked of the page cache; nothing without tracepoints.
    pub cache: Option<RunCache>,
    /// Bytes that were read from block devices for it.
    pub device_read_bytes: Bytes,
    /// Bytes of pages that it made dirty, and of writes past the cache.
    pub device_written_bytes: Bytes,
    /// The most memory that one of its processes had at once.
    pub memory_bytes_max: Bytes,
    /// Times that a thread left its processor to wait.
    pub switches_voluntary: u64,
    /// Times that a processor was taken from a thread.
    pub switches_involuntary: u64,
    /// Processes; nothing where they could not be seen.
    pub processes: Option<u64>,
    /// Threads; nothing where they could not be seen.
    pub threads: Option<u64>,
    /// The lives of all threads, summed; nothing where threads could not be seen.
    pub thread_time: Option<RunParts>,
    /// The real time: each instant is in the first part that held for any thread.
    pub real_time: Option<RunParts>,
    /// Part of the time of all processors that other programs had meanwhile, from 0 to 1; nothing for a run that
    /// is shorter than the kernel's tick.
    #[serde(default)]
    pub others_share: Option<f64>,
    /// Each kind of event; nothing where that was not asked for, or could not be seen.
    pub meters: Option<Vec<RunSampleMeter>>,
}

/// One kind of event in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RunSampleMeter {
    /// Such as `major fault`, or `openat`.
    pub name: String,
    /// The kind that this is a step of.
    pub step_of: Option<String>,
    /// Whether it is a system call.
    pub is_call: bool,
    /// How many there were.
    pub count: u64,
    /// All of them together.
    pub total_seconds: f64,
}

impl RunDocument {
    /// The figures of every run: those of `runs`, or of the only one.
    pub fn samples(&self) -> Vec<RunSample> {
        if self.runs.is_empty() { vec![self.sample()] } else { self.runs.clone() }
    }

    /// The figures of the run that the document itself is about.
    pub fn sample(&self) -> RunSample {
        let meters = self.meters.as_ref().map(|meters| {
            let events = meters.events.iter().map(|meter| (meter, false));
            let all = events.chain(meters.calls.iter().map(|meter| (meter, true)));
            all.map(|(meter, is_call)| RunSampleMeter {
                name: meter.name.clone(),
                step_of: meter.step_of.clone(),
                is_call,
                count: meter.count,
                total_seconds: meter.total_seconds,
            })
            .collect()
        });
        RunSample {
            real_seconds: self.real_seconds,
            user_seconds: self.user_seconds,
            system_seconds: self.system_seconds,
            faults_major: self.faults_major,
            faults_minor: self.faults_minor,
            cache: self.cache,
            device_read_bytes: self.device_read_bytes,
            device_written_bytes: self.device_written_bytes,
            memory_bytes_max: self.memory_bytes_max,
            switches_voluntary: self.switches_voluntary,
            switches_involuntary: self.switches_involuntary,
            processes: self.processes,
            threads: self.threads,
            thread_time: self.thread_time,
            real_time: self.real_time,
            others_share: self.others_share,
            meters,
        }
    }
}
