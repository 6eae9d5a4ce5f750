//! What a system call asks of files: its number and its arguments, taken apart. Pure.

use crate::sys::architecture::{self, Old};
use crate::sys::ptrace::Call;
use crate::sys::seccomp::When;
use crate::workload::record::advice::WILL_NEED;

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Where the descriptor stands.
    Current,
    /// Here.
    Byte(u64),
    /// Where a number in the process's memory says.
    Pointer(u64),
}

/// How much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Much {
    /// This many bytes.
    Bytes(u64),
    /// As much as this array of `iovec` in the process's memory takes.
    Vector {
        /// Its address.
        address: u64,
        /// Its entries.
        count: u64,
    },
}

/// A file by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Relative to this directory; `AT_FDCWD` for the process's own.
    pub(super) directory: i32,
    /// Address of the path.
    pub(super) path: u64,
}

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// To read.
    Read { file: u32, at: At, much: Much },
    /// To write.
    Write { file: u32, at: At, much: Much },
    /// To move bytes between descriptors; how many is known at its end.
    Copy { from: u32, from_at: At, to: u32, to_at: At },
    /// To map a file; where is known at its end.
    Map { bytes: u64 },
    /// To take a mapping away.
    Unmap { address: u64, bytes: u64 },
    /// To cut a file off.
    Cut { file: u32, bytes: u64 },
    /// To cut a file off, by name; opening a file again is that too.
    CutNamed { named: Named, bytes: u64 },
    /// To remove a name, or to give it to another file.
    Remove { named: Named },
    /// To take advice on how a file will be read, or that a part of it will not be wanted again.
    Advise { file: u32, from: u64, bytes: u64, advice: u64 },
    /// To execute a program: the memory as it is now goes.
    Execute,
    /// To ask for files in a way that is not followed.
    Unseen(Unseen),
}

/// Ways that this capture does not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    /// `io_uring_setup`
    Ring,
    /// `io_setup`
    Asynchronous,
    /// `ptrace`: the process is traced already.
    Trace,
}

/// Every call that a tracee stops at, those that come most often first.
pub(super) fn calls() -> Vec<(libc::c_long, When)> {
    let anonymous = libc::MAP_ANONYMOUS.unsigned_abs();
    let anew = libc::O_TRUNC.unsigned_abs();
    let always = [
        libc::SYS_read,
        libc::SYS_pread64,
        libc::SYS_write,
        libc::SYS_pwrite64,
        libc::SYS_readv,
        libc::SYS_preadv,
        libc::SYS_preadv2,
        libc::SYS_writev,
        libc::SYS_pwritev,
        libc::SYS_pwritev2,
        libc::SYS_sendfile,
        libc::SYS_splice,
        libc::SYS_copy_file_range,
        libc::SYS_fadvise64,
        libc::SYS_readahead,
        libc::SYS_munmap,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_unlinkat,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_ftruncate,
        libc::SYS_truncate,
        libc::SYS_io_uring_setup,
        libc::SYS_io_setup,
        libc::SYS_ptrace,
    ];
    let mut calls: Vec<_> = always.map(|number| (number, When::Always)).into();
    calls.push((libc::SYS_mmap, When::HasNot { argument: 3, bits: anonymous }));
    calls.push((libc::SYS_openat, When::Has { argument: 2, bits: anew }));
    calls.extend(architecture::OLD.iter().filter_map(|&(number, old)| match old {
        Old::Open => Some((number, When::Has { argument: 1, bits: anew })),
        Old::Create | Old::Rename | Old::Unlink => Some((number, When::Always)),
        Old::Duplicate => None,
    }));
    calls
}

impl Request {
    /// What a call asks for; nothing of interest for any that is not among [`calls`].
    pub(super) fn of(call: &Call) -> Option<Self> {
        let a = call.arguments;
        // The kernel takes descriptors as ints, whatever the upper half holds.
        let file = |value: u64| u32::try_from(value & 0xffff_ffff).unwrap_or(u32::MAX);
        let here = |value: u64| libc::c_int::from_ne_bytes(file(value).to_ne_bytes());
        let vector = Much::Vector { address: a[1], count: a[2] };
        // A position of -1 stands for the descriptor's own in the calls of version 2.
        let second = |value: u64| if value == u64::MAX { At::Current } else { At::Byte(value) };
        let pointed = |value: u64| if value == 0 { At::Current } else { At::Pointer(value) };
        let cwd = libc::AT_FDCWD;
        Some(match libc::c_long::try_from(call.number).ok()? {
            libc::SYS_read => read(file(a[0]), At::Current, Much::Bytes(a[2])),
            libc::SYS_pread64 => read(file(a[0]), At::Byte(a[3]), Much::Bytes(a[2])),
            libc::SYS_fadvise64 => {
                Self::Advise { file: file(a[0]), from: a[1], bytes: a[2], advice: a[3] }
            }
            libc::SYS_readahead => {
                Self::Advise { file: file(a[0]), from: a[1], bytes: a[2], advice: WILL_NEED }
            }
            libc::SYS_readv => read(file(a[0]), At::Current, vector),
            libc::SYS_preadv => read(file(a[0]), At::Byte(a[3]), vector),
            libc::SYS_preadv2 => read(file(a[0]), second(a[3]), vector),
            libc::SYS_write => write(file(a[0]), At::Current, Much::Bytes(a[2])),
            libc::SYS_pwrite64 => write(file(a[0]), At::Byte(a[3]), Much::Bytes(a[2])),
            libc::SYS_writev => write(file(a[0]), At::Current, vector),
            libc::SYS_pwritev => write(file(a[0]), At::Byte(a[3]), vector),
            libc::SYS_pwritev2 => write(file(a[0]), second(a[3]), vector),
            libc::SYS_sendfile => Self::Copy {
                from: file(a[1]),
                from_at: pointed(a[2]),
                to: file(a[0]),
                to_at: At::Current,
            },
            libc::SYS_splice | libc::SYS_copy_file_range => Self::Copy {
                from: file(a[0]),
                from_at: pointed(a[1]),
                to: file(a[2]),
                to_at: pointed(a[3]),
            },
            libc::SYS_mmap => Self::Map { bytes: a[1] },
            libc::SYS_munmap => Self::Unmap { address: a[0], bytes: a[1] },
            libc::SYS_ftruncate => Self::Cut { file: file(a[0]), bytes: a[1] },
            libc::SYS_truncate => {
                Self::CutNamed { named: Named { directory: cwd, path: a[0] }, bytes: a[1] }
            }
            libc::SYS_openat => {
                Self::CutNamed { named: Named { directory: here(a[0]), path: a[1] }, bytes: 0 }
            }
            libc::SYS_unlinkat if a[2] == 0 => {
                Self::Remove { named: Named { directory: here(a[0]), path: a[1] } }
            }
            libc::SYS_renameat | libc::SYS_renameat2 => {
                Self::Remove { named: Named { directory: here(a[2]), path: a[3] } }
            }
            libc::SYS_execve | libc::SYS_execveat => Self::Execute,
            libc::SYS_io_uring_setup => Self::Unseen(Unseen::Ring),
            libc::SYS_io_setup => Self::Unseen(Unseen::Asynchronous),
            libc::SYS_ptrace => Self::Unseen(Unseen::Trace),
            number => match architecture::old(number)? {
                Old::Rename => Self::Remove { named: Named { directory: cwd, path: a[1] } },
                Old::Unlink => Self::Remove { named: Named { directory: cwd, path: a[0] } },
                Old::Open | Old::Create => {
                    Self::CutNamed { named: Named { directory: cwd, path: a[0] }, bytes: 0 }
                }
                Old::Duplicate => return None,
            },
        })
    }

    /// Whether more than its beginning must be seen.
    pub(super) fn needs_end(&self) -> bool {
        !matches!(
            self,
            Self::Read { .. } | Self::Write { .. } | Self::Unmap { .. } | Self::Unseen(_)
        )
    }
}

fn read(file: u32, at: At, much: Much) -> Request {
    Request::Read { file, at, much }
}

fn write(file: u32, at: At, much: Much) -> Request {
    Request::Write { file, at, much }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_call_is_what_its_arguments_say() {
        let many = Much::Vector { address: 7, count: 9 };
        let fd = u64::from(u32::MAX) << 32 | 3;
        let cases = [
            (libc::SYS_read, [fd, 7, 9, 0], Some(read(3, At::Current, Much::Bytes(9)))),
            (libc::SYS_pread64, [3, 7, 9, 5], Some(read(3, At::Byte(5), Much::Bytes(9)))),
            (libc::SYS_preadv2, [3, 7, 9, u64::MAX], Some(read(3, At::Current, many))),
            (libc::SYS_pwritev, [3, 7, 9, 5], Some(write(3, At::Byte(5), many))),
            (
                libc::SYS_sendfile,
                [4, 3, 77, 9],
                Some(Request::Copy {
                    from: 3,
                    from_at: At::Pointer(77),
                    to: 4,
                    to_at: At::Current,
                }),
            ),
            (
                libc::SYS_splice,
                [3, 0, 4, 77],
                Some(Request::Copy {
                    from: 3,
                    from_at: At::Current,
                    to: 4,
                    to_at: At::Pointer(77),
                }),
            ),
            (
                libc::SYS_openat,
                [0xffff_ffff_ffff_ff9c, 8, 0, 0],
                Some(Request::CutNamed { named: Named { directory: -100, path: 8 }, bytes: 0 }),
            ),
            // A directory.
            (libc::SYS_unlinkat, [3, 8, 0x200, 0], None),
            (libc::SYS_getpid, [0; 4], None),
        ];
        for (number, [a, b, c, d], want) in cases {
            let call = Call { number: number.unsigned_abs(), arguments: [a, b, c, d, 0, 0] };
            assert_eq!(Request::of(&call), want, "{call:?}");
        }
    }

    #[test]
    fn every_call_that_stops_asks_for_something() {
        for (number, _) in calls() {
            let call = Call { number: number.unsigned_abs(), arguments: [0; 6] };
            assert!(Request::of(&call).is_some(), "{number}");
        }
    }

    proptest! {
        #[test]
        fn any_numbers_are_a_request_or_none(number: u64, arguments: [u64; 6]) {
            let _ = Request::of(&Call { number, arguments });
            let _ = Request::of(&Call { number: number % 512, arguments });
        }
    }
}
