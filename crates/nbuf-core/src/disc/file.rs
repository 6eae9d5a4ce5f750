//! A real file in real time: a few threads read and write it while the caller waits.
//!
//! Its clock starts when it is opened. It writes only to a file that it has created, or that the
//! caller gives up by name, and never to a device. It drops read pages from the page cache, so that
//! the next read reaches the device. Writes go to the page cache, as a program's do, and a flush
//! waits for the device. A request without a buffer uses a buffer of its own. Do not use it to
//! measure paths: it hands every request to a thread, a cost that `nbuf bench` avoids.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Breakdown, Completion, Disc, DiscError};
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// The number of requests served at once.
const THREADS: usize = 4;

/// Whether an existing file may be overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// The file is only read; a write fails.
    Keep,
    /// The file may be overwritten.
    Destroy,
}

/// The reason why a file cannot be a disc.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The name is a device, a folder or a pipe.
    #[error("{path} is not a regular file: give a file, which is created where there is none")]
    NotAFile {
        /// Its name.
        path: String,
    },
    /// The file is empty.
    #[error("{path} is empty: remove it, and it is created as large as it has to be")]
    Empty {
        /// Its name.
        path: String,
    },
    /// The kernel refused a call.
    #[error("{path}: {error}")]
    Kernel {
        /// The file's name.
        path: String,
        /// The kernel's error.
        error: io::Error,
    },
}

/// A request on its way to a thread, or back.
struct Job {
    came: Nanos,
    request: Request,
    data: Vec<u8>,
}

/// A disc whose requests threads run on a file.
#[derive(Debug)]
pub(crate) struct FileDisc {
    size_bytes: u64,
    clock: Stopwatch,
    jobs: Option<Sender<Job>>,
    done: Receiver<Completion>,
    threads: Vec<JoinHandle<()>>,
    under_way: usize,
    last: Nanos,
}

impl FileDisc {
    /// Creates a file of zeros of this size. An existing file is an error. The file remains after
    /// the disc is dropped, but is removed if it would be empty or cannot have this size.
    pub(crate) fn create(path: &Path, size_bytes: u64) -> Result<Self, FileError> {
        let mut new = OpenOptions::new();
        let file = new.read(true).write(true).create_new(true).open(path);
        let file = file.map_err(|error| kernel(path, error))?;
        let sized = file.set_len(size_bytes).map_err(|error| kernel(path, error));
        let disc = sized.and_then(|()| Self::over(file, path, Contents::Destroy));
        if disc.is_err() {
            let _ = std::fs::remove_file(path);
        }
        disc
    }

    /// Opens an existing file.
    pub(crate) fn open(path: &Path, contents: Contents) -> Result<Self, FileError> {
        let kind = std::fs::metadata(path).map_err(|error| kernel(path, error))?;
        if !kind.is_file() {
            return Err(FileError::NotAFile { path: path.display().to_string() });
        }
        let writes = contents == Contents::Destroy;
        let file = OpenOptions::new().read(true).write(writes).open(path);
        Self::over(file.map_err(|error| kernel(path, error))?, path, contents)
    }

    fn over(file: File, path: &Path, contents: Contents) -> Result<Self, FileError> {
        // The name may have been replaced between the first check and the opening.
        let metadata = file.metadata().map_err(|error| kernel(path, error))?;
        let path = path.display().to_string();
        if !metadata.is_file() {
            return Err(FileError::NotAFile { path });
        }
        if metadata.len() == 0 {
            return Err(FileError::Empty { path });
        }
        let size_bytes = metadata.len();
        let (file, clock) = (Arc::new(file), Stopwatch::start());
        let (jobs, queue) = mpsc::channel::<Job>();
        let (finished, done) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        let threads = (0..THREADS)
            .map(|_| {
                let (file, queue, finished) = (file.clone(), queue.clone(), finished.clone());
                std::thread::spawn(move || {
                    let mut spare = Vec::new();
                    loop {
                        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok(job) = job else { return };
                        let completion = serve(&file, contents, size_bytes, clock, job, &mut spare);
                        if finished.send(completion).is_err() {
                            return;
                        }
                    }
                })
            })
            .collect();
        let (under_way, last) = (0, Nanos::ZERO);
        Ok(Self { size_bytes, clock, jobs: Some(jobs), done, threads, under_way, last })
    }

    /// The current time of this disc.
    pub(crate) fn now(&self) -> Nanos {
        elapsed(self.clock)
    }
}

impl Disc for FileDisc {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        if let Some(jobs) = &self.jobs
            && jobs.send(Job { came: now, request, data }).is_ok()
        {
            self.under_way += 1;
        }
    }

    /// Waits until that moment even if no request is in flight, unless the moment is never.
    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        if self.under_way == 0 && until == Nanos::MAX {
            return None;
        }
        let left = Duration::from_nanos((until - self.now()).0);
        let mut completion = match self.done.recv_timeout(left) {
            Ok(completion) => completion,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        self.under_way -= 1;
        // Two threads that finish at once may report in the other order.
        let late = self.last - completion.at;
        completion.at += late;
        completion.breakdown.queued += late;
        self.last = completion.at;
        Some(completion)
    }

    fn under_way(&self) -> usize {
        self.under_way
    }
}

impl Drop for FileDisc {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn kernel(path: &Path, error: io::Error) -> FileError {
    FileError::Kernel { path: path.display().to_string(), error }
}

fn elapsed(clock: Stopwatch) -> Nanos {
    Nanos(u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX))
}

fn serve(
    file: &File,
    contents: Contents,
    size_bytes: u64,
    clock: Stopwatch,
    Job { came, request, mut data }: Job,
    spare: &mut Vec<u8>,
) -> Completion {
    let begins = elapsed(clock).max(came);
    let outcome = DiscError::check(&request, size_bytes)
        .and_then(|()| transfer(file, contents, &request, &mut data, spare));
    let at = elapsed(clock).max(begins);
    // The device does not report how its time divides.
    let breakdown =
        Breakdown { queued: begins - came, transfer: at - begins, ..Breakdown::default() };
    Completion { request, data, at, breakdown, outcome }
}

fn transfer(
    file: &File,
    contents: Contents,
    request: &Request,
    data: &mut [u8],
    spare: &mut Vec<u8>,
) -> Result<(), DiscError> {
    let failed = |what: String| DiscError::Failed { what };
    let length = usize::try_from(request.length_bytes).unwrap_or(usize::MAX);
    let own = data.is_empty();
    if !own && data.len() != length {
        return Err(failed(format!("a request of {length} B with {} B of data", data.len())));
    }
    let moves = matches!(request.op, Op::Read | Op::Write);
    if own && moves {
        spare.resize(length, 0);
    }
    let data = if own { spare.as_mut_slice() } else { data };
    let at = request.offset;
    let done = match request.op {
        Op::Read => file.read_exact_at(data, at).map(|()| forget(file, at, length)),
        Op::Write if contents == Contents::Keep => {
            return Err(failed(
                "a write to a file that is to be kept: allow it to be destroyed".into(),
            ));
        }
        Op::Write => file.write_all_at(data, at),
        Op::Flush => file.sync_data(),
        // The file keeps its bytes: a discard asks for nothing that could be seen.
        Op::Discard => Ok(()),
    };
    done.map_err(|error| failed(format!("{:?} of {length} B at byte {at}: {error}", request.op)))
}

/// This is only a hint: if it has no effect, the next read is faster than the device.
fn forget(file: &File, offset: u64, length: usize) {
    let length = std::num::NonZeroU64::new(length as u64);
    let _ = rustix::fs::fadvise(file, offset, length, rustix::fs::Advice::DontNeed);
}

#[cfg(test)]
mod tests {
    use super::super::wait_for;
    use super::*;
    use crate::clock::Random;

    const SIZE: usize = 1 << 16;

    /// Does one request that is as long as its bytes.
    fn ask(disc: &mut FileDisc, op: Op, offset: u64, data: Vec<u8>) -> Completion {
        let now = disc.now();
        wait_for(disc, now, Request::new(op, offset, data.len() as u64), data).unwrap()
    }

    /// Compares the file with a plain vector, with many requests in flight.
    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut disc = FileDisc::create(&folder.path().join("disc"), SIZE as u64).unwrap();
        let (mut model, mut random) = (vec![0; SIZE], Random::new(2));
        for round in 0..20_u64 {
            // Pieces that do not overlap may be written in any order.
            for piece in 0..16_u64 {
                let from = piece * 4_096 + random.below(1_000);
                let data = vec![u8::try_from(round * 7 + piece).unwrap(); 3_000];
                let at = usize::try_from(from).unwrap();
                model[at..at + 3_000].copy_from_slice(&data);
                let now = disc.now();
                disc.submit(now, Request::new(Op::Write, from, 3_000), data);
            }
            let mut last = Nanos::ZERO;
            for _ in 0..16 {
                let done = disc.next_completion(Nanos::MAX).unwrap();
                assert_eq!(done.outcome, Ok(()));
                assert!(done.at >= last);
                last = done.at;
            }
            assert_eq!((disc.under_way(), disc.next_completion(Nanos::MAX)), (0, None));
        }
        let now = disc.now();
        let flush = wait_for(&mut disc, now, Request::new(Op::Flush, 0, 0), Vec::new()).unwrap();
        assert_eq!((flush.outcome, now + flush.breakdown.total()), (Ok(()), flush.at));
        assert_eq!(ask(&mut disc, Op::Read, 0, vec![0; SIZE]).data, model);
        drop(disc);
        assert_eq!(std::fs::read(folder.path().join("disc")).unwrap(), model);
    }

    #[test]
    fn what_is_not_given_up_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        std::fs::write(&path, [7; 8_192]).unwrap();
        let mut disc = FileDisc::open(&path, Contents::Keep).unwrap();
        let write = ask(&mut disc, Op::Write, 0, vec![1; 512]);
        assert!(write.outcome.unwrap_err().to_string().contains("to be kept"));
        let timed = Request::new(Op::Read, 0, 512);
        let read = wait_for(&mut disc, Nanos::ZERO, timed, Vec::new()).unwrap();
        assert_eq!((read.outcome, read.data), (Ok(()), Vec::new()));
        let past = ask(&mut disc, Op::Read, 8_000, vec![0; 512]);
        assert!(matches!(past.outcome, Err(DiscError::PastTheEnd { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), [7; 8_192]);
        assert!(FileDisc::create(&path, 1).is_err(), "it is there already");
        let mut given = FileDisc::open(&path, Contents::Destroy).unwrap();
        assert_eq!(ask(&mut given, Op::Discard, 0, vec![1; 512]).outcome, Ok(()));
        assert_eq!(std::fs::read(&path).unwrap(), [7; 8_192]);
        assert_eq!(ask(&mut given, Op::Write, 0, vec![1; 512]).outcome, Ok(()));
        assert_eq!(std::fs::read(&path).unwrap()[..513], [[1; 512].as_slice(), &[7]].concat());
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let check = |path: &Path, want: &str| {
            let said = FileDisc::open(path, Contents::Destroy).unwrap_err().to_string();
            assert!(said.contains(want) && !said.contains('\n'), "{said}");
        };
        check(Path::new("/dev/null"), "not a regular file");
        check(folder.path(), "not a regular file");
        check(&folder.path().join("absent"), "No such file");
        std::fs::write(folder.path().join("empty"), "").unwrap();
        check(&folder.path().join("empty"), "is empty");
    }

    #[test]
    fn what_cannot_be_made_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disc");
        for (size_bytes, want) in [(u64::MAX, "disc: "), (0, "is empty")] {
            let said = FileDisc::create(&path, size_bytes).unwrap_err().to_string();
            assert!(said.contains(want) && !path.exists(), "{said}");
        }
        std::fs::write(&path, "precious").unwrap();
        assert!(FileDisc::create(&path, u64::MAX).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    }

    #[test]
    fn it_waits_for_the_moment_that_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut disc = FileDisc::create(&folder.path().join("disc"), 4_096).unwrap();
        let until = disc.now() + Nanos::from_micros(3_000);
        assert_eq!(disc.next_completion(until), None);
        assert!(disc.now() >= until);
    }
}
