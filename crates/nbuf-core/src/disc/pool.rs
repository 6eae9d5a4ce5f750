//! A file or a block device that threads read and write, for an owner that waits for a descriptor instead of the disc.
//!
//! Requests run side by side, as many as there are threads. Reads and writes go through the kernel's page
//! cache; a flush waits for the device, and so does a durable write. It is given an open file and opens none.
//!
//! A [growing](Pool::growing) one has no end: bytes behind the end of the file read as zeros, and writes stop at
//! an end that its owner sets.

mod ranges;
mod work;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use super::done::{Done, Taken, lock};
use super::holes::Holes;
use super::{Completion, Disc};
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
pub(super) use work::refusal;
use work::{Job, QUICK_NS, Shared};

/// The most bytes of a growing file: what the kernel can address, in whole pages of any size.
pub(crate) const GROWING_BYTES: u64 = (1 << 63) - (1 << 20);

/// A disc of threads over a file.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    /// Goes to the threads at the next look for completions, or when it is sent.
    out: Vec<Job>,
    threads: Vec<JoinHandle<()>>,
    taken: Taken,
}

impl Pool {
    /// Starts this many threads over a file of this size. Its times are those of the clock.
    pub(crate) fn new(
        file: File,
        size_bytes: u64,
        threads: usize,
        clock: Stopwatch,
    ) -> io::Result<Self> {
        Self::with_end(file, size_bytes, u64::MAX, threads, clock)
    }

    /// The same over a file that grows as it is written, and has this length now.
    pub(crate) fn growing(
        file: File,
        length: u64,
        threads: usize,
        clock: Stopwatch,
    ) -> io::Result<Self> {
        Self::with_end(file, GROWING_BYTES, length, threads, clock)
    }

    /// Whether it is a device.
    pub(crate) fn is_device(&self) -> bool {
        self.shared.block_bytes.is_some()
    }

    /// Where its file has holes; none for a device. The descriptor of this disc wakes for answers too.
    pub(crate) fn holes(&self) -> io::Result<Option<Holes>> {
        let Shared { file, done, block_bytes, .. } = &*self.shared;
        if block_bytes.is_some() {
            return Ok(None);
        }
        Holes::new(file.try_clone()?, done.wake().try_clone()?).map(Some)
    }

    /// Sets the end of a growing file. What is written behind it later does not reach the file.
    pub(crate) fn set_end(&self, end: u64) {
        self.shared.end.store(end, Ordering::Release);
    }

    fn with_end(
        file: File,
        size_bytes: u64,
        end: u64,
        threads: usize,
        clock: Stopwatch,
    ) -> io::Result<Self> {
        let block_bytes = ranges::block_of(&file)?;
        let (queue, has_job) = Default::default();
        let shared = Arc::new(Shared {
            file,
            clock,
            size_bytes,
            block_bytes,
            end: end.into(),
            queue,
            has_job,
            // The first ones go side by side.
            write_ns: QUICK_NS.into(),
            done: Done::new()?,
        });
        let mut pool =
            Self { shared, out: Vec::new(), threads: Vec::new(), taken: Taken::default() };
        for _ in 0..threads.max(1) {
            let shared = pool.shared.clone();
            let thread = std::thread::Builder::new().name("disc".to_owned());
            pool.threads.push(thread.spawn(move || shared.work())?);
        }
        Ok(pool)
    }

    /// Hands what was submitted to the threads.
    pub(crate) fn send(&mut self) {
        if !self.out.is_empty() {
            let mut queue = lock(&self.shared.queue);
            queue.jobs.extend(self.out.drain(..));
            self.shared.wake_others(&mut queue);
        }
    }

    /// Waits for no request when it is dropped. Threads that do not come back keep the memory of theirs, and the file.
    pub(crate) fn abandon(&mut self) {
        self.out.clear();
        lock(&self.shared.queue).jobs.clear();
        self.threads.clear();
    }

    /// Takes what is done only after a [notice](Self::notice) from now on. So threads that finish as fast as their owner
    /// asks do not keep it within one look.
    pub(crate) fn wait_for_notice(&mut self) {
        self.taken.wait_for_notice();
    }

    /// Its descriptor is ready. An answer about holes makes it so too, and nothing would be read of it then.
    pub(crate) fn notice(&mut self) {
        self.taken.notice();
        self.shared.done.calm();
    }
}

impl AsFd for Pool {
    /// Readable when something is complete.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.done.as_fd()
    }
}

impl Disc for Pool {
    fn size_bytes(&self) -> u64 {
        self.shared.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, mut data: Vec<u8>) {
        self.taken.begin();
        if request.op == Op::Read && request.offset >= self.shared.end() {
            // Zeros need no thread.
            data.fill(0);
            return self.taken.finish(now, request, data);
        }
        self.out.push(Job { came: now, request, data });
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        self.send();
        self.taken.next(&self.shared.done, until, || self.shared.now())
    }

    fn under_way(&self) -> usize {
        self.taken.under_way()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.send();
        lock(&self.shared.queue).is_over = true;
        self.shared.has_job.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{is_dropped, wait_for};
    use super::*;

    #[test]
    fn a_growing_file_ends_where_its_owner_says() {
        let file = tempfile::tempfile().unwrap();
        let kept = file.try_clone().unwrap();
        let mut pool = Pool::growing(file, 0, 2, Stopwatch::start()).unwrap();
        let mut ask = |op, end, offset, data: Vec<u8>| {
            pool.set_end(end);
            let request = Request::new(op, offset, data.len() as u64);
            let done = wait_for(&mut pool, Nanos::MAX, request, data).unwrap();
            assert_eq!(done.outcome, Ok(()));
            done.data
        };
        assert_eq!(ask(Op::Read, 0, 1 << 40, vec![1; 9]), [0; 9]);
        ask(Op::Write, 700, 512, vec![7; 512]);
        assert_eq!(kept.metadata().unwrap().len(), 700);
        let read = ask(Op::Read, 700, 510, vec![1; 1000]);
        assert!(read[2..190] == [7; 188] && read[190..] == [0; 810] && read[..2] == [0; 2]);
        ask(Op::Write, 512, 600, vec![9; 10]);
        assert_eq!(kept.metadata().unwrap().len(), 700, "nothing behind the end is written");
    }

    #[test]
    fn it_reads_and_writes_side_by_side() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let mut pool = Pool::new(file, 1 << 20, 4, Stopwatch::start()).unwrap();
        for task in 0..100_u32 {
            let request = Request { task, ..Request::new(Op::Write, u64::from(task) * 4096, 4096) };
            pool.submit(Nanos::ZERO, request, vec![u8::try_from(task).unwrap(); 4096]);
        }
        let mut last = Nanos::ZERO;
        for _ in 0..100 {
            let done = pool.next_completion(Nanos::MAX).unwrap();
            assert!(done.outcome.is_ok() && done.at >= last);
            last = done.at;
        }
        assert_eq!((pool.next_completion(Nanos::MAX), pool.under_way()), (None, 0));
        let zeros = Request { zeros: true, ..Request::new(Op::Discard, 4096, 4096) };
        assert!(wait_for(&mut pool, last, zeros, Vec::new()).unwrap().outcome.is_ok());
        for (page, want) in [(0, 0), (1, 0), (2, 2), (99, 99)] {
            let read = Request::new(Op::Read, page * 4096, 4096);
            assert_eq!(wait_for(&mut pool, last, read, vec![9; 4096]).unwrap().data, [want; 4096]);
        }
        let past = Request::new(Op::Read, 1 << 20, 1);
        assert!(wait_for(&mut pool, last, past, vec![0]).unwrap().outcome.is_err());
    }

    #[test]
    fn an_abandoned_one_waits_for_no_thread() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let mut pool = Pool::new(file, 4096, 2, Stopwatch::start()).unwrap();
        let shared = pool.shared.clone();
        // A thread that cannot report does not come back.
        let done = shared.done.lock();
        pool.submit(Nanos::ZERO, Request::new(Op::Read, 0, 512), vec![0; 512]);
        pool.send();
        while !lock(&shared.queue).jobs.is_empty() {
            std::thread::yield_now();
        }
        pool.abandon();
        assert!(is_dropped(pool));
        drop(done);
    }
}
