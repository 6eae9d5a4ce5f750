//! What the kernel has counted of this thread or process: faults, switches and reads, by `getrusage(2)`.

use std::io;
use std::mem::MaybeUninit;

/// What `ru_inblock` counts in.
const BLOCK_BYTES: u64 = 512;

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Faults that found their page in memory.
    pub faults_minor: u64,
    /// Faults that waited for the disc.
    pub faults_major: u64,
    /// Times it gave the processor away, to wait.
    pub switches_voluntary: u64,
    /// Times the processor was taken from it.
    pub switches_involuntary: u64,
    /// Bytes that were read from discs for it.
    pub read_bytes: u64,
}

impl Usage {
    /// The usage of the calling thread alone.
    pub(crate) fn of_thread() -> io::Result<Self> {
        Self::of(libc::RUSAGE_THREAD)
    }

    /// The usage of all threads of this process, ended ones too.
    pub(crate) fn of_process() -> io::Result<Self> {
        Self::of(libc::RUSAGE_SELF)
    }

    fn of(who: libc::c_int) -> io::Result<Self> {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel fills the structure, which is valid for every bit pattern.
        let usage = unsafe {
            super::check(libc::getrusage(who, usage.as_mut_ptr()).into())?;
            usage.assume_init()
        };
        Ok(Self {
            faults_minor: usage.ru_minflt.unsigned_abs(),
            faults_major: usage.ru_majflt.unsigned_abs(),
            switches_voluntary: usage.ru_nvcsw.unsigned_abs(),
            switches_involuntary: usage.ru_nivcsw.unsigned_abs(),
            read_bytes: usage.ru_inblock.unsigned_abs() * BLOCK_BYTES,
        })
    }

    /// What came since an earlier look.
    #[must_use]
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            faults_minor: self.faults_minor.saturating_sub(before.faults_minor),
            faults_major: self.faults_major.saturating_sub(before.faults_major),
            switches_voluntary: self.switches_voluntary.saturating_sub(before.switches_voluntary),
            switches_involuntary: self
                .switches_involuntary
                .saturating_sub(before.switches_involuntary),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_fresh_memory_faults() {
        let before = (Usage::of_thread().unwrap(), Usage::of_process().unwrap());
        let fresh = std::hint::black_box(vec![1_u8; 64 << 20]);
        let since = Usage::of_thread().unwrap().since(before.0);
        assert!(since.faults_minor > 0, "{since:?} of {} bytes", fresh.len());
        let since_all = Usage::of_process().unwrap().since(before.1);
        assert!(since_all.faults_minor >= since.faults_minor);
    }
}
