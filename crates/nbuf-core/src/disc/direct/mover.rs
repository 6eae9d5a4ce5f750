//! What moves blocks between slots of memory and a file: a ring of the kernel, or threads.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};

use super::SLOT_BYTES;
pub(crate) use super::piece::Call;
use crate::sys::calls::{pread, pwritev2};
use crate::sys::file_ring::{FileRing, Setup, Transfer};
use crate::sys::room::{PageKind, Room};

/// Moves blocks. A slot has one call at a time. Another thread may close it.
pub(crate) trait Mover: Send {
    /// Copies bytes into a slot that has no call.
    fn put(&mut self, slot: u32, at: usize, data: &[u8]);
    /// Copies bytes out of one.
    fn get(&self, slot: u32, at: usize, data: &mut [u8]);
    /// Begins a call, with the next [`submit`](Self::submit) at the latest.
    fn begin(&mut self, slot: u32, call: Call);
    /// Hands the calls over.
    fn submit(&mut self);
    /// Slots whose calls came back, and how much they moved. It waits for nothing.
    fn take(&mut self) -> Vec<(u32, io::Result<u32>)>;
    /// Readable when something came back.
    fn as_fd(&self) -> BorrowedFd<'_>;
    /// Waits for no call when it is dropped. Each one keeps its memory.
    fn abandon(&mut self);
}

fn wake() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

fn clear(wake: &OwnedFd) {
    let _ = rustix::io::read(wake, &mut [0; 8]);
}

/// By `io_uring`.
#[derive(Debug)]
pub(crate) struct Ring {
    kernel: FileRing,
    wake: OwnedFd,
    /// Calls that found no room in the ring.
    refused: Vec<(u32, io::Error)>,
}

impl Ring {
    /// With this many slots.
    ///
    /// # Errors
    /// `ENOSYS` or `EPERM` where the kernel or an administrator has none.
    pub(crate) fn new(file: File, slots: u32) -> io::Result<Self> {
        let setup = Setup { depth: slots, ..Setup::default() };
        let kernel = FileRing::new(file, SLOT_BYTES * slots as usize, setup)?;
        let wake = wake()?;
        kernel.wake_by(wake.as_fd())?;
        Ok(Self { kernel, wake, refused: Vec::new() })
    }
}

impl Mover for Ring {
    fn put(&mut self, slot: u32, at: usize, data: &[u8]) {
        self.kernel.copy_in(slot as usize * SLOT_BYTES + at, data);
    }

    fn get(&self, slot: u32, at: usize, data: &mut [u8]) {
        self.kernel.copy_out(slot as usize * SLOT_BYTES + at, data);
    }

    fn begin(&mut self, slot: u32, call: Call) {
        let transfer = Transfer {
            writes: call.writes,
            durable: call.durable,
            begin: slot as usize * SLOT_BYTES + call.begin,
            length: call.length,
            offset_bytes: call.offset,
            tag: slot.into(),
        };
        if let Err(error) = self.kernel.push(transfer) {
            self.refused.push((slot, error));
        }
    }

    fn submit(&mut self) {
        // What the kernel has no room for now goes with the next look.
        let _ = self.kernel.submit();
    }

    fn take(&mut self) -> Vec<(u32, io::Result<u32>)> {
        clear(&self.wake);
        let mut came: Vec<_> =
            self.refused.drain(..).map(|(slot, error)| (slot, Err(error))).collect();
        let tag = |tag: u64| u32::try_from(tag).unwrap_or(u32::MAX);
        self.kernel.take(|slot, moved| came.push((tag(slot), moved)));
        if self.kernel.has_unsubmitted() {
            self.submit();
        }
        came
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    fn abandon(&mut self) {
        self.kernel.abandon();
    }
}

/// A call and its slot's memory, on the way to a thread; and back, with what it moved.
type Sent = (u32, Room, Call);
type Back = (u32, Room, io::Result<u32>);

/// By threads, one for each slot.
#[derive(Debug)]
pub(crate) struct Threads {
    slots: Vec<Option<Room>>,
    calls: Option<Sender<Sent>>,
    came: Receiver<Back>,
    workers: Vec<JoinHandle<()>>,
    wake: OwnedFd,
}

impl Threads {
    /// With this many slots.
    pub(crate) fn new(file: File, slots: u32) -> io::Result<Self> {
        let (calls, queue) = channel::<Sent>();
        let (back, came) = channel();
        let (file, queue, wake) = (Arc::new(file), Arc::new(Mutex::new(queue)), wake()?);
        let rooms = (0..slots).map(|_| Room::new(SLOT_BYTES, PageKind::Any).map(Some));
        let slots = rooms.collect::<io::Result<Vec<_>>>()?;
        let mut this = Self { slots, calls: Some(calls), came, workers: Vec::new(), wake };
        for _ in 0..this.slots.len() {
            let (file, queue, back) = (file.clone(), queue.clone(), back.clone());
            let wake = this.wake.try_clone()?;
            let work = move || {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((slot, mut room, call)) = next else { return };
                    let moved = serve(&file, &mut room, call);
                    if back.send((slot, room, moved)).is_err() {
                        return;
                    }
                    let _ = rustix::io::write(&wake, &1_u64.to_ne_bytes());
                }
            };
            let thread = std::thread::Builder::new().name("direct".to_owned());
            this.workers.push(thread.spawn(work)?);
        }
        Ok(this)
    }
}

fn serve(file: &File, room: &mut Room, call: Call) -> io::Result<u32> {
    let part = &mut room.bytes_mut()[call.begin..call.begin + call.length as usize];
    let moved = if call.writes {
        let flags = if call.durable { libc::RWF_DSYNC } else { 0 };
        pwritev2(file, part, call.offset, flags)?
    } else {
        pread(file, part, call.offset)?
    };
    Ok(u32::try_from(moved).unwrap_or(u32::MAX))
}

impl Mover for Threads {
    fn put(&mut self, slot: u32, at: usize, data: &[u8]) {
        if let Some(room) = &mut self.slots[slot as usize] {
            room.bytes_mut()[at..at + data.len()].copy_from_slice(data);
        }
    }

    fn get(&self, slot: u32, at: usize, data: &mut [u8]) {
        if let Some(room) = &self.slots[slot as usize] {
            data.copy_from_slice(&room.bytes()[at..at + data.len()]);
        }
    }

    fn begin(&mut self, slot: u32, call: Call) {
        if let (Some(calls), Some(room)) = (&self.calls, self.slots[slot as usize].take()) {
            let _ = calls.send((slot, room, call));
        }
    }

    fn submit(&mut self) {}

    fn take(&mut self) -> Vec<(u32, io::Result<u32>)> {
        clear(&self.wake);
        let came = self.came.try_iter().map(|(slot, room, moved)| {
            self.slots[slot as usize] = Some(room);
            (slot, moved)
        });
        came.collect()
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    fn abandon(&mut self) {
        self.workers.clear();
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.calls = None;
        for thread in self.workers.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disc::is_dropped;

    /// A read of a pipe that gets nothing does not come back.
    #[test]
    fn an_abandoned_ring_waits_for_no_call() {
        let (pipe, other_end) = rustix::pipe::pipe().unwrap();
        // A kernel or a sandbox without rings.
        let Ok(mut ring) = Ring::new(File::from(pipe), 2) else { return };
        let call = Call { writes: false, durable: false, begin: 0, length: 4096, offset: 0 };
        ring.begin(1, call);
        ring.submit();
        assert!(ring.take().is_empty() && ring.kernel.under_way() == 1);
        ring.abandon();
        assert!(is_dropped(ring));
        drop(other_end);
    }

    /// One of them does not come back. A pipe takes no read at a place of a file, so it is one that waits for this test.
    #[test]
    fn abandoned_threads_are_not_waited_for() {
        let mut threads = Threads::new(tempfile::tempfile().unwrap(), 1).unwrap();
        let (back, blocked) = channel::<()>();
        threads.workers.push(std::thread::spawn(move || {
            let _ = blocked.recv();
        }));
        threads.abandon();
        assert!(is_dropped(threads));
        drop(back);
    }
}
