//! From the log of a recording to a [`Trace`]: clipped to the end of the file, continuations of one
//! read merged, what was asked for distinguished from what the kernel fetched ahead.
//!
//! Two passes: a [`Survey`] takes every entry of a log, the [`Normaliser`] then its events, and
//! packs each record as soon as nothing can change it. Pure: entries in, a trace and its warnings
//! out. Cost: 10 MB next to the packed records.

mod kept;
mod mapped;
mod survey;
mod tail;
mod task;
mod window;

use std::collections::HashMap;

use mapped::Mapped;
pub use survey::Survey;
use tail::Tail;
use task::{Demand, Tasks, tell_apart};
use window::Window;

use super::log::{Event, Kind};
use super::names::Key;
use super::sizes::{KnownFile, Sizes};
use crate::trace::{CacheEvent, Facts, FileId, Record, Sampled, Trace};
use crate::units::PAGE_BYTES;

/// Makes the trace of a log that was surveyed.
#[derive(Debug)]
pub struct Normaliser {
    window: Window,
    walk: Walk,
    facts: Facts,
}

impl Normaliser {
    fn of(survey: Survey) -> Self {
        let Survey { files, facts, start_ns, looks, .. } = survey;
        let mut walk = Walk::new(files, start_ns.unwrap_or(0));
        walk.mapped = Mapped::new(looks);
        walk.sampled = facts.capture.sampled;
        Self { window: Window::default(), walk, facts }
    }

    /// Takes in the next event of the log.
    pub fn push(&mut self, event: Event) {
        self.window.push(event, |event| self.walk.step(event));
    }

    /// Makes the trace of what was pushed.
    pub fn finish(self) -> Trace {
        let Self { window, mut walk, mut facts } = self;
        let late = window.finish(|event| walk.step(event));
        if late > 0 {
            let told = if late == 1 { "1 event was".into() } else { format!("{late} events were") };
            facts.warnings.push(format!("{told} written too late to be put in order"));
        }
        walk.settle_all();
        let Walk { records, names, ids, sampled, .. } = walk;
        facts.capture.sampled = sampled;
        if let Some(snapshot) = &mut facts.capture.snapshot {
            for file in &mut snapshot.files {
                file.file = ids.get(&(file.device, file.inode)).map(|id| id.0);
            }
            snapshot.files.retain(|file| file.file.is_some());
        }
        let mut trace = Trace { records: records.finish(), files: Vec::new(), facts };
        super::identify::name_files(&mut trace, names);
        trace
    }
}

#[derive(Debug)]
struct Walk {
    start_ns: u64,
    known: HashMap<Key, KnownFile>,
    ids: HashMap<Key, FileId>,
    names: Vec<(Key, KnownFile)>,
    tasks: Tasks,
    records: Tail,
    requests: u32,
    mapped: Mapped,
    sampled: Option<Sampled>,
    /// The file of the event before: most events are about the same file.
    recent: Option<(Key, FileId)>,
}

impl Walk {
    fn new(known: HashMap<Key, KnownFile>, start_ns: u64) -> Self {
        Self {
            start_ns,
            known,
            ids: HashMap::new(),
            names: Vec::new(),
            tasks: Tasks::default(),
            records: Tail::default(),
            requests: 0,
            mapped: Mapped::default(),
            sampled: None,
            recent: None,
        }
    }

    fn file(&mut self, key: Key) -> FileId {
        if let Some((recent, id)) = self.recent
            && recent == key
        {
            return id;
        }
        let id = if let Some(id) = self.ids.get(&key) {
            *id
        } else {
            let id = FileId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
            let mut file = self.known.remove(&key).unwrap_or_default();
            file.settle();
            self.names.push((key, file));
            self.ids.insert(key, id);
            id
        };
        self.recent = Some((key, id));
        id
    }

    fn sizes(&mut self, file: FileId) -> &mut Sizes {
        &mut self.names[file.0 as usize].1.sizes
    }

    fn step(&mut self, event: &Event) {
        let file = self.file((event.device, event.inode));
        match event.kind {
            Kind::GetPages => {
                let last = event.extent.max(event.index);
                self.read(event, file, CacheEvent::Read, pages(event.index, last));
            }
            Kind::Splice => self.read(event, file, CacheEvent::Splice, (event.index, event.extent)),
            Kind::Fault => {
                self.mapped.add(file, event.index, event.index);
                self.demand(event, file, CacheEvent::Fault, pages(event.index, event.index));
            }
            Kind::Touch => {
                if self.mapped.is_touched_again(event.time_ns, file, event.index) {
                    self.touch(event, file);
                }
            }
            Kind::MapPages => {
                let last = event.extent.max(event.index);
                self.mapped.add(file, event.index, last);
                self.demand(event, file, CacheEvent::Map, pages(event.index, last));
            }
            Kind::Write => self.write(event, file),
            Kind::Read => self.demand(event, file, CacheEvent::Read, (event.index, event.extent)),
            Kind::Add | Kind::Delete => self.kernel(event, file),
            Kind::Advise => self.advise(event, file, (0, event.extent), CacheEvent::Advise),
            Kind::Prefetch => self.prefetch(event, file),
        }
    }

    fn read(&mut self, event: &Event, file: FileId, op: CacheEvent, range: (u64, u64)) {
        let (offset, bytes) = range;
        let first = offset / PAGE_BYTES;
        let last = offset.saturating_add(bytes.max(1) - 1) / PAGE_BYTES;
        let task = self.tasks.of(event.task);
        if let Some((before, from, to, _)) = &mut task.last
            && *before == file
            && *to == last
            && (*from + 1..=last).contains(&first)
        {
            // The kernel hands a long read over in batches; the first event had all of it.
            *from = first;
            return;
        }
        let start = task.request_start(file, first, last);
        task.read_pages = last - start + 1;
        self.demand(event, file, op, if start < first { pages(start, last) } else { range });
    }

    fn write(&mut self, event: &Event, file: FileId) {
        let end = event.index.saturating_add(event.extent);
        let task = self.tasks.of(event.task);
        if let Some((before, from, to)) = &mut task.written
            && *before == file
            && *to == end
            && (*from + 1..end).contains(&event.index)
        {
            // A long write goes folio by folio, and at each ext4 names all that is left.
            *from = event.index;
            return;
        }
        task.written = Some((file, event.index, end));
        self.sizes(file).grow(event.time_ns, end);
        self.demand(event, file, CacheEvent::Write, (event.index, event.extent));
    }

    fn demand(&mut self, event: &Event, file: FileId, op: CacheEvent, range: (u64, u64)) {
        let (offset, length) = range;
        let size = self.sizes(file).at(event.time_ns, offset.saturating_add(1));
        let clipped =
            if op == CacheEvent::Write { length } else { length.min(size.saturating_sub(offset)) };
        let length_bytes = u32::try_from(if size == 0 { length } else { clipped });
        let request = self.requests;
        self.requests = self.requests.wrapping_add(1);
        let record = Record {
            time_ns: i64::try_from(event.time_ns.saturating_sub(self.start_ns)).unwrap_or(i64::MAX),
            offset_bytes: offset,
            file_bytes: size,
            length_bytes: length_bytes.unwrap_or(u32::MAX),
            file,
            task: event.task,
            request,
            op,
        };
        let last = offset.saturating_add(length.max(1)) - 1;
        let demanded = (file, offset / PAGE_BYTES, last / PAGE_BYTES, request);
        self.settle(event.task, Some(demanded));
        self.tasks.of(event.task).last = Some(demanded);
        self.keep_sampled(record);
    }

    /// Behind the end of the file there is nothing to bring.
    fn prefetch(&mut self, event: &Event, file: FileId) {
        let size = self.sizes(file).at(event.time_ns, 0);
        let end = event.index.saturating_add(event.extent).min(size);
        let bytes = end.saturating_sub(event.index);
        if bytes > 0 {
            self.advise(event, file, (event.index, bytes), CacheEvent::Prefetch);
        }
    }

    fn advise(&mut self, event: &Event, file: FileId, range: (u64, u64), op: CacheEvent) {
        let file_bytes = self.sizes(file).at(event.time_ns, 0);
        let record = self.at_last_request(event, file, range, op);
        self.keep(Record { file_bytes, ..record });
    }

    /// A folio came or went. Whether it was asked for shows at the next demand of the task.
    fn kernel(&mut self, event: &Event, file: FileId) {
        let op = if event.kind == Kind::Add { CacheEvent::Readahead } else { CacheEvent::Evict };
        let offset_bytes = event.index.saturating_mul(PAGE_BYTES);
        let range = (offset_bytes, PAGE_BYTES << event.extent.min(18));
        let file_bytes = self.sizes(file).at(event.time_ns, offset_bytes.saturating_add(1));
        let record = self.at_last_request(event, file, range, op);
        self.keep_sampled(Record { file_bytes, ..record });
    }

    /// A record that is no request, with the number of the task's last one.
    fn at_last_request(
        &mut self,
        event: &Event,
        file: FileId,
        (offset_bytes, bytes): (u64, u64),
        op: CacheEvent,
    ) -> Record {
        let last = self.tasks.of(event.task).last;
        Record {
            time_ns: i64::try_from(event.time_ns.saturating_sub(self.start_ns)).unwrap_or(i64::MAX),
            offset_bytes,
            file_bytes: 0,
            length_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            file,
            task: event.task,
            request: last.map_or(self.requests, |(.., request)| request),
            op,
        }
    }

    /// Tells the pending fills of a task apart.
    fn settle(&mut self, task: u32, next: Option<Demand>) {
        let task = self.tasks.of(task);
        for number in task.pending.drain(..) {
            if let Some(record) = self.records.get_mut(number) {
                tell_apart(record, [task.last, next]);
            }
        }
    }

    fn settle_all(&mut self) {
        for task in self.tasks.numbers() {
            self.settle(task, None);
        }
    }
}

/// Offset and length in bytes of a range of pages.
fn pages(first: u64, last: u64) -> (u64, u64) {
    let count = last.saturating_sub(first).saturating_add(1);
    (first.saturating_mul(PAGE_BYTES), count.saturating_mul(PAGE_BYTES))
}

#[cfg(test)]
mod tests;
