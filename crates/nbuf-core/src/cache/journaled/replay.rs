//! After a stop: what a journal owes, and its way to the disc.
//!
//! Records count from the checkpoint on, as long as each is whole and follows the one before it. What comes behind the
//! first torn one was never promised. A record that was safe and is torn now is damage, and not the end. Two things show
//! that it was safe: a later record, and the note behind the last flush. Neither shows it of the last flushed record if a
//! power cut took the note and that record is damaged too.

use super::back::refused;
use super::note::{NOTE_BYTE, Note};
use super::owed::{Extent, Owed, gather};
use super::record::{Checkpoint, Head, PAGE_BYTES, RING_BYTE};
use crate::disc::{Disc, DiscError, wait_for};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Requests to the disc at once.
const DEPTH: usize = 16;
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
    let mut reader = Reader { read, checkpoint: &checkpoint };
    let mut owed = Owed::default();
    let (mut seq, mut place) = (checkpoint.seq, checkpoint.place);
    while let Some((head, extents)) = reader.next(place, seq)? {
        place = head.place + head.size();
        seq += 1;
        for extent in extents {
            owed.put(extent);
        }
    }
    if reader.misses(seq)? {
        return Err(ReplayError::Damaged);
    }
    Ok(Replayed { checkpoint, owed })
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

    /// Whether the note or a later record shows that the one of this number was safe once.
    fn misses(&mut self, seq: u64) -> Result<bool, ReplayError> {
        let note = Note::of_bytes(&self.page(NOTE_BYTE)?);
        if note.is_some_and(|note| self.shows(note, seq)) {
            return Ok(true);
        }
        let mut place = 0;
        while place < self.checkpoint.ring_bytes {
            if let Some(Head { generation, owner_sum, synced, .. }) = self.any_head(place)?
                && self.shows(Note { generation, owner_sum, synced }, seq)
            {
                return Ok(true);
            }
            place += PAGE_BYTES;
        }
        Ok(false)
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

/// Writes what is owed to the disc, which has it safely then. To do so twice does no harm. Nothing is written to a disc
/// that has no room for all of it.
pub(crate) fn write_back<D: Disc>(
    disc: &mut D,
    owed: &Owed,
    now: &dyn Fn() -> Nanos,
) -> Result<(), DiscError> {
    let gone = || DiscError::Failed { what: "the disc does not answer".to_owned() };
    if let Some((begins, length)) = owed.last() {
        DiscError::check(&Request::new(Op::Write, begins, length), disc.size_bytes())?;
    }
    let mut left = owed.extents();
    let (mut task, mut under_way) = (0, 0);
    let mut failed = None;
    loop {
        while under_way < DEPTH && failed.is_none() {
            let Some((request, data)) = gather(&mut left) else { break };
            disc.submit(now(), Request { task, ..request }, data);
            (task, under_way) = (task + 1, under_way + 1);
        }
        if under_way == 0 {
            break;
        }
        let completion = disc.next_completion(Nanos::MAX).ok_or_else(gone)?;
        under_way -= 1;
        if let Some(error) = refused(completion) {
            failed.get_or_insert(error);
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let flush = Request { task, ..Request::new(Op::Flush, 0, 0) };
    wait_for(disc, now(), flush, Vec::new()).ok_or_else(gone)?.outcome
}
