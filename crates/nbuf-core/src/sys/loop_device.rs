//! A loop device of our own over an open file, gone with the last that has it open.
//!
//! Source: `Documentation/admin-guide/blockdev/`, `include/uapi/linux/loop.h`. Nothing is ever done to a
//! device that was not free when the kernel gave it to us.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use crate::units::Bytes;

const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const AUTOCLEAR: u32 = 4;
const DIRECT_IO: u32 = 16;
/// Others take free devices too.
const TRIES: usize = 64;

/// `struct loop_config`: the file, the block size, `struct loop_info64` and room to come.
#[repr(C)]
struct Config {
    file: u32,
    block_bytes: u32,
    info: [u64; INFO_WORDS],
    reserved: [u64; 8],
}

/// `struct loop_info64` has 232 bytes; the flags are the fourth `u32` behind its five `u64`.
const INFO_WORDS: usize = 29;
const FLAGS_WORD: usize = 6;

/// A device, held open.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    /// Only to hold it.
    _file: File,
    number: i32,
}

impl LoopDevice {
    /// Puts a free device over a file.
    ///
    /// # Errors
    /// `EACCES` and `EPERM` for anyone but root; `ENOENT` where the kernel has no loop devices.
    pub(crate) fn over(image: &File) -> io::Result<Self> {
        let control = File::options().read(true).write(true).open("/dev/loop-control")?;
        for _ in 0..TRIES {
            // SAFETY: this request takes no argument.
            let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
            super::check(number.into())?;
            let path = format!("/dev/loop{number}");
            let device = File::options().read(true).write(true).open(path)?;
            // A file system that cannot do direct I/O caches twice: slower, and not wrong.
            let done =
                configure(&device, image, AUTOCLEAR | DIRECT_IO).or_else(|error| {
                    match error.raw_os_error() {
                        Some(libc::EINVAL) => configure(&device, image, AUTOCLEAR),
                        _ => Err(error),
                    }
                });
            match done {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
                done => return done.map(|()| Self { _file: device, number }),
            }
        }
        Err(io::Error::other("every loop device that was free was taken by others"))
    }

    /// Its name in `/dev`.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/dev/loop{}", self.number).into()
    }

    /// Sets its readahead.
    pub(crate) fn set_readahead(&self, readahead: Bytes) -> io::Result<()> {
        let queue = format!("/sys/block/loop{}/queue/read_ahead_kb", self.number);
        fs::write(Path::new(&queue), (readahead.0 >> 10).to_string())
    }
}

fn configure(device: &File, image: &File, flags: u32) -> io::Result<()> {
    let mut info = [0; INFO_WORDS];
    // lo_encrypt_key_size and lo_flags share a word.
    info[FLAGS_WORD] = u64::from(flags) << if cfg!(target_endian = "little") { 32 } else { 0 };
    let file = image.as_raw_fd().unsigned_abs();
    let config = Config { file, block_bytes: 0, info, reserved: [0; 8] };
    // SAFETY: the structure has the layout of `struct loop_config` and outlives the call.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
    super::check(done.into())?;
    Ok(())
}
