//! A pool of threads that make the calls, as in libuv: four threads, one queue under one lock, and
//! an eventfd that signals the caller.
//!
//! Every operation is handed over twice. The process now has several threads, so C's streams start
//! to take their locks.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::aligned::Aligned;
use super::call::ended;
use super::data::Data;
use super::direct::Direct;
use super::pass::Pass;
use super::pattern::{Direction, Operation, whole};
use super::table::open_file;
use super::{Error, Moved, Path, Request};
use crate::sys::calls::{self, pread, pwrite};

/// libuv's default.
const THREADS: usize = 4;

pub(super) fn open(request: &Request<'_>, is_direct: bool) -> Result<Box<dyn Path>, Error> {
    let pattern = request.pattern;
    let (file, unit) = if is_direct {
        let direct = Direct::open(request, false, OFlags::empty())?;
        direct.fits(&pattern)?;
        (direct.file, whole(direct.unit_bytes))
    } else {
        (open_file(request)?, 1)
    };
    let writes = pattern.direction == Direction::Write;
    let data = writes.then(|| Data::new(pattern.longest_bytes()));
    let shared = Arc::new(Shared {
        file,
        unit,
        data,
        queue: Mutex::new(Queue::with_room(request.depth as usize)),
        has_work: Condvar::new(),
        done: Mutex::new(VecDeque::with_capacity(request.depth as usize)),
        bell: eventfd(0, EventfdFlags::CLOEXEC).map_err(io::Error::from)?,
    });
    let room = if writes { 0 } else { pattern.longest_bytes().next_multiple_of(unit) };
    let free = (0..request.depth).map(|_| Aligned::new(room)).collect();
    let pass = Pass::of(request)?;
    let mut pool = Pool { pass, shared, threads: Vec::new(), free, under_way: 0 };
    for _ in 0..THREADS {
        let shared = Arc::clone(&pool.shared);
        let thread = std::thread::Builder::new().name("nbuf-pool".to_owned());
        pool.threads.push(thread.spawn(move || shared.work())?);
    }
    Ok(Box::new(pool))
}

/// An operation and the buffer for it.
#[derive(Debug)]
struct Job {
    operation: Operation,
    buffer: Aligned,
}

/// A completed operation and its first byte.
#[derive(Debug)]
struct Done {
    job: Job,
    result: io::Result<u8>,
}

#[derive(Debug)]
struct Queue {
    jobs: VecDeque<Job>,
    /// The number of threads that wait for a job.
    idle: usize,
    is_over: bool,
}

impl Queue {
    fn with_room(depth: usize) -> Self {
        Self { jobs: VecDeque::with_capacity(depth), idle: 0, is_over: false }
    }
}

/// The state that the threads share.
#[derive(Debug)]
struct Shared {
    file: File,
    unit: usize,
    /// The bytes to write, if the pattern writes.
    data: Option<Data>,
    queue: Mutex<Queue>,
    has_work: Condvar,
    done: Mutex<VecDeque<Done>>,
    bell: OwnedFd,
}

impl Shared {
    /// The loop of a thread.
    fn work(&self) {
        loop {
            let mut queue = lock(&self.queue);
            while queue.jobs.is_empty() && !queue.is_over {
                queue.idle += 1;
                queue = self.has_work.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.idle -= 1;
            }
            let Some(mut job) = queue.jobs.pop_front() else { return };
            drop(queue);
            let result = self.call(job.operation, &mut job.buffer);
            let mut done = lock(&self.done);
            done.push_back(Done { job, result });
            let is_first = done.len() == 1;
            drop(done);
            // The caller collects all later completions with the first, so only the first needs a
            // signal.
            if is_first {
                let _ = calls::write(&self.bell, &1_u64.to_ne_bytes());
            }
        }
    }

    fn call(&self, operation: Operation, buffer: &mut Aligned) -> io::Result<u8> {
        let Operation { offset_bytes, length_bytes } = operation;
        let mut done = 0;
        let data = self.data.as_ref().map(|data| data.at(offset_bytes, length_bytes));
        while done < length_bytes {
            let at = offset_bytes + done as u64;
            let moved = if let Some(data) = data {
                pwrite(&self.file, &data[done..], at)
            } else {
                let wanted = length_bytes.next_multiple_of(self.unit);
                pread(&self.file, &mut buffer.bytes_mut()[done..wanted], at)
            };
            match moved {
                Ok(0) => return Err(ended()),
                Ok(more) => done += more,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(data.unwrap_or(buffer.bytes())[0])
    }
}

/// No data is left inconsistent under these locks, so a poisoned lock can be used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Pool {
    pass: Pass,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// The buffers of operations that are not in flight.
    free: Vec<Aligned>,
    under_way: u32,
}

impl Path for Pool {
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved> {
        let operations = self.pass.clip(operations);
        self.pass.begins(&operations)?;
        let mut moved = Moved { operations: operations.end - operations.start, ..Moved::default() };
        let pattern = self.pass.pattern;
        pattern.each(operations.clone(), |operation| {
            while self.free.is_empty() {
                self.reap(&mut moved)?;
            }
            self.start(operation);
            Ok::<(), io::Error>(())
        })?;
        while self.under_way > 0 {
            self.reap(&mut moved)?;
        }
        self.pass.ends(&operations);
        Ok(moved)
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.pass.rewind()
    }

    fn finish(&mut self) -> io::Result<()> {
        let mut moved = Moved::default();
        while self.under_way > 0 {
            self.reap(&mut moved)?;
        }
        Ok(())
    }
}

impl Pool {
    fn start(&mut self, operation: Operation) {
        let Some(buffer) = self.free.pop() else { return };
        self.under_way += 1;
        let mut queue = lock(&self.shared.queue);
        queue.jobs.push_back(Job { operation, buffer });
        if queue.idle > 0 {
            self.shared.has_work.notify_one();
        }
    }

    /// Sleeps until an operation completes, and takes all that have completed.
    fn reap(&mut self, moved: &mut Moved) -> io::Result<()> {
        let mut count = [0; 8];
        while let Err(error) = calls::read(&self.shared.bell, &mut count) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        let mut failure = None;
        let mut done = lock(&self.shared.done);
        for Done { job, result } in done.drain(..) {
            self.under_way -= 1;
            self.free.push(job.buffer);
            match result {
                Ok(byte) => moved.sum = moved.sum.wrapping_add(byte.into()),
                Err(error) => failure = Some(error),
            }
            moved.bytes += job.operation.length_bytes as u64;
        }
        failure.map_or(Ok(()), Err)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        lock(&self.shared.queue).is_over = true;
        self.shared.has_work.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has already printed its message.
            let _ = thread.join();
        }
    }
}
