//! What has to be known of a log before its events can be made records: files and their sizes, the
//! facts, and when it began.

use std::collections::HashMap;

use super::Normaliser;
use crate::trace::Facts;
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::record::log::{Entry, FileSeen, Kind};
use crate::workload::record::names::Key;
use crate::workload::record::sizes::KnownFile;

/// Takes every entry of a log; then comes a [`Normaliser`], which takes the events.
#[derive(Debug, Default)]
pub struct Survey {
    pub(super) files: HashMap<Key, KnownFile>,
    pub(super) facts: Facts,
    /// Time of the earliest event.
    pub(super) start_ns: Option<u64>,
    /// Whether mapped pages were looked at again.
    pub(super) looks: bool,
    events: u64,
    ended: bool,
}

impl Survey {
    /// Takes in one entry of the log.
    pub fn push(&mut self, entry: Entry) {
        match entry {
            Entry::Event(event) => {
                self.events += 1;
                let start = self.start_ns.get_or_insert(event.time_ns);
                *start = event.time_ns.min(*start);
                // Files that may be seen only later.
                let key = (event.device, event.inode);
                match event.kind {
                    Kind::Delete => {
                        let end = event.index.saturating_add(1 << event.extent.min(18));
                        let file = self.files.entry(key).or_default();
                        file.went(event.time_ns, end.saturating_mul(PAGE_BYTES));
                    }
                    Kind::Write => {
                        let end = event.index.saturating_add(event.extent);
                        self.files.entry(key).or_default().written(event.time_ns, end);
                    }
                    Kind::Touch => self.looks = true,
                    _ => {}
                }
            }
            Entry::File(seen) => {
                let file = self.files.entry((seen.device, seen.inode)).or_default();
                if seen.file_bytes != FileSeen::SIZE_UNKNOWN {
                    file.sizes.push(seen.time_ns, seen.file_bytes);
                }
                if let Some(path) = seen.path {
                    file.add_path(&path);
                }
            }
            Entry::Memory(seen) => {
                let peak = &mut self.facts.memory;
                let most = |peak: &mut Bytes, now: u64| peak.0 = peak.0.max(now);
                most(&mut peak.anonymous_bytes, seen.anonymous_bytes);
                most(&mut peak.shmem_bytes, seen.shmem_bytes);
                most(&mut peak.kernel_bytes, seen.kernel_bytes);
                most(&mut peak.page_cache_bytes, seen.page_cache_bytes);
            }
            Entry::Start(json) | Entry::End(json) if json.is_empty() => {}
            Entry::Start(json) => self.take_facts(&json),
            Entry::End(json) => {
                self.ended = true;
                self.take_facts(&json);
            }
        }
    }

    /// Facts replace what was known, except the peaks of memory, which were counted here.
    fn take_facts(&mut self, json: &[u8]) {
        match serde_json::from_slice::<Facts>(json) {
            Ok(facts) => {
                let memory = self.facts.memory;
                self.facts = Facts { memory, ..facts };
            }
            Err(error) => {
                self.facts.warnings.push(format!("the recorded facts are damaged: {error}"));
            }
        }
    }

    /// What makes records of the events, when all entries were read.
    pub fn normaliser(mut self) -> Normaliser {
        if !self.ended {
            // The kernel's count would have come at the end.
            self.facts.capture.events = self.events;
            self.facts.warnings.push("the recording broke off before the command ended".into());
        }
        Normaliser::of(self)
    }
}
