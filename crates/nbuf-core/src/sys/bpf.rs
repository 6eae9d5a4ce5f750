//! Programs in the kernel, run by hand or by its tracepoints, and memory shared with them: `bpf(2)`.
//!
//! What is open here goes with its descriptors: nothing is pinned, so that nothing stays when nbuf is
//! killed. A program is checked by the kernel before it is loaded. One that fails the check is no program.

pub(crate) mod assembly;
pub(crate) mod code;
pub(crate) mod counters;
pub(crate) mod description;
pub(crate) mod ids;
pub(crate) mod stream;
pub(crate) mod tracing;
pub(crate) mod whom;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use super::rights::capability::raise;

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE_ELEMENT: libc::c_int = 2;
const PROGRAM_LOAD: libc::c_int = 5;
const PROGRAM_TEST_RUN: libc::c_int = 10;
const MAP_FREEZE: libc::c_int = 22;

const MAP_TYPE_ARRAY: u32 = 2;
const MAP_READ_ONLY_FOR_PROGRAMS: u32 = 1 << 7;
const MAP_MAPPABLE: u32 = 1 << 10;
const PROGRAM_TYPE_RAW_TRACEPOINT: u32 = 17;

/// The name of programs and maps, as `bpftool` lists it.
const NAME: u32 = u32::from_ne_bytes(*b"nbuf");
const NAME_OF_PROGRAM: (usize, u32) = (48, NAME);
const NAME_OF_MAP: (usize, u32) = (28, NAME);

/// Some helpers of the kernel are for such programs only.
const LICENCE: &[u8] = b"Dual MIT/GPL\0";
const LOG_BYTES: u32 = 64 << 10;

/// One instruction, as the kernel reads it (`struct bpf_insn`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    /// What is done.
    pub code: u8,
    /// Destination in the lower half, source in the upper.
    pub registers: u8,
    /// The distance of a jump, or the offset of an access to memory.
    pub offset: i16,
    /// A constant.
    pub immediate: i32,
}

/// The parameters of a call: zeroes except in some fields. Longer than any call's own, as is allowed.
struct Attributes([u64; 16]);

impl Attributes {
    /// With fields of four bytes at these offsets.
    fn of(fields: &[(usize, u32)]) -> Self {
        let mut this = Self([0; 16]);
        for &(offset, value) in fields {
            let (word, is_upper) = (offset / 8, offset % 8 == 4);
            let in_order = cfg!(target_endian = "little") == is_upper;
            this.0[word] |= u64::from(value) << if in_order { 32 } else { 0 };
        }
        this
    }

    fn address<T>(mut self, offset: usize, of: *const T) -> Self {
        self.0[offset / 8] = of as u64;
        self
    }

    /// Calls the kernel. What the addresses point to must be as large as the call expects, and live.
    fn call(mut self, number: libc::c_int) -> io::Result<libc::c_long> {
        let _raised = raise();
        // SAFETY: the attributes are as long as is said, and the addresses in them are given by the
        // functions below, each of memory that outlives the call and has the size that it is said to have.
        let value = unsafe {
            libc::syscall(libc::SYS_bpf, number, self.0.as_mut_ptr(), size_of_val(&self.0))
        };
        super::check(value)
    }
}

/// Words that programs and this process both read and write, never at the same time: programs run only
/// in [`Program::run`], which borrows them.
#[derive(Debug)]
pub(crate) struct Shared {
    descriptor: OwnedFd,
    begin: NonNull<u64>,
    words: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Shared {}

impl Shared {
    /// Zeroes, a multiple of a page.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` or root; `ENOSYS`, and `EINVAL` on kernels before 5.5.
    pub(crate) fn zeroes(pages: usize) -> io::Result<Self> {
        let bytes = pages * rustix::param::page_size();
        let value_bytes = u32::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let fields = [
            (0, MAP_TYPE_ARRAY),
            (4, 4),
            (8, value_bytes),
            (12, 1),
            (16, MAP_MAPPABLE),
            NAME_OF_MAP,
        ];
        let descriptor = owned(Attributes::of(&fields).call(MAP_CREATE)?)?;
        // SAFETY: a fresh mapping at an address the kernel chooses, of a descriptor that has as many bytes.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                descriptor.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let begin = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { descriptor, begin, words: bytes / 8 })
    }

    /// By what programs name it.
    pub(crate) fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// What is in it.
    pub(crate) fn words(&self) -> &[u64] {
        // SAFETY: as many words are mapped as long as this lives, any bits are words, and nothing writes to
        // them as long as they are borrowed.
        unsafe { std::slice::from_raw_parts(self.begin.as_ptr(), self.words) }
    }

    /// The same, to be changed.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above; the borrow is the only one.
        unsafe { std::slice::from_raw_parts_mut(self.begin.as_ptr(), self.words) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped in `zeroes` with this length; no slice of it outlives this value.
        unsafe { libc::munmap(self.begin.as_ptr().cast(), self.words * 8) };
    }
}

/// A text that programs read, and that nothing changes any more.
#[derive(Debug)]
pub(crate) struct Text {
    descriptor: OwnedFd,
}

impl Text {
    /// Gives the kernel a text, which ends with a zero.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` or root; `ENOSYS`, and `EINVAL` on kernels before 5.2.
    pub(crate) fn new(text: &std::ffi::CStr) -> io::Result<Self> {
        let bytes = text.to_bytes_with_nul();
        let value_bytes = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let flags = MAP_READ_ONLY_FOR_PROGRAMS;
        let fields = [(0, MAP_TYPE_ARRAY), (4, 4), (8, value_bytes), (12, 1), (16, flags)];
        let descriptor = owned(Attributes::of(&fields).call(MAP_CREATE)?)?;
        let number = descriptor.as_raw_fd().cast_unsigned();
        let key = 0_u32;
        let element = Attributes::of(&[(0, number)]).address(8, &raw const key);
        element.address(16, bytes.as_ptr()).call(MAP_UPDATE_ELEMENT)?;
        Attributes::of(&[(0, number)]).call(MAP_FREEZE)?;
        Ok(Self { descriptor })
    }

    /// By what programs name it.
    pub(crate) fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }
}

/// A program that the kernel has checked.
#[derive(Debug)]
pub(crate) struct Program {
    descriptor: OwnedFd,
}

impl Program {
    /// Loads a program that takes nothing and is run by hand.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` and `CAP_PERFMON`, or root. If the program fails the check, the error
    /// is the kernel's log of it.
    pub(crate) fn load(code: &[Instruction]) -> io::Result<Self> {
        Ok(Self { descriptor: load(&[(0, PROGRAM_TYPE_RAW_TRACEPOINT)], code)? })
    }

    /// Runs it once, in this thread. It may read and write what is shared.
    ///
    /// # Errors
    /// `EPERM`; `EINVAL` on kernels before 5.10.
    pub(crate) fn run(&self, _shared: &mut Shared) -> io::Result<()> {
        let number = self.descriptor.as_raw_fd().cast_unsigned();
        Attributes::of(&[(0, number)]).call(PROGRAM_TEST_RUN).map(drop)
    }
}

/// Loads a program with these fields. One that fails the check has the last lines of the kernel's report in its error.
fn load(kind: &[(usize, u32)], code: &[Instruction]) -> io::Result<OwnedFd> {
    let count = u32::try_from(code.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let given = |more: &[(usize, u32)]| {
        let fields = [kind, &[(4, count), NAME_OF_PROGRAM], more].concat();
        let attributes = Attributes::of(&fields).address(8, code.as_ptr());
        attributes.address(16, LICENCE.as_ptr())
    };
    match given(&[]).call(PROGRAM_LOAD) {
        Ok(descriptor) => owned(descriptor),
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
        Err(error) => {
            let mut log = vec![0_u8; LOG_BYTES as usize];
            // It fails as before, and says why.
            let logged = given(&[(24, 1), (28, LOG_BYTES)]);
            let _ = logged.address(32, log.as_mut_ptr()).call(PROGRAM_LOAD);
            let text = log.split(|&byte| byte == 0).next().unwrap_or_default();
            let text = String::from_utf8_lossy(text);
            let last = text.trim_end().lines().rev().take(3).collect::<Vec<_>>().join("; ");
            Err(io::Error::new(error.kind(), format!("{error}: {last}")))
        }
    }
}

fn owned(descriptor: libc::c_long) -> io::Result<OwnedFd> {
    let number = i32::try_from(descriptor).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the kernel has just given it out, close-on-exec, to this call alone.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
