//! What the processor's architecture decides: how filters over system calls know its calls, and
//! which calls it has that newer architectures do without.
//!
//! A tracer and a filter need no registers: the kernel says what a call is and what it was given in the same
//! form everywhere (`PTRACE_GET_SYSCALL_INFO`, `struct seccomp_data`). A sample has none of that, so
//! [`registers`] says which registers tell where a program entered the kernel.

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

/// The registers of a program in a sample: `asm/perf_regs.h`.
pub(crate) mod registers {
    /// How many there are in a sample.
    pub(crate) const COUNT: usize = MASK.count_ones() as usize;

    /// AX, SP and IP.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const MASK: u64 = 1 << 0 | 1 << 7 | 1 << 8;
    /// SP and PC.
    #[cfg(target_arch = "aarch64")]
    pub(crate) const MASK: u64 = 1 << 31 | 1 << 32;
    /// None: no place is known.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(crate) const MASK: u64 = 0;

    /// Where the kernel keeps the registers of a program in a call (`struct pt_regs`): AX, the number of the call, its
    /// first two arguments, SP and IP. None where the number and the arguments are not kept, or it was not tried.
    pub(crate) const KEPT: Option<[i16; 6]> =
        if cfg!(target_arch = "x86_64") { Some([80, 120, 112, 104, 152, 128]) } else { None };

    /// The stack and the next instruction.
    pub(crate) fn place(values: [u64; COUNT]) -> (u64, u64) {
        match values[..] {
            [.., stack, instruction] => (stack, instruction),
            _ => (0, 0),
        }
    }

    /// Whether the program is in a system call; nothing where the registers do not say. On x86-64 the
    /// kernel puts `-ENOSYS` where the result will be.
    pub(crate) fn in_call(values: [u64; COUNT]) -> Option<bool> {
        let no_result = i64::from(-libc::ENOSYS).cast_unsigned();
        cfg!(target_arch = "x86_64").then(|| values.first() == Some(&no_result))
    }
}
