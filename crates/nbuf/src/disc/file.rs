//! A real file in real time: a few threads read and write it while their caller waits.
//!
//! Its time runs from the moment it is opened. It writes only to a file that it has created itself, or that
//! its caller gives up by name, and never to a device. What was read is dropped from the page cache, so that the
//! next read asks the device again; writes go to the page cache, as those of a program do, and a flush
//! waits until they are on the device. What moves no bytes of the caller's moves some of its own. Not for measuring
//! paths: a thread hands every request over, which `nbuf bench` knows better how to avoid.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Completion, Disc, DiscError, Operation, Request, Spent};
use crate::clock::Stopwatch;
use crate::units::Nanos;

/// Requests that are served at once.
const THREADS: usize = 4;

/// Whether there is anything to lose in a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// It is only read; a write fails.
    Keep,
    /// It may be written over.
    Destroy,
}

/// A file that cannot be a disc.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A device, a folder, a pipe.
    #[error("{path} is not a regular file: give a file, which is created where there is none")]
    NotAFile {
        /// Which one.
        path: String,
    },
    /// It holds nothing to read.
    #[error("{path} is empty: remove it, and it is created as large as it has to be")]
    Empty {
        /// Which one.
        path: String,
    },
    /// The kernel refused.
    #[error("{path}: {error}")]
    Kernel {
        /// Which one.
        path: String,
        /// In whose words.
        error: io::Error,
    },
}

/// A request on its way to a thread, or back.
struct Job {
    came: Nanos,
    request: Request,
}

/// See the module.
#[derive(Debug)]
pub struct FileDisc {
    size_bytes: u64,
    clock: Stopwatch,
    jobs: Option<Sender<Job>>,
    done: Receiver<Completion>,
    threads: Vec<JoinHandle<()>>,
    under_way: usize,
    last: Nanos,
}

impl FileDisc {
    /// A new file of zeros, of this size; one that is there already is an error. It stays when the disc goes;
    /// one that cannot be so large, or that would be empty, does not.
    pub fn create(path: &Path, size_bytes: u64) -> Result<Self, FileError> {
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

    /// A file that is there.
    pub fn open(path: &Path, contents: Contents) -> Result<Self, FileError> {
        let kind = std::fs::metadata(path).map_err(|error| kernel(path, error))?;
        if !kind.is_file() {
            return Err(FileError::NotAFile { path: path.display().to_string() });
        }
        let writes = contents == Contents::Destroy;
        let file = OpenOptions::new().read(true).write(writes).open(path);
        Self::over(file.map_err(|error| kernel(path, error))?, path, contents)
    }

    fn over(file: File, path: &Path, contents: Contents) -> Result<Self, FileError> {
        // What was asked about before it was opened may have been something else.
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

    /// What time it is for this disc.
    pub fn now(&self) -> Nanos {
        elapsed(self.clock)
    }
}

impl Disc for FileDisc {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        if let Some(jobs) = &self.jobs
            && jobs.send(Job { came: now, request }).is_ok()
        {
            self.under_way += 1;
        }
    }

    /// Waits until that moment even where nothing is under way, unless it never comes.
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
        // Two threads that end at once may report in the other order.
        let late = self.last - completion.at;
        completion.at += late;
        completion.spent.queued += late;
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
    Job { came, mut request }: Job,
    spare: &mut Vec<u8>,
) -> Completion {
    let begins = elapsed(clock).max(came);
    let outcome =
        request.within(size_bytes).and_then(|()| transfer(file, contents, &mut request, spare));
    let at = elapsed(clock).max(begins);
    // How the device divides its time is not to be seen from here.
    let spent = Spent { queued: begins - came, transfer: at - begins, ..Spent::default() };
    Completion { request, at, spent, outcome }
}

fn transfer(
    file: &File,
    contents: Contents,
    request: &mut Request,
    spare: &mut Vec<u8>,
) -> Result<(), DiscError> {
    let failed = |what: String| DiscError::Failed { what };
    let length = request.length_bytes as usize;
    let own = request.data.is_empty();
    if !own && request.data.len() != length {
        return Err(failed(format!(
            "a request of {length} B with {} B of data",
            request.data.len()
        )));
    }
    if own {
        spare.resize(length, 0);
    }
    let data = if own { spare.as_mut_slice() } else { request.data.as_mut_slice() };
    let at = request.offset_bytes;
    let done = match request.operation {
        Operation::Read => file.read_exact_at(data, at).map(|()| forget(file, at, length)),
        Operation::Write if contents == Contents::Keep => {
            return Err(failed(
                "a write to a file that is to be kept: allow it to be destroyed".into(),
            ));
        }
        Operation::Write => file.write_all_at(data, at),
        Operation::Flush => file.sync_data(),
    };
    done.map_err(|error| {
        failed(format!("{:?} of {length} B at byte {at}: {error}", request.operation))
    })
}

/// A hint; where it does nothing, the next read is faster than the device.
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

    fn request(tag: u64, operation: Operation, offset_bytes: u64, data: Vec<u8>) -> Request {
        let length_bytes = u32::try_from(data.len()).unwrap();
        Request { tag, operation, offset_bytes, length_bytes, data }
    }

    /// Against a plain vector, many under way at once.
    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut disc = FileDisc::create(&folder.path().join("disc"), SIZE as u64).unwrap();
        let (mut model, mut random) = (vec![0; SIZE], Random::new(2));
        for round in 0..20_u64 {
            // Pieces that do not touch each other may be written in any order.
            for piece in 0..16_u64 {
                let from = piece * 4_096 + random.below(1_000);
                let data = vec![u8::try_from(round * 7 + piece).unwrap(); 3_000];
                let at = usize::try_from(from).unwrap();
                model[at..at + 3_000].copy_from_slice(&data);
                let now = disc.now();
                disc.submit(now, request(piece, Operation::Write, from, data));
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
        let flush = wait_for(&mut disc, now, request(0, Operation::Flush, 0, Vec::new())).unwrap();
        assert_eq!((flush.outcome, now + flush.spent.total()), (Ok(()), flush.at));
        let now = disc.now();
        let all = wait_for(&mut disc, now, request(1, Operation::Read, 0, vec![0; SIZE])).unwrap();
        assert_eq!(all.request.data, model);
        drop(disc);
        assert_eq!(std::fs::read(folder.path().join("disc")).unwrap(), model);
    }

    #[test]
    fn what_is_not_given_up_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        std::fs::write(&path, [7; 8_192]).unwrap();
        let mut disc = FileDisc::open(&path, Contents::Keep).unwrap();
        let write = wait_for(&mut disc, Nanos::ZERO, request(0, Operation::Write, 0, vec![1; 512]));
        assert!(write.unwrap().outcome.unwrap_err().to_string().contains("to be kept"));
        let timed = Request { length_bytes: 512, ..request(0, Operation::Read, 0, Vec::new()) };
        let read = wait_for(&mut disc, Nanos::ZERO, timed).unwrap();
        assert_eq!((read.outcome, read.request.data), (Ok(()), Vec::new()));
        let past =
            wait_for(&mut disc, Nanos::ZERO, request(0, Operation::Read, 8_000, vec![0; 512]));
        assert!(matches!(past.unwrap().outcome, Err(DiscError::PastTheEnd { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), [7; 8_192]);
        assert!(FileDisc::create(&path, 1).is_err(), "it is there already");
        let mut given = FileDisc::open(&path, Contents::Destroy).unwrap();
        let write =
            wait_for(&mut given, Nanos::ZERO, request(0, Operation::Write, 0, vec![1; 512]));
        assert_eq!(write.unwrap().outcome, Ok(()));
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
