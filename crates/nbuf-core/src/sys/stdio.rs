//! C's standard I/O: a `FILE` with the calls that programs make on it one by one.
//!
//! Bytes go through calls that cross from Rust to C just as in C. `getc_unlocked` and
//! `putc_unlocked` are macros in C; where the C library is GNU's, they are compiled in place here,
//! too, on the head of its `FILE`, which is part of its interface to programs.

use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;
use std::ptr::NonNull;

/// An open `FILE`, closed with this value.
#[derive(Debug)]
pub(crate) struct Stream {
    file: NonNull<libc::FILE>,
}

/// The beginning of GNU's `struct _IO_FILE`.
#[cfg(target_env = "gnu")]
#[repr(C)]
struct Head {
    flags: libc::c_int,
    read_next: *mut u8,
    read_end: *mut u8,
    read_begin: *mut u8,
    write_begin: *mut u8,
    write_next: *mut u8,
    write_end: *mut u8,
}

// SAFETY: declared as the C library does. The last two are what its macros call when the buffer is
// used up.
unsafe extern "C" {
    fn fread_unlocked(to: *mut u8, size: usize, count: usize, from: *mut libc::FILE) -> usize;
    fn fwrite_unlocked(from: *const u8, size: usize, count: usize, to: *mut libc::FILE) -> usize;
    #[cfg(target_env = "gnu")]
    fn __uflow(from: *mut libc::FILE) -> libc::c_int;
    #[cfg(target_env = "gnu")]
    fn __overflow(to: *mut libc::FILE, byte: libc::c_int) -> libc::c_int;
    #[cfg(not(target_env = "gnu"))]
    fn getc_unlocked(from: *mut libc::FILE) -> libc::c_int;
    #[cfg(not(target_env = "gnu"))]
    fn putc_unlocked(byte: libc::c_int, to: *mut libc::FILE) -> libc::c_int;
}

impl Stream {
    /// A stream over a file that is open for reading, or for writing if it `writes`, which empties
    /// nothing.
    pub(crate) fn of(file: File, writes: bool) -> io::Result<Self> {
        let mode = if writes { c"w" } else { c"r" };
        let descriptor = file.into_raw_fd();
        // SAFETY: a descriptor without another owner, and a mode that ends in zero.
        let stream = unsafe { libc::fdopen(descriptor, mode.as_ptr()) };
        NonNull::new(stream).map(|file| Self { file }).ok_or_else(|| {
            let error = io::Error::last_os_error();
            // SAFETY: the descriptor stayed ours.
            unsafe { libc::close(descriptor) };
            error
        })
    }

    /// `fgetc`. Nothing at the end or after an error.
    #[inline]
    pub(crate) fn read_byte(&mut self) -> Option<u8> {
        // SAFETY: an open stream.
        u8::try_from(unsafe { libc::fgetc(self.file.as_ptr()) }).ok()
    }

    /// `fputc`; whether the stream took it.
    #[inline]
    pub(crate) fn write_byte(&mut self, byte: u8) -> bool {
        // SAFETY: an open stream.
        unsafe { libc::fputc(byte.into(), self.file.as_ptr()) != libc::EOF }
    }

    /// `getc_unlocked`. Nothing at the end or after an error.
    #[inline]
    pub(crate) fn read_byte_unlocked(&mut self) -> Option<u8> {
        #[cfg(target_env = "gnu")]
        // SAFETY: an open stream begins with such a head, and only this value uses it; between
        // `read_next` and `read_end` are bytes of its buffer.
        unsafe {
            let head = self.file.as_ptr().cast::<Head>();
            if (*head).read_next < (*head).read_end {
                let byte = *(*head).read_next;
                (*head).read_next = (*head).read_next.add(1);
                return Some(byte);
            }
            u8::try_from(__uflow(self.file.as_ptr())).ok()
        }
        #[cfg(not(target_env = "gnu"))]
        // SAFETY: an open stream that only this value uses.
        u8::try_from(unsafe { getc_unlocked(self.file.as_ptr()) }).ok()
    }

    /// `putc_unlocked`; whether the stream took it.
    #[inline]
    pub(crate) fn write_byte_unlocked(&mut self, byte: u8) -> bool {
        #[cfg(target_env = "gnu")]
        // SAFETY: an open stream begins with such a head, and only this value uses it; between
        // `write_next` and `write_end` is room in its buffer.
        unsafe {
            let head = self.file.as_ptr().cast::<Head>();
            if (*head).write_next < (*head).write_end {
                *(*head).write_next = byte;
                (*head).write_next = (*head).write_next.add(1);
                return true;
            }
            __overflow(self.file.as_ptr(), byte.into()) != libc::EOF
        }
        #[cfg(not(target_env = "gnu"))]
        // SAFETY: an open stream that only this value uses.
        unsafe {
            putc_unlocked(byte.into(), self.file.as_ptr()) != libc::EOF
        }
    }

    /// `fread`, in elements of a byte; how many.
    #[inline]
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> usize {
        // SAFETY: an open stream, and room for this many bytes.
        unsafe { libc::fread(buffer.as_mut_ptr().cast(), 1, buffer.len(), self.file.as_ptr()) }
    }

    /// `fwrite`, in elements of a byte; how many.
    #[inline]
    pub(crate) fn write(&mut self, data: &[u8]) -> usize {
        // SAFETY: an open stream, and this many bytes.
        unsafe { libc::fwrite(data.as_ptr().cast(), 1, data.len(), self.file.as_ptr()) }
    }

    /// `fread_unlocked`.
    #[inline]
    pub(crate) fn read_unlocked(&mut self, buffer: &mut [u8]) -> usize {
        // SAFETY: an open stream that only this value uses, and room for this many bytes.
        unsafe { fread_unlocked(buffer.as_mut_ptr(), 1, buffer.len(), self.file.as_ptr()) }
    }

    /// `fwrite_unlocked`.
    #[inline]
    pub(crate) fn write_unlocked(&mut self, data: &[u8]) -> usize {
        // SAFETY: an open stream that only this value uses, and this many bytes.
        unsafe { fwrite_unlocked(data.as_ptr(), 1, data.len(), self.file.as_ptr()) }
    }

    /// `fseeko` from the beginning.
    #[inline]
    pub(crate) fn seek(&mut self, offset_bytes: u64) -> io::Result<()> {
        let offset = libc::off_t::try_from(offset_bytes).map_err(io::Error::other)?;
        // SAFETY: an open stream.
        super::check(unsafe { libc::fseeko(self.file.as_ptr(), offset, libc::SEEK_SET) }.into())?;
        Ok(())
    }

    /// `fflush`.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        // SAFETY: an open stream.
        super::check(unsafe { libc::fflush(self.file.as_ptr()) }.into())?;
        Ok(())
    }

    /// What the last call met, if it was an error and not the end. To be asked at once.
    pub(crate) fn error(&self) -> Option<io::Error> {
        let error = io::Error::last_os_error();
        // SAFETY: an open stream.
        let failed = unsafe { libc::ferror(self.file.as_ptr()) } != 0;
        failed.then_some(error)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: an open stream that is not used after this. A flush has already reported data
        // that the stream could not write.
        unsafe { libc::fclose(self.file.as_ptr()) };
    }
}
