//! Ending all that a command has started, faster than it starts more: with async-signal-safe calls only,
//! and nothing allocated.
//!
//! A group of our own is killed by the kernel at once (`cgroup.kill`, Linux 5.14), or frozen first. Without
//! one all descendants are stopped, in rounds until a round finds no new one, and then killed: what is
//! stopped starts nothing. There is no pause between rounds.

use std::ffi::{CString, c_char, c_int};
use std::sync::atomic::{AtomicI32, Ordering};

/// The paths of a private cgroup, as the far side of a fork needs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPaths {
    /// Its directory.
    pub directory: CString,
    /// Its list of processes.
    pub processes: CString,
    /// Kills it, in the unified hierarchy.
    pub kill: CString,
    /// Freezes it, there.
    pub freeze: CString,
}

/// Rounds of stopping before killing begins all the same.
const FREEZE_ROUNDS: usize = 64;
/// Descendants that one round knows; the rest falls to the next.
const LIST: usize = 1 << 16;

/// The descendants found in a round. The process has no other threads, so that no other thread writes here.
static FOUND: [AtomicI32; LIST] = [const { AtomicI32::new(0) }; LIST];

/// Asks what is in these groups, or else every descendant of this process, to end.
pub(super) unsafe fn ask_all_to_end(groups: &[GroupPaths]) {
    // SAFETY: as in `kill_all`.
    unsafe {
        go_first();
        match groups.first() {
            // All are in each of them.
            Some(group) => signal_listed(group.processes.as_ptr(), libc::SIGTERM),
            None => {
                signal_descendants(libc::SIGTERM);
            }
        }
    }
}

/// Takes precedence over what is to be ended, which may be hundreds that all want to run. Refused to all
/// but root.
unsafe fn go_first() {
    // SAFETY: a plain system call on numbers.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
}

/// Kills what is in these groups, and every descendant of this process.
pub(in crate::sys) unsafe fn kill_all(groups: &[GroupPaths]) {
    // SAFETY: C strings that live as long as the groups.
    unsafe {
        go_first();
        let mut killed = false;
        for group in groups {
            killed |= write_one(group.kill.as_ptr());
        }
        if !killed {
            for group in groups {
                write_one(group.freeze.as_ptr());
            }
            freeze();
        }
        for group in groups {
            signal_listed(group.processes.as_ptr(), libc::SIGKILL);
        }
        signal_descendants(libc::SIGKILL);
    }
}

/// Stops descendants until none is new.
unsafe fn freeze() {
    let mut before = usize::MAX;
    for _ in 0..FREEZE_ROUNDS {
        // SAFETY: as in `kill_all`.
        let found = unsafe { signal_descendants(libc::SIGSTOP) };
        if found == before {
            return;
        }
        before = found;
    }
}

/// Signals every descendant of this process, parents first. How many there are.
///
/// What a thread other than its process's first has started is found when it falls to us, its reaper.
unsafe fn signal_descendants(signal: c_int) -> usize {
    let (mut found, mut at) = (0, 0);
    let mut path = c"/proc/thread-self/children".as_ptr();
    let mut place;
    loop {
        let mut take = |pid: c_int| {
            if let Some(slot) = FOUND.get(found) {
                slot.store(pid, Ordering::Relaxed);
                found += 1;
                // SAFETY: a plain system call on numbers.
                unsafe { libc::kill(pid, signal) };
            }
        };
        // SAFETY: a constant at first, then a live local with a zero byte at its end.
        unsafe { each_listed(path, &mut take) };
        if at == found {
            return found;
        }
        place = children_of(FOUND[at].load(Ordering::Relaxed));
        path = place.as_ptr().cast();
        at += 1;
    }
}

/// `/proc/PID/task/PID/children`, with a zero byte at its end.
fn children_of(pid: c_int) -> [u8; 64] {
    let mut digits = [0u8; 10];
    let (mut rest, mut count) = (pid.unsigned_abs(), 0);
    while rest > 0 || count == 0 {
        digits[count] = b"0123456789"[(rest % 10) as usize];
        rest /= 10;
        count += 1;
    }
    let mut path = [0u8; 64];
    let mut end = 0;
    let mut push = |bytes: &mut dyn Iterator<Item = u8>| {
        for byte in bytes {
            path[end] = byte;
            end += 1;
        }
    };
    push(&mut b"/proc/".iter().copied());
    push(&mut digits[..count].iter().rev().copied());
    push(&mut b"/task/".iter().copied());
    push(&mut digits[..count].iter().rev().copied());
    push(&mut b"/children".iter().copied());
    path
}

/// Writes "1" to a file of the kernel's. Whether it took it.
unsafe fn write_one(path: *const c_char) -> bool {
    // SAFETY: the path is a C string.
    unsafe {
        let file = libc::open(path, libc::O_WRONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let written = libc::write(file, c"1".as_ptr().cast(), 1);
        libc::close(file);
        written == 1
    }
}

/// Signals every process listed in a file of decimal numbers.
pub(in crate::sys) unsafe fn signal_listed(path: *const c_char, signal: c_int) {
    // SAFETY: a plain system call on numbers; the path is a C string.
    unsafe {
        each_listed(path, &mut |pid| {
            libc::kill(pid, signal);
        });
    }
}

/// The numbers above 1 in a file of decimal numbers.
unsafe fn each_listed(path: *const c_char, each: &mut dyn FnMut(c_int)) {
    // SAFETY: the path is a C string.
    unsafe {
        let file = libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC);
        if file >= 0 {
            each_number(file, each);
            libc::close(file);
        }
    }
}

/// The numbers above 1 in an open file of decimal numbers.
unsafe fn each_number(file: c_int, each: &mut dyn FnMut(c_int)) {
    // SAFETY: the buffer is a live local of the size that is passed; the descriptor is the caller's.
    unsafe {
        let mut buffer = [0u8; 4096];
        let mut pid: c_int = 0;
        loop {
            let got = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
            let Ok(got @ 1..) = usize::try_from(got) else {
                break;
            };
            for &byte in &buffer[..got] {
                if byte.is_ascii_digit() {
                    pid = pid.wrapping_mul(10).wrapping_add(c_int::from(byte - b'0'));
                } else {
                    if pid > 1 {
                        each(pid);
                    }
                    pid = 0;
                }
            }
        }
        if pid > 1 {
            each(pid);
        }
    }
}

/// Kills what is in the group with this directory.
pub(in crate::sys) unsafe fn kill_in(directory: c_int) {
    // SAFETY: constant C strings, and numbers.
    unsafe {
        let file =
            libc::openat(directory, c"cgroup.procs".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file >= 0 {
            each_number(file, &mut |pid| {
                libc::kill(pid, libc::SIGKILL);
            });
            libc::close(file);
        }
    }
}

impl GroupPaths {
    /// Those of a group with this directory.
    pub fn of(directory: &std::path::Path) -> Self {
        use std::os::unix::ffi::OsStrExt;
        let c =
            |path: &std::path::Path| CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
        Self {
            directory: c(directory),
            processes: c(&directory.join("cgroup.procs")),
            kill: c(&directory.join("cgroup.kill")),
            freeze: c(&directory.join("cgroup.freeze")),
        }
    }
}

/// Kills what is in one group; for those who may allocate.
pub(in crate::sys) fn kill_group(directory: &std::path::Path) {
    let paths = GroupPaths::of(directory);
    // SAFETY: C strings that live to the end of this function.
    unsafe {
        if !write_one(paths.kill.as_ptr()) {
            write_one(paths.freeze.as_ptr());
            signal_listed(paths.processes.as_ptr(), libc::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn the_path_of_a_list_is_made_without_a_heap() {
        for pid in [1, 10, 987, i32::MAX] {
            let path = children_of(pid);
            let path = CStr::from_bytes_until_nul(&path).unwrap().to_str().unwrap();
            assert_eq!(path, format!("/proc/{pid}/task/{pid}/children"));
        }
    }
}
