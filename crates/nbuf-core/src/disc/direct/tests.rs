//! A disc without the page cache, against a vector: with calls that are short, late, broken off or refused, and with
//! the kernel's.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use rustix::event::{EventfdFlags, eventfd};

use super::mover::Call;
use super::{Direct, Mover, Ring, SLOT_BYTES, Threads};
use crate::clock::{Random, Stopwatch};
use crate::disc::{Completion, Disc, wait_for};
use crate::sys::cache::{drop_pages, resident_map};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Moves blocks as a kernel may that is in a bad mood.
struct Moody {
    file: File,
    unit: u64,
    slots: Vec<Vec<u8>>,
    pending: Vec<(u32, Call)>,
    random: Random,
    /// Whether calls may be short or broken off.
    is_short: bool,
    /// The call that fails, counted down.
    fails: Option<u64>,
    ready: OwnedFd,
}

impl Moody {
    fn new(file: &File, unit: u64, slots: u32, seed: u64) -> Self {
        Self {
            file: file.try_clone().unwrap(),
            unit,
            slots: vec![vec![0xEE; SLOT_BYTES]; slots as usize],
            pending: Vec::new(),
            random: Random::new(seed),
            is_short: false,
            fails: None,
            ready: eventfd(1, EventfdFlags::CLOEXEC).unwrap(),
        }
    }

    fn serve(&mut self, slot: u32, call: Call) -> io::Result<u32> {
        let length = u64::from(call.length);
        for bytes in [length, call.offset, call.begin as u64] {
            assert_eq!(bytes % self.unit, 0, "{call:?}");
        }
        if let Some(left) = &mut self.fails {
            *left = left.wrapping_sub(1);
            if *left == u64::MAX {
                return Err(io::Error::from_raw_os_error(libc::EIO));
            }
        }
        let mut length = length;
        if self.is_short {
            match self.random.below(6) {
                0 => return Err(io::ErrorKind::Interrupted.into()),
                // Where a device broke off, which is at its blocks, or within a block.
                1 if length > self.unit => {
                    length = self.unit * (1 + self.random.below(length / self.unit));
                }
                2 if length > self.unit => {
                    length = self.unit + self.random.below(length - self.unit);
                }
                _ => {}
            }
        }
        let part = call.begin..call.begin + usize::try_from(length).unwrap();
        let part = &mut self.slots[slot as usize][part];
        let moved = if call.writes {
            let end = self.file.metadata().unwrap().len();
            assert!(call.offset + u64::from(call.length) <= end, "the file grows: {call:?}");
            self.file.write_at(part, call.offset)?
        } else {
            self.file.read_at(part, call.offset)?
        };
        Ok(u32::try_from(moved).unwrap())
    }
}

impl Mover for Moody {
    fn put(&mut self, slot: u32, at: usize, data: &[u8]) {
        assert!(self.pending.iter().all(|(other, _)| *other != slot));
        self.slots[slot as usize][at..at + data.len()].copy_from_slice(data);
    }

    fn get(&self, slot: u32, at: usize, data: &mut [u8]) {
        data.copy_from_slice(&self.slots[slot as usize][at..at + data.len()]);
    }

    fn begin(&mut self, slot: u32, call: Call) {
        assert!(self.pending.iter().all(|(other, _)| *other != slot), "one call a slot");
        self.pending.push((slot, call));
    }

    fn submit(&mut self) {}

    fn take(&mut self) -> Vec<(u32, io::Result<u32>)> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        let at = usize::try_from(self.random.below(self.pending.len() as u64)).unwrap();
        let (slot, call) = self.pending.swap_remove(at);
        vec![(slot, self.serve(slot, call))]
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }

    fn abandon(&mut self) {}
}

fn file_of(data: &[u8]) -> File {
    let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.write_all_at(data, 0).unwrap();
    file
}

fn over(mover: Box<dyn Mover>, slots: u32, file: &File, unit: u64) -> Direct {
    let size_bytes = file.metadata().unwrap().len();
    let file = file.try_clone().unwrap();
    Direct::new((mover, slots), file, (unit, size_bytes), Stopwatch::start()).unwrap()
}

/// Requests side by side whose bytes do not overlap, though their blocks do; `check` sees each completion with what
/// the model had before.
fn round(
    disc: &mut Direct,
    model: &mut [u8],
    random: &mut Random,
    check: &mut dyn FnMut(&Completion, &[u8]),
) {
    let (size, mut at) = (model.len() as u64, random.below(3000));
    let before = model.to_vec();
    let mut count = 0;
    while at < size {
        let most = if random.below(8) == 0 { 3 * SLOT_BYTES as u64 } else { 6000 };
        let length = (1 + random.below(most)).min(size - at);
        let range = usize::try_from(at).unwrap()..usize::try_from(at + length).unwrap();
        let (op, zeros) = match random.below(8) {
            0..3 => (Op::Read, false),
            3..6 => (Op::Write, false),
            6 => (Op::Discard, true),
            _ => (Op::Flush, false),
        };
        let value = u8::try_from(1 + random.below(200)).unwrap();
        let data = match op {
            Op::Read => vec![0; range.len()],
            Op::Write => vec![value; range.len()],
            _ => Vec::new(),
        };
        match op {
            Op::Write => model[range].fill(value),
            Op::Discard => model[range].fill(0),
            _ => {}
        }
        let length = if op == Op::Flush { 0 } else { length };
        let request = Request { zeros, task: count, ..Request::new(op, at, length) };
        let request = Request { durable: random.below(9) == 0 && op == Op::Write, ..request };
        disc.submit(Nanos::ZERO, request, data);
        count += 1;
        at += length + random.below(2) * random.below(700);
    }
    let mut seen = vec![false; count as usize];
    for _ in 0..count {
        let done = disc.next_completion(Nanos::MAX).expect("all complete");
        assert!(!std::mem::replace(&mut seen[done.request.task as usize], true));
        check(&done, &before);
    }
    assert_eq!((disc.under_way(), disc.next_completion(Nanos::MAX)), (0, None));
}

fn is_as_it_was(done: &Completion, before: &[u8]) {
    assert_eq!(done.outcome, Ok(()), "{:?}", done.request);
    if done.request.op == Op::Read {
        let at = usize::try_from(done.request.offset).unwrap();
        assert!(done.data == before[at..at + done.data.len()], "{:?}", done.request);
    }
}

#[test]
fn bytes_are_those_of_a_vector_however_calls_end() {
    for (unit, size, slots) in [(512, 300_000, 3), (4096, 300_001, 5), (4096, 1 << 20, 1)] {
        let mut model: Vec<u8> = (0..size).map(|byte| u8::try_from(byte % 249).unwrap()).collect();
        let file = file_of(&model);
        let moody = Moody { is_short: true, ..Moody::new(&file, unit, slots, 7) };
        let mut disc = over(Box::new(moody), slots, &file, unit);
        let mut random = Random::new(unit + size);
        for _ in 0..40 {
            round(&mut disc, &mut model, &mut random, &mut is_as_it_was);
        }
        drop(disc);
        let mut found = vec![0; model.len() + 1];
        assert_eq!(file.read_at(&mut found, 0).unwrap(), model.len(), "its length stays");
        assert!(found[..model.len()] == model, "unit {unit}, {size} B");
    }
}

/// One call fails, each in its turn: its request alone has an error, and no byte of another changes.
#[test]
fn an_error_is_of_its_request_alone() {
    for nth in 0.. {
        let mut model = vec![3; 60_000];
        let file = file_of(&model);
        let moody = Moody { fails: Some(nth), ..Moody::new(&file, 4096, 4, nth) };
        let mut disc = over(Box::new(moody), 4, &file, 4096);
        let mut failed = None;
        let mut random = Random::new(4);
        round(&mut disc, &mut model, &mut random, &mut |done, before| match &done.outcome {
            Err(error) => {
                assert!(error.to_string().contains("os error 5"), "{error}");
                assert_eq!(failed.replace(done.request), None);
            }
            Ok(()) => is_as_it_was(done, before),
        });
        let mut found = vec![0; model.len()];
        file.read_exact_at(&mut found, 0).unwrap();
        let Some(request) = failed else {
            assert!(nth > 10 && found == model);
            return;
        };
        let range = request.offset..request.offset + request.length_bytes;
        for (at, (found, wanted)) in found.iter().zip(&model).enumerate() {
            assert!(found == wanted || range.contains(&(at as u64)), "call {nth}: byte {at}");
        }
        // The disc goes on.
        let mut now = found;
        round(&mut disc, &mut now, &mut random, &mut is_as_it_was);
    }
}

#[test]
fn what_the_kernel_refuses_is_an_error() {
    let file = file_of(&[1; 16_384]);
    let mut disc = over(Box::new(Moody::new(&file, 4096, 2, 1)), 2, &file, 4096);
    let ask = |disc: &mut Direct, op, offset, length: usize| {
        let request = Request::new(op, offset, length as u64);
        wait_for(disc, Nanos::ZERO, request, vec![9; length]).unwrap().outcome
    };
    assert!(
        ask(&mut disc, Op::Read, 16_000, 385).unwrap_err().to_string().contains("past the end")
    );
    assert_eq!(ask(&mut disc, Op::Write, 5, 0), Ok(()));
    file.set_len(8192 + 100).unwrap();
    assert_eq!(ask(&mut disc, Op::Read, 8000, 200), Ok(()));
    for offset in [8192 + 50, 12_288] {
        let error = ask(&mut disc, Op::Read, offset, 4096).unwrap_err().to_string();
        assert!(error.contains("the disc has become smaller"), "{error}");
    }
}

/// The ring of the kernel, and threads, on a file system with a disc: no page of the file is in the page cache then.
#[test]
fn the_kernel_keeps_no_copy() {
    let place = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = place.path().join("disc");
    for (kind, size) in [("ring", 1 << 20), ("threads", 1 << 20), ("ring", (1 << 20) + 700)] {
        let mut model: Vec<u8> = (0..size).map(|byte| u8::try_from(byte % 251).unwrap()).collect();
        std::fs::write(&path, &model).unwrap();
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        file.sync_all().unwrap();
        drop_pages(&file).unwrap();
        let mut options = OpenOptions::new();
        let direct = options.read(true).write(true).custom_flags(libc::O_DIRECT).open(&path);
        let Ok(direct) = direct else { return }; // a file system that is all cache
        let is_direct = resident_map(&file).unwrap().iter().all(|&is_there| !is_there);
        let mover: Box<dyn Mover> = match kind {
            "threads" => Box::new(Threads::new(direct, 4).unwrap()),
            _ => match Ring::new(direct, 4) {
                Ok(ring) => Box::new(ring),
                Err(_) => continue, // a kernel or a sandbox without rings
            },
        };
        let mut disc = over(mover, 4, &file, 4096);
        let mut random = Random::new(8);
        for _ in 0..20 {
            round(&mut disc, &mut model, &mut random, &mut is_as_it_was);
        }
        let read = Request::new(Op::Read, 0, size);
        let whole = vec![0; model.len()];
        assert!(wait_for(&mut disc, Nanos::ZERO, read, whole).unwrap().data == model, "{kind}");
        // Zeros of parts of blocks, and the last part of a file, went through the page cache: they are dropped here.
        drop_pages(&file).unwrap();
        wait_for(&mut disc, Nanos::ZERO, Request::new(Op::Flush, 0, 0), Vec::new());
        drop_pages(&file).unwrap();
        let read = Request::new(Op::Read, 0, size);
        wait_for(&mut disc, Nanos::ZERO, read, vec![0; model.len()]).unwrap().outcome.unwrap();
        let resident = resident_map(&file).unwrap().into_iter().filter(|&is_there| is_there);
        assert!(!is_direct || resident.count() == 0, "{kind}, {size} B: a second copy");
        drop(disc);
        assert!(std::fs::read(&path).unwrap() == model, "{kind}");
    }
}
