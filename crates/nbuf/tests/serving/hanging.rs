//! A file system with one file, by FUSE, that can stop to answer: a disc that hangs, for a kernel and for a server.
//!
//! Source: `linux/fuse.h`, version 7.31 of the protocol. It needs root.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// The name of the file.
const NAME: &[u8] = b"tier\0";
/// Bytes of a request in front of its own, and of a reply.
const IN_HEAD: usize = 40;
const OUT_HEAD: usize = 16;
/// The longest write. Requests are read with room for more.
const WRITE_BYTES: u32 = 128 << 10;

const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const READ: u32 = 15;
const WRITE: u32 = 16;
const STATFS: u32 = 17;
const RELEASE: u32 = 18;
const FSYNC: u32 = 20;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const RELEASEDIR: u32 = 29;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;

/// Such a file system. It answers again, and is gone, when this value is dropped.
#[derive(Debug)]
pub(super) struct Hanging {
    at: PathBuf,
    hangs: Arc<AtomicBool>,
    keeps_flushes: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hanging {
    /// Mounts it at a new directory, with the bytes of this file. Opens for `O_DIRECT` are refused unless it takes them.
    /// A descriptor is closed without its answer unless it flushes: then a process that ends while it hangs stays until this
    /// value is dropped. Nothing where the kernel has no FUSE, or this user may not mount.
    pub(super) fn mount(at: &Path, file: File, takes_direct: bool, flushes: bool) -> Option<Self> {
        fs::create_dir(at).unwrap();
        let device = File::options().read(true).write(true).open("/dev/fuse").ok()?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
        let options = CString::new(options).unwrap();
        mount("nbuf-test", at, "fuse", MountFlags::empty(), options.as_c_str()).ok()?;
        let (hangs, keeps_flushes) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (own, own_flushes) = (hangs.clone(), keeps_flushes.clone());
        let served =
            Served { device, file, takes_direct, flushes, hangs: own, keeps_flushes: own_flushes };
        let thread = std::thread::spawn(move || served.serve());
        Some(Self { at: at.to_owned(), hangs, keeps_flushes, thread: Some(thread) })
    }

    /// Answers all but the closing of descriptors from now on.
    pub(super) fn keep_flushes(&self) {
        self.keeps_flushes.store(true, Ordering::SeqCst);
    }

    /// Takes no request from now on.
    pub(super) fn hang(&self) {
        self.hangs.store(true, Ordering::SeqCst);
        // The thread looks every few milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        // This ends the connection, and all requests with it.
        let _ = unmount(&self.at, UnmountFlags::FORCE | UnmountFlags::DETACH);
        self.hangs.store(false, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Served {
    device: File,
    file: File,
    takes_direct: bool,
    flushes: bool,
    hangs: Arc<AtomicBool>,
    keeps_flushes: Arc<AtomicBool>,
}

impl Served {
    /// Answers until the file system is gone.
    fn serve(self) {
        let mut request = vec![0; IN_HEAD * 4 + WRITE_BYTES as usize * 2];
        let look = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
        loop {
            let mut ready = [PollFd::new(&self.device, PollFlags::IN)];
            let _ = poll(&mut ready, Some(&look));
            let came = ready[0].revents();
            if self.hangs.load(Ordering::SeqCst) {
                // What waits in the kernel can be killed there; what was taken out could not.
                std::thread::sleep(std::time::Duration::from_millis(5));
                continue;
            }
            if came.is_empty() {
                continue;
            }
            match (&self.device).read(&mut request) {
                Ok(length) => self.take(&request[..length]),
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return,
                // One was interrupted meanwhile.
                Err(_) => {}
            }
        }
    }

    fn take(&self, request: &[u8]) {
        let operation = number(request, 4);
        let is_kept = operation == FLUSH && self.keeps_flushes.load(Ordering::SeqCst);
        if is_kept || matches!(operation, FORGET | BATCH_FORGET | INTERRUPT) {
            return;
        }
        let (error, body) =
            match self.answer(operation, number_of_node(request), &request[IN_HEAD..]) {
                Ok(body) => (0, body),
                Err(errno) => (-errno, Vec::new()),
            };
        let mut reply = Vec::new();
        reply.extend(u32::try_from(OUT_HEAD + body.len()).unwrap().to_le_bytes());
        reply.extend(error.to_le_bytes());
        reply.extend(&request[8..16]);
        reply.extend(body);
        // The one who asked may be gone.
        let _ = (&self.device).write(&reply);
    }

    /// The body of a reply, or the number of an error.
    fn answer(&self, operation: u32, node: u64, body: &[u8]) -> Result<Vec<u8>, i32> {
        let failed = |error: io::Error| error.raw_os_error().unwrap_or(libc::EIO);
        let place = || u64::from_le_bytes(body[8..16].try_into().unwrap());
        match operation {
            INIT => Ok(init()),
            LOOKUP if body == NAME => {
                let times = [&2_u64.to_le_bytes()[..], &[0; 32]].concat();
                Ok([times, self.attributes(2)].concat())
            }
            LOOKUP => Err(libc::ENOENT),
            GETATTR => Ok([vec![0; 16], self.attributes(node)].concat()),
            OPEN => {
                let flags = i32::from_le_bytes(body[..4].try_into().unwrap());
                let is_taken = self.takes_direct || flags & libc::O_DIRECT == 0;
                // The kernel keeps no copy then, which would not hang (FOPEN_DIRECT_IO).
                let opened = [[0; 8], 1_u64.to_le_bytes()].concat();
                if is_taken { Ok(opened) } else { Err(libc::EINVAL) }
            }
            OPENDIR => Ok(vec![0; 16]),
            READ => {
                let mut data = vec![0; number(body, 16) as usize];
                let length = self.file.read_at(&mut data, place()).map_err(failed)?;
                data.truncate(length);
                Ok(data)
            }
            WRITE => {
                let data = &body[40..40 + number(body, 16) as usize];
                self.file.write_all_at(data, place()).map_err(failed)?;
                Ok([body[16..20].to_vec(), vec![0; 4]].concat())
            }
            STATFS => {
                let figures = [4096_u32, 255, 4096, 0].map(u32::to_le_bytes).concat();
                Ok([vec![0; 40], figures, vec![0; 24]].concat())
            }
            RELEASE | RELEASEDIR | FSYNC => Ok(Vec::new()),
            FLUSH if self.flushes => Ok(Vec::new()),
            // The kernel never sends a FLUSH again then.
            _ => Err(libc::ENOSYS),
        }
    }

    /// Those of the directory, or of the file.
    fn attributes(&self, node: u64) -> Vec<u8> {
        let size = if node == 1 { 0 } else { self.file.metadata().unwrap().len() };
        let mode = if node == 1 { 0o40755 } else { 0o100_600 };
        let times = [0_u64; 3];
        let long = [node, size, size / 512].into_iter().chain(times);
        let (links, owner, block) = (1, 0, 4096);
        let short = [0_u32, 0, 0, mode, links, owner, owner, 0, block, 0];
        let mut out: Vec<u8> = long.flat_map(u64::to_le_bytes).collect();
        out.extend(short.into_iter().flat_map(u32::to_le_bytes));
        out
    }
}

/// What is agreed on: large writes, and several requests at once.
fn init() -> Vec<u8> {
    const ASYNC_READ: u32 = 1;
    const BIG_WRITES: u32 = 1 << 5;
    const ASYNC_DIRECT: u32 = 1 << 15;
    let flags = ASYNC_READ | BIG_WRITES | ASYNC_DIRECT;
    let mut out: Vec<u8> = [7, 31, 0, flags].into_iter().flat_map(u32::to_le_bytes).collect();
    out.extend([64_u16, 48].into_iter().flat_map(u16::to_le_bytes));
    out.extend([WRITE_BYTES, 1].into_iter().flat_map(u32::to_le_bytes));
    out.resize(64, 0);
    out
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn number_of_node(request: &[u8]) -> u64 {
    u64::from_le_bytes(request[16..24].try_into().unwrap())
}
