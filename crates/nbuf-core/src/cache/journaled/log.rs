//! The ring of a journal: which records are where, which are safe, and what the next one has.
//!
//! Invariant: a record begins behind the one before it, or at the beginning of the ring, and never in one that the last
//! safe checkpoint needs.

use std::collections::VecDeque;

use super::note::{NOTE_BYTE, Note};
use super::owed::{Content, Extent};
use super::record::{Checkpoint, ENTRIES_MAX, Head, PAGE_BYTES, record_of};

/// The most bytes of a record.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// A part of a request that no record has yet.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) pending: u32,
    pub(super) number: u64,
    offset: u64,
    length: u64,
    content: Content,
}

impl Part {
    fn data_bytes(&self) -> u64 {
        if matches!(self.content, Content::Data(_)) { self.length } else { 0 }
    }

    /// What the record of this number has of it.
    pub(super) fn extent(&self, seq: u64) -> Extent {
        let (begins, ends) = (self.offset, self.offset + self.length);
        Extent { begins, ends, seq, content: self.content.clone() }
    }
}

/// A record in the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    pub(super) seq: u64,
    pub(super) place: u64,
    pub(super) size: u64,
}

/// What the journal does.
#[derive(Debug)]
pub(super) enum Step {
    Record(Vec<Part>),
    /// With the last part and the last record that are safe then.
    Flush {
        part: u64,
        seq: u64,
    },
    /// The note behind a flush, with the last part that is safe.
    Note(u64),
    /// With the last record that is not needed any more.
    Checkpoint(u64),
}

/// The journal.
#[derive(Debug)]
pub(super) struct Log {
    checkpoint: Checkpoint,
    /// The most bytes of a part, and of the data of a record.
    data_bytes_max: u64,
    /// Where the next record begins, if it fits there.
    head: u64,
    /// Records that the checkpoint needs, the oldest one first; the last one may be on its way.
    live: VecDeque<Live>,
    pub(super) queue: VecDeque<Part>,
    pub(super) step: Option<Step>,
    /// The last part: that came, that a record has, that is safe.
    pub(super) enqueued: u64,
    pub(super) written: u64,
    pub(super) synced: u64,
    /// The last record: that is there, that is safe, that the backing has.
    pub(super) written_seq: u64,
    pub(super) synced_seq: u64,
    gone_seq: u64,
}

impl Log {
    /// A journal with these records, which are safe. The backing has those up to this number.
    pub(super) fn new(checkpoint: Checkpoint, live: VecDeque<Live>, gone_seq: u64) -> Self {
        let most = (checkpoint.ring_bytes / 4).min(RECORD_BYTES_MAX);
        let before = checkpoint.seq.saturating_sub(1);
        let (last, head) = match live.back() {
            Some(live) => (live.seq, live.place + live.size),
            None => (before, checkpoint.place),
        };
        Self {
            data_bytes_max: (most / PAGE_BYTES * PAGE_BYTES).max(PAGE_BYTES),
            head,
            live,
            queue: VecDeque::new(),
            step: None,
            enqueued: 0,
            written: 0,
            synced: 0,
            written_seq: last,
            synced_seq: last,
            gone_seq: gone_seq.max(before),
            checkpoint,
        }
    }

    /// Whether records are there that are not safe.
    pub(super) fn is_unsynced(&self) -> bool {
        self.written_seq > self.synced_seq
    }

    /// The backing has what records up to this one have.
    pub(super) fn gone(&mut self, seq: u64) {
        self.gone_seq = self.gone_seq.max(seq);
    }

    /// Takes in a request, in parts that fit into records. How many parts that are.
    pub(super) fn enqueue(
        &mut self,
        pending: u32,
        (offset, length): (u64, u64),
        content: &Content,
    ) -> u32 {
        let is_data = matches!(content, Content::Data(_));
        let most = if is_data { self.data_bytes_max } else { length };
        let (mut at, mut parts) = (0, 0);
        while at < length {
            self.enqueued += 1;
            let (number, length) = (self.enqueued, most.min(length - at));
            let content = content.skip(at);
            self.queue.push_back(Part { pending, number, offset: offset + at, length, content });
            (at, parts) = (at + length, parts + 1);
        }
        parts
    }

    /// How many parts the next record has, and its size.
    fn next_size(&self) -> (usize, u64) {
        let (mut count, mut data_bytes) = (0, 0);
        for part in &self.queue {
            let more = part.data_bytes();
            if count == ENTRIES_MAX || count > 0 && data_bytes + more > self.data_bytes_max {
                break;
            }
            (count, data_bytes) = (count + 1, data_bytes + more);
        }
        (count, PAGE_BYTES + data_bytes.next_multiple_of(PAGE_BYTES))
    }

    /// Where a record of this size fits, if it does.
    fn place_for(&self, size: u64) -> Option<u64> {
        let (head, ring) = (self.head, self.checkpoint.ring_bytes);
        let Some(oldest) = self.live.front() else {
            return Some(if head + size <= ring { head } else { 0 });
        };
        if head > oldest.place {
            // The free rooms are behind the newest record, and before the oldest one.
            let is_behind = head + size <= ring;
            return if is_behind { Some(head) } else { (size <= oldest.place).then_some(0) };
        }
        (head + size <= oldest.place).then_some(head)
    }

    /// Whether parts wait that the ring has no room for.
    pub(super) fn is_full(&self) -> bool {
        !self.queue.is_empty() && self.place_for(self.next_size().1).is_none()
    }

    /// Whether the next checkpoint makes room.
    pub(super) fn has_gone(&self) -> bool {
        self.live.front().is_some_and(|live| live.seq <= self.gone_seq)
    }

    /// Whether records take half of the ring.
    pub(super) fn is_half_full(&self) -> bool {
        let used: u64 = self.live.iter().map(|live| live.size).sum();
        used > self.checkpoint.ring_bytes / 2
    }

    /// The next record, if there is one and the ring has room: its place and its bytes.
    pub(super) fn next_record(&mut self) -> Option<(u64, Vec<u8>)> {
        if self.queue.is_empty() {
            return None;
        }
        let (count, size) = self.next_size();
        let place = self.place_for(size)?;
        let parts: Vec<Part> = self.queue.drain(..count).collect();
        let seq = self.written_seq + 1;
        let head = Head {
            generation: self.checkpoint.generation,
            seq,
            synced: self.synced_seq,
            place,
            owner_sum: self.checkpoint.owner_sum(),
            ..Head::default()
        };
        let extents: Vec<Extent> = parts.iter().map(|part| part.extent(seq)).collect();
        self.live.push_back(Live { seq, place, size });
        self.head = place + size;
        self.step = Some(Step::Record(parts));
        Some((place, record_of(&head, &extents)))
    }

    /// The note that records up to this one are safe, and parts up to this one: its place in the journal and its bytes.
    pub(super) fn next_note(&mut self, part: u64, seq: u64) -> (u64, Vec<u8>) {
        self.synced_seq = seq;
        self.step = Some(Step::Note(part));
        let (generation, owner_sum) = (self.checkpoint.generation, self.checkpoint.owner_sum());
        (NOTE_BYTE, Note { generation, owner_sum, synced: seq }.to_bytes())
    }

    /// The next checkpoint, if it lets go of records: its place in the journal and its bytes.
    pub(super) fn next_checkpoint(&mut self) -> Option<(u64, Vec<u8>)> {
        if !self.has_gone() {
            return None;
        }
        let next = self.live.iter().find(|live| live.seq > self.gone_seq);
        self.checkpoint.place = next.map_or(self.head, |live| live.place);
        self.checkpoint.seq = self.gone_seq + 1;
        self.checkpoint.number += 1;
        self.step = Some(Step::Checkpoint(self.gone_seq));
        Some((self.checkpoint.byte(), self.checkpoint.to_bytes()))
    }

    /// A checkpoint is safe that does not need records up to this one.
    pub(super) fn forget(&mut self, seq: u64) {
        while self.live.pop_front_if(|live| live.seq <= seq).is_some() {}
    }

    /// Whether no record is needed, and none is to come.
    pub(super) fn is_empty(&self) -> bool {
        self.live.is_empty() && self.queue.is_empty()
    }
}
