//! What the processor's architecture decides: how filters over system calls know its calls, and
//! which calls it has that newer architectures do without.
//!
//! Registers are not here: the kernel says what a call is and what it was given in the same form
//! everywhere (`PTRACE_GET_SYSCALL_INFO`), and a filter sees `struct seccomp_data`.

use libc::c_long;

/// How the kernel calls the architecture in a filter (`linux/audit.h`); none where recording by
/// system calls was never tried and is refused.
pub(crate) const AUDIT: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// A call that newer architectures do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Old {
    /// `open(path, flags)`
    Open,
    /// `creat(path)`
    Create,
    /// `dup2(old, new)`
    Duplicate,
    /// `rename(old, new)`
    Rename,
    /// `unlink(path)`
    Unlink,
}

/// Those that there are, by number.
#[cfg(target_arch = "x86_64")]
pub(crate) const OLD: &[(c_long, Old)] = &[
    (libc::SYS_open, Old::Open),
    (libc::SYS_creat, Old::Create),
    (libc::SYS_dup2, Old::Duplicate),
    (libc::SYS_rename, Old::Rename),
    (libc::SYS_unlink, Old::Unlink),
];
/// Those that there are, by number.
#[cfg(not(target_arch = "x86_64"))]
pub const OLD: &[(c_long, Old)] = &[];

/// The old call with this number.
pub(crate) fn old(number: c_long) -> Option<Old> {
    OLD.iter().find(|(known, _)| *known == number).map(|&(_, old)| old)
}
