//! The kernel's description of itself, in memory. Since Linux 6.16 it is mapped, and nothing of it is copied.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;

/// Where it is.
const PATH: &str = "/sys/kernel/btf/vmlinux";

/// The bytes of the description.
#[derive(Debug)]
pub(crate) enum Description {
    /// As the kernel has them.
    Mapped(Mapped),
    /// A copy.
    Copied(Vec<u8>),
}

/// Mapped bytes, which nothing changes.
#[derive(Debug)]
pub(crate) struct Mapped {
    begin: NonNull<u8>,
    bytes: usize,
}

impl Description {
    /// Opens it.
    ///
    /// # Errors
    /// `ENOENT` where the kernel was built without it.
    pub(crate) fn open() -> io::Result<Self> {
        let mut file = File::open(PATH)?;
        let bytes = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        if let Some(mapped) = Mapped::of(&file, bytes) {
            return Ok(Self::Mapped(mapped));
        }
        let mut copy = Vec::with_capacity(bytes);
        file.read_to_end(&mut copy)?;
        Ok(Self::Copied(copy))
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Copied(copy) => copy,
            // SAFETY: as many bytes are mapped as long as this lives, and the kernel never changes them.
            Self::Mapped(it) => unsafe { std::slice::from_raw_parts(it.begin.as_ptr(), it.bytes) },
        }
    }
}

impl Mapped {
    fn of(file: &File, bytes: usize) -> Option<Self> {
        // SAFETY: a fresh mapping at an address the kernel chooses, for reading alone.
        let address = unsafe {
            let (protection, flags) = (libc::PROT_READ, libc::MAP_PRIVATE);
            libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file.as_raw_fd(), 0)
        };
        if address == libc::MAP_FAILED {
            return None;
        }
        Some(Self { begin: NonNull::new(address.cast())?, bytes })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made above, of which nothing is borrowed any more.
        unsafe { libc::munmap(self.begin.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mapped_bytes_are_those_of_the_file() {
        let Ok(copy) = std::fs::read(PATH) else { return };
        assert!(Description::open().unwrap().bytes() == copy);
    }
}
