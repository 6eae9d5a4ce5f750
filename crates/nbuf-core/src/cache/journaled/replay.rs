//! After a stop: what a journal owes.
//!
//! Records count from the checkpoint on, as long as each is whole and follows the one before it. What comes behind the
//! first torn one was never promised. A record that was safe and is torn now is damage, and not the end. Two things show
//! that it was safe: a later record, and the note behind the last flush. Neither shows it of the last flushed record if a
//! power cut took the note and that record is damaged too.

use std::collections::VecDeque;

use super::log::Live;
use super::note::{NOTE_BYTE, Note};
use super::owed::{Extent, Owed};
use super::record::{Checkpoint, Head, PAGE_BYTES, RING_BYTE};
use super::writes::Refused;

/// Bytes of a page.
const PAGE: usize = 4096;
/// No ring is larger.
const RING_BYTES_MAX: u64 = 1 << 40;

/// What a journal has.
#[derive(Clone, Debug)]
pub(crate) struct Replayed {
    /// The checkpoint that counts.
    pub(crate) checkpoint: Checkpoint,
    /// What the disc may lack.
    pub(crate) owed: Owed,
    /// The records that count, in their order.
    pub(super) live: VecDeque<Live>,
    /// The last record whose bytes the disc has, and those of all before it.
    pub(super) gone_seq: u64,
    /// Where in the journal records of the same run begin that came too late to count.
    late: Vec<u64>,
}

impl Replayed {
    /// The number of the last record that counts.
    pub(super) fn last_seq(&self) -> u64 {
        self.live.back().map_or(self.checkpoint.seq.saturating_sub(1), |live| live.seq)
    }

    /// Where pages of the journal are that must go before its run goes on: they would count behind new records.
    pub(crate) fn late(&self) -> &[u64] {
        &self.late
    }

    /// The disc has all except what it refused.
    pub(crate) fn settle(&mut self, refused: &Refused) {
        let last = self.last_seq();
        self.owed.forget_except(last, &refused.ranges);
        self.gone_seq = refused.oldest.map_or(last, |oldest| oldest.saturating_sub(1));
    }
}

impl From<Checkpoint> for Replayed {
    /// A journal that owes nothing.
    fn from(checkpoint: Checkpoint) -> Self {
        let (owed, live, late) = Default::default();
        Self { checkpoint, owed, live, gone_seq: 0, late }
    }
}

/// Why it is unknown what a journal owes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplayError {
    /// It cannot be read.
    #[error("{0}")]
    Read(String),
    /// No checkpoint is whole, or a record that was safe is not.
    #[error("a part of it that was safe is damaged or missing")]
    Damaged,
}

/// Reads bytes of a journal from a byte on, all of them; or says why not.
pub(crate) type ReadAt<'a> = dyn FnMut(u64, &mut [u8]) -> Result<(), String> + 'a;

/// Reads what a journal owes.
pub(crate) fn replay(read: &mut ReadAt<'_>) -> Result<Replayed, ReplayError> {
    let mut found: Option<Checkpoint> = None;
    let mut page = vec![0; PAGE];
    for slot in 0..2 {
        read(PAGE_BYTES * (1 + slot), &mut page).map_err(ReplayError::Read)?;
        let checkpoint = Checkpoint::of_bytes(&page).filter(|found| found.number % 2 == slot);
        let number = found.as_ref().map(|found| found.number);
        if let Some(checkpoint) = checkpoint.filter(|new| Some(new.number) > number) {
            found = Some(checkpoint);
        }
    }
    let is_possible = |found: &Checkpoint| {
        found.ring_bytes <= RING_BYTES_MAX && found.place <= found.ring_bytes && found.seq > 0
    };
    let checkpoint = found.filter(is_possible).ok_or(ReplayError::Damaged)?;
    let mut replayed = Replayed::from(checkpoint.clone());
    let mut reader = Reader { read, checkpoint: &checkpoint };
    let (mut seq, mut place) = (checkpoint.seq, checkpoint.place);
    while let Some((head, extents)) = reader.next(place, seq)? {
        replayed.live.push_back(Live { seq, place: head.place, size: head.size() });
        place = head.place + head.size();
        seq += 1;
        for extent in extents {
            replayed.owed.put(extent);
        }
    }
    replayed.late = reader.late(seq, &replayed.live)?;
    Ok(replayed)
}

/// Reads records.
struct Reader<'a, 'b> {
    read: &'a mut ReadAt<'b>,
    checkpoint: &'a Checkpoint,
}

impl Reader<'_, '_> {
    fn page(&mut self, byte: u64) -> Result<Vec<u8>, ReplayError> {
        let mut page = vec![0; PAGE];
        (self.read)(byte, &mut page).map_err(ReplayError::Read)?;
        Ok(page)
    }

    /// The first page of a record at a place, of any run.
    fn any_head(&mut self, place: u64) -> Result<Option<Head>, ReplayError> {
        if place.saturating_add(PAGE_BYTES) > self.checkpoint.ring_bytes {
            return Ok(None);
        }
        let page = self.page(RING_BYTE + place)?;
        Ok(Head::of_bytes(&page).filter(|head| head.place == place))
    }

    /// The first page of a record of this run at a place.
    fn head(&mut self, place: u64) -> Result<Option<Head>, ReplayError> {
        let Checkpoint { ring_bytes, generation, .. } = *self.checkpoint;
        let run = (generation, self.checkpoint.owner_sum());
        Ok(self.any_head(place)?.filter(|head| {
            let is_inside = place.saturating_add(head.size()) <= ring_bytes;
            is_inside && (head.generation, head.owner_sum) == run
        }))
    }

    /// The record of this number, which is whole: at this place, or at the beginning of the ring.
    fn next(&mut self, place: u64, seq: u64) -> Result<Option<(Head, Vec<Extent>)>, ReplayError> {
        for place in [place, 0] {
            let Some(head) = self.head(place)?.filter(|head| head.seq == seq) else { continue };
            let length = usize::try_from(head.data_bytes).unwrap_or(usize::MAX);
            let mut data = vec![0; length];
            let byte = RING_BYTE + place + PAGE_BYTES;
            (self.read)(byte, &mut data).map_err(ReplayError::Read)?;
            if let Some(extents) = head.extents(&data) {
                return Ok(Some((head, extents)));
            }
        }
        Ok(None)
    }

    /// Where records of the same run begin outside of those that count, from this number on.
    ///
    /// # Errors
    /// If the note or a later record shows that the one of this number was safe once.
    fn late(&mut self, seq: u64, live: &VecDeque<Live>) -> Result<Vec<u64>, ReplayError> {
        let note = Note::of_bytes(&self.page(NOTE_BYTE)?);
        if note.is_some_and(|note| self.shows(note, seq)) {
            return Err(ReplayError::Damaged);
        }
        let run = (self.checkpoint.generation, self.checkpoint.owner_sum());
        // Bytes of a client may look like a record.
        let counts = |place: u64| {
            live.iter().any(|live| (live.place..live.place + live.size).contains(&place))
        };
        let (mut late, mut place) = (Vec::new(), 0);
        while place < self.checkpoint.ring_bytes {
            if let Some(head) = self.any_head(place)? {
                let Head { generation, owner_sum, synced, .. } = head;
                if self.shows(Note { generation, owner_sum, synced }, seq) {
                    return Err(ReplayError::Damaged);
                }
                if (generation, owner_sum) == run && head.seq >= seq && !counts(place) {
                    late.push(RING_BYTE + place);
                }
            }
            place += PAGE_BYTES;
        }
        Ok(late)
    }

    /// Whether this is of the same run and shows that the record of this number was safe; or of a later run, whose
    /// checkpoint was safe before.
    fn shows(&self, note: Note, seq: u64) -> bool {
        let Checkpoint { generation, .. } = *self.checkpoint;
        if note.generation == generation {
            return note.owner_sum == self.checkpoint.owner_sum() && note.synced >= seq;
        }
        note.generation > generation && self.checkpoint.is_of_journal(note.owner_sum)
    }
}
