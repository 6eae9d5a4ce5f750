//! Advice about how a file (`posix_fadvise`) or a mapping of it (`madvise`) will be read, by the tracepoints
//! of the calls, and whose reads and faults it holds for.
//!
//! The kernel keeps advice with the open file, which all threads of a process share. Events name neither:
//! so what one thread says of a file holds for its process, from the next read of each thread on. The
//! tracepoint has a descriptor; which file that is, the reader finds out at once, by waking for each. If
//! the process is gone by then, the file is meant that the descriptor stood for at the advice before, or
//! else the next file that its task reads. Wrong for a process that opens a file twice and says so once.
//!
//! Advice on a mapping names an address: which file is mapped there, the process's list of mappings says.
//! The reader is not woken for it, since some programs advise on thousands of mappings as they begin. It
//! counts for all mappings of the file in the process.
//!
//! Cost: the tracepoint makes every system call of the machine take the kernel's slower way in, some
//! tens of nanoseconds (docs/cost.md); and a look at a descriptor for each advice. About a hundred bytes
//! for each file of each process that gave advice.

use std::collections::{HashMap, HashSet};

use super::events::{Body, Field, FormatError, field_named, id, number};
use super::log::{Event, Kind};
use super::names::Key;
use crate::trace::ADVICE_ON_MAPPING;

/// A call that advises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advising {
    /// Directories of its tracepoint, by the name that the call has on some architectures.
    pub paths: &'static [&'static str],
    /// Fields: what the advice is about, where it begins, for how long it holds, and the advice.
    fields: [&'static str; 4],
    /// Normal, at random, in sequence, will be wanted: what is not wanted any more shows as it leaves the
    /// cache.
    pub filter: &'static str,
    is_of_mapping: bool,
}

/// `posix_fadvise`
pub const OF_FILE: Advising = Advising {
    paths: &["syscalls/sys_enter_fadvise64", "syscalls/sys_enter_fadvise64_64"],
    fields: ["fd", "offset", "len", "advice"],
    filter: "advice<=3",
    is_of_mapping: false,
};

/// `madvise`
pub const OF_MAPPING: Advising = Advising {
    paths: &["syscalls/sys_enter_madvise"],
    fields: ["start", "start", "len_in", "behavior"],
    filter: "behavior<=3",
    is_of_mapping: true,
};

/// `readahead`, which gives the advice that pages will be wanted.
pub const AHEAD: Advising = Advising {
    paths: &["syscalls/sys_enter_readahead"],
    fields: ["fd", "offset", "count", ""],
    filter: "",
    is_of_mapping: false,
};

/// The kernel's number of the advice that pages will be wanted.
pub const WILL_NEED: u64 = 3;

/// What advice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A file, by the task's descriptor.
    Descriptor(u32),
    /// What is mapped at this address of the task.
    Address(u64),
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// The thread.
    pub task: u32,
    /// What it is about.
    pub about: About,
    /// Where it begins, in the file or in memory, and for how many bytes it holds; of a file, for all of
    /// the rest if that is 0.
    pub range: (u64, u64),
    /// What is said, by the kernel's number.
    pub advice: u64,
}

/// How to read the records.
#[derive(Clone, Copy, Debug)]
pub struct AdviceLayout {
    /// The tracepoint's number.
    pub id: u16,
    about: Field,
    range: (Field, Field),
    /// `readahead` has none.
    advice: Option<Field>,
    is_of_mapping: bool,
}

impl AdviceLayout {
    /// Reads a `format` file.
    pub fn parse(call: &Advising, text: &str) -> Result<Self, FormatError> {
        let missing = |name: &str| FormatError::missing(call.paths[0], name);
        let field = |name: &str| field_named(text, name).ok_or_else(|| missing(name));
        let id = id(text).ok_or_else(|| missing("ID"))?;
        let [about, from, bytes, advice] = call.fields;
        let range = (field(from)?, field(bytes)?);
        let advice = if advice.is_empty() { None } else { Some(field(advice)?) };
        Ok(Self { id, about: field(about)?, range, advice, is_of_mapping: call.is_of_mapping })
    }

    /// Reads a record.
    pub fn read(&self, body: &Body<'_>) -> Option<Advice> {
        // The kernel, too, looks at the low half of descriptors and advice only.
        let low = |field| u32::try_from(number(body.raw, field)? & u64::from(u32::MAX)).ok();
        let about = if self.is_of_mapping {
            About::Address(number(body.raw, self.about)?)
        } else {
            About::Descriptor(low(self.about)?)
        };
        let range = (number(body.raw, self.range.0)?, number(body.raw, self.range.1)?);
        let advice = self.advice.map_or(Some(WILL_NEED), |advice| Some(low(advice)?.into()))?;
        Some(Advice { time_ns: body.time_ns, task: body.task, about, range, advice })
    }
}

/// What was said of files, and to whom that was passed on.
#[derive(Debug, Default)]
pub(super) struct Advised {
    /// Processes of threads that are not their first.
    processes: HashMap<u32, u32>,
    /// By file and process, of files and of mappings.
    files: HashMap<(Key, u32, Use), Said>,
    /// Tasks that were gone before it was known of which file they spoke, and what they asked for.
    gone: HashMap<(u32, Use), u64>,
    requested: HashMap<u32, Vec<Advice>>,
    /// What the descriptors of a process stood for as they were looked at.
    opened: HashMap<(u32, u32), Key>,
}

/// How pages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Use {
    Read,
    Mapped,
}

/// The last word of a process about a file.
#[derive(Debug)]
struct Said {
    advice: u64,
    /// Its tasks that have read the file since.
    reached: HashSet<u32>,
}

impl Advised {
    /// A thread began.
    pub(super) fn meet(&mut self, task: u32, process: u32) {
        if task == process {
            // Numbers come again.
            self.processes.remove(&task);
            self.opened.retain(|&(of, _), _| of != process);
        } else {
            self.processes.insert(task, process);
        }
    }

    /// The process of a task.
    pub(super) fn process_of(&self, task: u32) -> u32 {
        self.processes.get(&task).copied().unwrap_or(task)
    }

    /// A process said something of a file that it has open, before it was followed.
    pub(super) fn said_before(&mut self, process: u32, key: Key, advice: u64) {
        let said = Said { advice, reached: HashSet::new() };
        self.files.entry((key, process, Use::Read)).or_insert(said);
    }

    /// A task said something of a file, or of none that is known of: its descriptor was gone by then.
    pub(super) fn say(&mut self, said: &Advice, file: Option<Key>) {
        let Advice { task, about, advice, .. } = *said;
        if advice == WILL_NEED {
            if let (None, About::Descriptor(_)) = (file, about) {
                self.requested.entry(task).or_default().push(*said);
            }
            return;
        }
        let (used, advice) = match about {
            About::Descriptor(_) => (Use::Read, advice),
            About::Address(_) => (Use::Mapped, advice | u64::from(ADVICE_ON_MAPPING)),
        };
        let Some(key) = file else {
            self.gone.insert((task, used), advice);
            return;
        };
        let process = self.process_of(task);
        self.files.insert((key, process, used), Said { advice, reached: HashSet::new() });
    }

    /// The file that advice is about: as it is seen now, or else as it was seen before.
    pub(super) fn file_of(&mut self, said: &Advice, seen: Option<Key>) -> Option<Key> {
        let About::Descriptor(file) = said.about else { return seen };
        let process = self.process_of(said.task);
        match seen {
            Some(key) => {
                self.opened.insert((process, file), key);
                seen
            }
            None => self.opened.get(&(process, file)).copied(),
        }
    }

    /// What a task asked for ahead of time of a file that was not known, as it now reads one.
    pub(super) fn asked_for(&mut self, touched: &Event) -> Vec<Event> {
        let is_read = matches!(touched.kind, Kind::GetPages | Kind::Read | Kind::Splice);
        if self.requested.is_empty() || !is_read {
            return Vec::new();
        }
        let file = Some((touched.device, touched.inode));
        let requested = self.requested.remove(&touched.task).unwrap_or_default();
        requested.iter().filter_map(|said| said.prefetch(file, 0)).collect()
    }

    /// Advice that reaches a task as it reads a file.
    pub(super) fn reaches(&mut self, touched: &Event) -> Option<Event> {
        let used = match touched.kind {
            Kind::GetPages | Kind::Read | Kind::Splice => Use::Read,
            Kind::Fault | Kind::MapPages => Use::Mapped,
            _ => return None,
        };
        if self.files.is_empty() && self.gone.is_empty() {
            return None;
        }
        let (key, task) = ((touched.device, touched.inode), touched.task);
        if let Some(advice) = self.gone.remove(&(task, used)) {
            return Some(event(touched.time_ns, task, key, advice));
        }
        let process = self.process_of(task);
        let said = self.files.get_mut(&(key, process, used))?;
        said.reached.insert(task).then(|| event(touched.time_ns, task, key, said.advice))
    }
}

impl Advice {
    /// What is asked for ahead of time of this file, `offset` bytes of which lie before the range.
    pub(super) fn prefetch(&self, file: Option<Key>, offset: u64) -> Option<Event> {
        let (device, inode) = file.filter(|_| self.advice == WILL_NEED)?;
        let (from, bytes) = self.range;
        let index = if let About::Address(_) = self.about { offset } else { from };
        let extent = if bytes == 0 { u64::MAX } else { bytes };
        let Self { time_ns, task, .. } = *self;
        Some(Event { time_ns, task, kind: Kind::Prefetch, device, inode, index, extent })
    }
}

fn event(time_ns: u64, task: u32, (device, inode): Key, advice: u64) -> Event {
    Event { time_ns, task, kind: Kind::Advise, device, inode, index: 0, extent: advice }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMAT: &str = "ID: 613
\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;
\tfield:int fd;\toffset:16;\tsize:8;\tsigned:0;
\tfield:loff_t offset;\toffset:24;\tsize:8;\tsigned:0;
\tfield:size_t len;\toffset:32;\tsize:8;\tsigned:0;
\tfield:int advice;\toffset:40;\tsize:8;\tsigned:0;";
    const FILE: Key = (8 << 20, 12);

    fn read(task: u32, inode: u64) -> Event {
        let (time_ns, kind, device) = (5, Kind::GetPages, FILE.0);
        Event { time_ns, task, kind, device, inode, index: 0, extent: 1 }
    }

    fn said(task: u32, advice: u64) -> Advice {
        Advice { time_ns: 1, task, about: About::Descriptor(3), range: (0, 0), advice }
    }

    #[test]
    fn a_record_is_taken_apart() {
        let mut raw = vec![0; 48];
        raw[16] = 7;
        raw[40] = 1;
        // The upper half of a register is anything.
        raw[45] = 9;
        let body = Body { process: None, task: 4, time_ns: 9, id: 613, raw: &raw };
        let want = Advice { range: (0, 0), ..said(4, 1) };
        let want = Advice { time_ns: 9, about: About::Descriptor(7), ..want };
        assert_eq!(AdviceLayout::parse(&OF_FILE, FORMAT).unwrap().read(&body), Some(want));
        let format = FORMAT.replace("int fd", "unsigned long start").replace("advice", "behavior");
        let format = format.replace("size_t len", "size_t len_in");
        let want = Advice { about: About::Address(7), range: (7, 0), ..want };
        assert_eq!(AdviceLayout::parse(&OF_MAPPING, &format).unwrap().read(&body), Some(want));
    }

    #[test]
    fn advice_holds_for_all_threads_of_the_process_and_no_other() {
        let mut advised = Advised::default();
        advised.meet(12, 11);
        advised.say(&said(11, 1), Some(FILE));
        let check = |advised: &mut Advised, task, inode, want: Option<u64>| {
            let got = advised.reaches(&read(task, inode)).map(|event| event.extent);
            assert_eq!(got, want, "{task} {inode}");
        };
        check(&mut advised, 11, 12, Some(1));
        check(&mut advised, 11, 12, None);
        check(&mut advised, 12, 12, Some(1));
        check(&mut advised, 12, 12, None);
        check(&mut advised, 12, 13, None);
        check(&mut advised, 22, 12, None);
        advised.say(&said(12, 2), Some(FILE));
        check(&mut advised, 12, 12, Some(2));
        check(&mut advised, 11, 12, Some(2));
        // What another process says of the file is its own affair.
        advised.say(&said(22, 0), Some(FILE));
        check(&mut advised, 22, 12, Some(0));
        check(&mut advised, 12, 12, None);
    }

    #[test]
    fn advice_on_a_mapping_holds_for_faults() {
        let mut advised = Advised::default();
        let fault = Event { kind: Kind::Fault, ..read(11, 12) };
        advised.say(&Advice { about: About::Address(4096), ..said(11, 1) }, Some(FILE));
        assert_eq!(advised.reaches(&read(11, 12)), None);
        assert_eq!(advised.reaches(&fault).map(|event| event.extent), Some(17));
        assert_eq!(advised.reaches(&fault), None);
        advised.say(&said(11, 2), Some(FILE));
        assert_eq!(advised.reaches(&fault), None);
        assert_eq!(advised.reaches(&read(11, 12)).map(|event| event.extent), Some(2));
    }

    #[test]
    fn what_will_be_wanted_is_a_prefetch() {
        let said = Advice { range: (8192, 4096), ..said(11, WILL_NEED) };
        let want =
            Event { time_ns: 1, kind: Kind::Prefetch, index: 8192, extent: 4096, ..read(11, 12) };
        assert_eq!(said.prefetch(Some(FILE), 0), Some(want));
        let all = Advice { range: (8192, 0), ..said };
        assert_eq!(all.prefetch(Some(FILE), 0), Some(Event { extent: u64::MAX, ..want }));
        let mapped = Advice { about: About::Address(1 << 40), ..said };
        assert_eq!(mapped.prefetch(Some(FILE), 64), Some(Event { index: 64, ..want }));
        assert_eq!(Advice { advice: 1, ..said }.prefetch(Some(FILE), 0), None);
        assert_eq!(said.prefetch(None, 0), None);
    }

    #[test]
    fn what_is_asked_for_of_a_descriptor_that_is_gone_is_not_lost() {
        let mut advised = Advised::default();
        advised.meet(12, 11);
        let ask = |task, at| Advice { range: (at, 4096), ..said(task, WILL_NEED) };
        // Seen once, by any thread: the descriptor stood for it then.
        assert_eq!(advised.file_of(&ask(11, 0), Some(FILE)), Some(FILE));
        assert_eq!(advised.file_of(&ask(12, 0), None), Some(FILE));
        assert_eq!(advised.file_of(&ask(13, 0), None), None);
        // Never seen: it meant what its task reads next.
        advised.say(&ask(13, 8192), None);
        assert_eq!(advised.asked_for(&read(12, 14)), []);
        assert_eq!(advised.asked_for(&Event { kind: Kind::Write, ..read(13, 14) }), []);
        let want =
            Event { time_ns: 1, kind: Kind::Prefetch, index: 8192, extent: 4096, ..read(13, 14) };
        assert_eq!(advised.asked_for(&read(13, 14)), [want]);
        assert_eq!(advised.asked_for(&read(13, 14)), []);
        // The number of a process comes again.
        advised.meet(11, 11);
        assert_eq!(advised.file_of(&ask(11, 0), None), None);
    }

    #[test]
    fn who_is_gone_meant_what_he_reads_next() {
        let mut advised = Advised::default();
        advised.say(&said(11, 2), None);
        let write = Event { kind: Kind::Write, ..read(11, 13) };
        assert_eq!(advised.reaches(&write), None);
        assert_eq!(advised.reaches(&read(12, 13)), None);
        let want = Some(event(5, 11, (FILE.0, 13), 2));
        assert_eq!(advised.reaches(&read(11, 13)), want);
        assert_eq!(advised.reaches(&read(11, 14)), None);
    }

    proptest! {
        #[test]
        fn rubbish_is_no_call_and_no_panic(raw: Vec<u8>, text: String) {
            let layout = AdviceLayout::parse(&OF_FILE, FORMAT).unwrap();
            layout.read(&Body { process: None, task: 1, time_ns: 0, id: 0, raw: &raw });
            let _ = AdviceLayout::parse(&OF_MAPPING, &text);
        }
    }
}
