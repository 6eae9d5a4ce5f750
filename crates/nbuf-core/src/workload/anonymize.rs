//! A trace that can be shared: who, where and what the files are called is taken out; what the
//! curve is drawn from stays.
//!
//! Each component of a path becomes a word with a number. The same component is always the same
//! word, and the numbers follow the order of first use. A reader can still see which files share a
//! directory or a name. Extensions are replaced too. Threads and devices get new numbers. The only
//! facts kept about the machine are those that the kernel's readahead depends on.
//! Invariant: the only text kept from the recording is operations' figures, types of file systems,
//! and warnings that name nothing of it.
//! Not hidden: sizes of files, offsets, times and amounts of memory. A person who has the same
//! files may recognise them by these.

use std::collections::HashMap;

use crate::trace::{Facts, Peer, Text, Trace, Uncached};
use crate::units::Bytes;

/// What the facts say of themselves afterwards.
const WARNING: &str = "names of files, the command and the machine were taken out of this trace";
/// How a file is called whose name was never learned.
const UNKNOWN: &str = "unknown inode ";
/// Parts of a text shorter than this are not looked for in warnings.
const NAMED_MIN: usize = 3;

/// Takes out of `trace` what tells whose it is.
pub(crate) fn anonymize(trace: &mut Trace) {
    let named = named(trace);
    let mut words = Words::default();
    let files: Vec<String> = trace.files.iter().map(|name| words.replaced(name)).collect();
    let renamed: HashMap<&str, &str> =
        trace.files.iter().zip(&files).map(|(old, new)| (old.as_str(), new.as_str())).collect();
    let uncached = trace.facts.uncached.iter();
    let uncached = uncached.map(|of| Uncached { file: words.replaced(&of.file), ..of.clone() });
    let uncached = uncached.collect();
    trace.facts = Facts { uncached, ..facts(&trace.facts, &renamed, &named) };
    trace.files = files;
    let mut tasks: HashMap<u32, u32> = HashMap::new();
    trace.records.change(|record| {
        let next = u32::try_from(tasks.len()).unwrap_or(u32::MAX).saturating_add(1);
        record.task = *tasks.entry(record.task).or_insert(next);
    });
}

/// Every text of the trace that a warning may repeat.
fn named(trace: &Trace) -> Vec<String> {
    let facts = &trace.facts;
    let uncached = facts.uncached.iter().map(|of| &of.file);
    let texts = trace.files.iter().chain(uncached).chain(&facts.command);
    let texts = texts.chain([&facts.directory, &facts.kernel]);
    let parts = texts.flat_map(|text| text.split('/').chain([text.as_str()]));
    let mut parts: Vec<String> =
        parts.filter(|part| part.len() >= NAMED_MIN).map(str::to_owned).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn facts(old: &Facts, renamed: &HashMap<&str, &str>, named: &[String]) -> Facts {
    let mut facts = Facts {
        schema: old.schema.clone(),
        command: Vec::new(),
        directory: String::new(),
        kernel: version(&old.kernel),
        multi_generational: old.multi_generational,
        cgroup: known(&old.cgroup, &["v1", "v2"]),
        processors: 0,
        memory_total_bytes: Bytes(0),
        started_unix_seconds: 0,
        elapsed_ns: old.elapsed_ns,
        cpu_ns: old.cpu_ns,
        read_bytes: old.read_bytes,
        written_bytes: old.written_bytes,
        exit_status: old.exit_status,
        capture: old.capture.clone(),
        memory: old.memory,
        devices: old.devices.clone(),
        file_devices: Vec::new(),
        text: Vec::new(),
        uncached: Vec::new(),
        peers: peers(&old.peers),
        timed: old.timed,
        warnings: Vec::new(),
    };
    // It has numbers of files.
    facts.capture.snapshot = None;
    facts.capture.backend = known(&facts.capture.backend, &["perf", "bpf", "calls"]);
    for (number, device) in (0..).zip(&mut facts.devices) {
        (device.major, device.minor) = (0, number);
        device.name = String::new();
        // A fuse file system names itself as it likes.
        device.filesystem = known(&device.filesystem, &FILE_SYSTEMS);
    }
    for (name, device) in &old.file_devices {
        if let Some(name) = renamed.get(name.as_str()) {
            facts.file_devices.push(((*name).to_owned(), *device));
        }
    }
    for text in &old.text {
        if let Some(name) = renamed.get(text.file.as_str()) {
            facts.text.push(Text { file: (*name).to_owned(), ..*text });
        }
    }
    let tells = |warning: &&String| named.iter().any(|part| has_word(warning, part));
    facts.warnings = old.warnings.iter().filter(|warning| !tells(warning)).cloned().collect();
    let left_out = old.warnings.len() - facts.warnings.len();
    if left_out > 0 {
        facts.warnings.push(format!("warnings that named something were taken out: {left_out}"));
    }
    facts.warnings.push(WARNING.to_owned());
    facts
}

/// Servers without their names: one of ours may have the name of its owner.
fn peers(old: &[Peer]) -> Vec<Peer> {
    let nameless = |peer: &Peer| Peer {
        pid: None,
        name: String::new(),
        address: String::new(),
        cpu_ns: peer.cpu_ns,
    };
    old.iter().map(nameless).collect()
}

/// File systems whose type says nothing about their owner.
const FILE_SYSTEMS: [&str; 12] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "overlay", "squashfs", "erofs", "nfs4", "vfat",
    "exfat",
];

/// The text if it is one of these.
fn known(text: &str, of: &[&str]) -> String {
    of.iter().find(|known| **known == text).map_or_else(String::new, ToString::to_string)
}

/// The first two numbers of a kernel release: what comes behind may name a machine or its owner.
fn version(release: &str) -> String {
    let numbers = release.split(['.', '-', '+']).map_while(|part| part.parse::<u32>().ok());
    let numbers: Vec<String> = numbers.take(2).map(|number| number.to_string()).collect();
    numbers.join(".")
}

/// Whether `part` stands in a text with nothing of a word around it.
fn has_word(text: &str, part: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(part).any(|(at, _)| {
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + part.len()..].chars().next())
    })
}

/// The words that stand for components of paths.
#[derive(Default)]
struct Words<'a> {
    numbers: HashMap<&'a str, usize>,
    unknown: usize,
}

impl<'a> Words<'a> {
    fn replaced(&mut self, name: &'a str) -> String {
        // The device and inode in such a name would show where the file is.
        if name.starts_with(UNKNOWN) {
            self.unknown += 1;
            return format!("{UNKNOWN}{}", self.unknown);
        }
        let words: Vec<String> = name.split('/').map(|component| self.word(component)).collect();
        words.join("/")
    }

    fn word(&mut self, component: &'a str) -> String {
        if component.is_empty() {
            return String::new();
        }
        let next = self.numbers.len() + 1;
        format!("name{}", self.numbers.entry(component).or_insert(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{CacheEvent, Detour, Device, FileId, Record};

    fn record(file: u32, task: u32) -> Record {
        Record {
            time_ns: 5,
            offset_bytes: 4096,
            file_bytes: 8192,
            length_bytes: 4096,
            file: FileId(file),
            task,
            request: 0,
            op: CacheEvent::Read,
        }
    }

    fn trace() -> Trace {
        let files = [
            "/var/alice/secret.db",
            "/var/alice/secret.db (inode 77)",
            "/srv/alice/plan.odt",
            "unknown inode 8:1/4242",
        ];
        let device = |minor, filesystem: &str| Device {
            major: 8,
            minor,
            name: "sda1".into(),
            filesystem: filesystem.into(),
            readahead_bytes: 131_072,
            io_bytes: 0,
            folio_order_max: 9,
        };
        let warnings =
            ["3 of 9 events were lost", "the write to plan.odt failed", "names are missing"];
        Trace {
            records: vec![record(0, 4711), record(2, 815), record(3, 4711)].into(),
            files: files.map(str::to_owned).to_vec(),
            facts: Facts {
                command: vec!["sqlite3".into(), "secret.db".into()],
                directory: "/var/alice".into(),
                kernel: "6.18.44-acme-host7".into(),
                cgroup: "v1".into(),
                processors: 48,
                devices: vec![device(1, "ext4"), device(2, "fuse.acmefs")],
                file_devices: vec![("/srv/alice/plan.odt".into(), 1)],
                uncached: vec![Uncached {
                    file: "/dev/shm/alice".into(),
                    detour: Detour::Memory,
                    calls: 1,
                    bytes: Bytes(5),
                }],
                warnings: warnings.map(str::to_owned).to_vec(),
                ..Facts::default()
            },
        }
    }

    #[test]
    fn nothing_of_the_names_is_left_and_their_structure_is() {
        let mut trace = trace();
        anonymize(&mut trace);
        let want =
            ["/name1/name2/name3", "/name1/name2/name4", "/name5/name2/name6", "unknown inode 1"];
        assert_eq!(trace.files, want);
        let tasks: Vec<u32> = trace.records.iter().map(|record| record.task).collect();
        assert_eq!(tasks, [1, 2, 1]);
        let facts = &trace.facts;
        assert_eq!(facts.file_devices, [("/name5/name2/name6".to_owned(), 1)]);
        assert_eq!(facts.uncached[0].file, "/name7/name8/name2");
        assert_eq!((facts.kernel.as_str(), facts.cgroup.as_str()), ("6.18", "v1"));
        assert_eq!((facts.devices[1].minor, facts.devices[1].filesystem.as_str()), (1, ""));
        assert_eq!(facts.devices[0].readahead_bytes, 131_072);
        let told = [
            "3 of 9 events were lost",
            "names are missing",
            "warnings that named something were taken out: 1",
            WARNING,
        ];
        assert_eq!(facts.warnings, told);
        let all = format!("{trace:?}");
        for word in ["alice", "secret", "plan", "sqlite3", "acme", "sda", "4711", "4242", "var"] {
            assert!(!all.contains(word), "{word} in {all}");
        }
    }

    #[test]
    fn what_the_curve_is_drawn_from_stays() {
        let (mut after, before) = (trace(), trace());
        anonymize(&mut after);
        for (old, new) in before.records.iter().zip(&after.records) {
            assert_eq!(Record { task: 0, ..old }, Record { task: 0, ..new });
        }
        let mut again = after.clone();
        anonymize(&mut again);
        assert_eq!(again.files, after.files);
    }
}
