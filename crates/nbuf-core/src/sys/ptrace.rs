//! Tracing processes with `ptrace(2)`: their stops, and what they were about to do.
//!
//! A tracee belongs to the thread that seized it: every call here is made by that one thread, and
//! the kernel kills all tracees when it ends (`PTRACE_O_EXITKILL`).

use std::io;

/// Why a tracee stopped, or that it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It ended: the thread is no more.
    Gone,
    /// It is about to make a system call that its filter names.
    Call,
    /// A system call is over that was resumed with [`Resume::ToExit`].
    CallEnd,
    /// It has made a process or a thread, which is a tracee too.
    Child,
    /// It has executed a program. All its other threads are gone without a word.
    Executed,
    /// It is about to end; its memory is still there.
    Ending,
    /// A signal is about to be delivered.
    Signal(i32),
    /// It has been stopped by a signal, as a shell stops a job.
    Group,
    /// A new tracee's first stop, or the end of a group's.
    Event,
}

/// How a tracee goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    /// Until something happens; the signal is delivered, unless it is 0.
    On(i32),
    /// As far as the end of the system call.
    ToExit,
    /// Not at all: it stays stopped until it is continued.
    Stay,
}

/// A system call, as it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its number.
    pub number: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
}

/// The type of `ptrace`'s first argument in each C library.
#[cfg(target_env = "gnu")]
type Request = libc::c_uint;
#[cfg(not(target_env = "gnu"))]
type Request = libc::c_int;

// From `linux/ptrace.h`: the `libc` crate has them for GNU's library alone.
const PTRACE_GET_SYSCALL_INFO: Request = 0x420E;
const PTRACE_SYSCALL_INFO_EXIT: u8 = 2;
const PTRACE_SYSCALL_INFO_SECCOMP: u8 = 3;

/// `struct ptrace_syscall_info`, whose union begins with a number at every stop.
#[derive(Default)]
#[repr(C)]
struct SyscallInfo {
    op: u8,
    architecture: u32,
    instruction_pointer: u64,
    stack_pointer: u64,
    /// The call's number at its begin, what it returned at its end.
    number: u64,
    arguments: [u64; 6],
    filter_data: u32,
}

/// What is asked of the kernel for each tracee.
const OPTIONS: i32 = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEVFORK;

/// Makes `pid` and everything it will start tracees of the calling thread. It is not stopped.
///
/// # Errors
/// `EPERM` where the process is not ours, is traced, or a security module or a container's filter
/// forbids it.
pub(crate) fn seize(pid: i32) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, pid, 0, OPTIONS.unsigned_abs().into()).map(drop)
}

/// The next stop of any tracee of the calling thread; `None` when none is left.
pub(crate) fn wait() -> io::Result<Option<(i32, Stop)>> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a live local. Children of other threads are not waited for.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        if pid > 0 {
            return Ok(Some((pid, stop(status))));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::ECHILD) => return Ok(None),
            Some(libc::EINTR) => {}
            _ => return Err(error),
        }
    }
}

/// What a status of `waitpid` means for a tracee that was seized.
fn stop(status: i32) -> Stop {
    if !libc::WIFSTOPPED(status) {
        return Stop::Gone;
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        0 if signal == libc::SIGTRAP | 0x80 => Stop::CallEnd,
        0 => Stop::Signal(signal),
        libc::PTRACE_EVENT_SECCOMP => Stop::Call,
        libc::PTRACE_EVENT_EXEC => Stop::Executed,
        libc::PTRACE_EVENT_EXIT => Stop::Ending,
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
            Stop::Child
        }
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Stop::Group,
        _ => Stop::Event,
    }
}

/// Lets a stopped tracee go on. One that was killed meanwhile is no error.
pub(crate) fn resume(pid: i32, how: Resume) -> io::Result<()> {
    let done = match how {
        Resume::On(signal) => request(libc::PTRACE_CONT, pid, 0, signal.unsigned_abs().into()),
        Resume::ToExit => request(libc::PTRACE_SYSCALL, pid, 0, 0),
        Resume::Stay => request(libc::PTRACE_LISTEN, pid, 0, 0),
    };
    match done {
        Err(error) if error.raw_os_error() != Some(libc::ESRCH) => Err(error),
        _ => Ok(()),
    }
}

/// The system call that a tracee at [`Stop::Call`] is about to make.
pub(crate) fn call(pid: i32) -> Option<Call> {
    let info = syscall_info(pid).filter(|info| info.op == PTRACE_SYSCALL_INFO_SECCOMP)?;
    Some(Call { number: info.number, arguments: info.arguments })
}

/// What the system call returned of which a tracee is at [`Stop::CallEnd`]: negative means `errno`.
pub(crate) fn result(pid: i32) -> Option<i64> {
    let info = syscall_info(pid).filter(|info| info.op == PTRACE_SYSCALL_INFO_EXIT)?;
    Some(info.number.cast_signed())
}

fn syscall_info(pid: i32) -> Option<SyscallInfo> {
    let mut info = SyscallInfo::default();
    let at = (&raw mut info) as u64;
    request(PTRACE_GET_SYSCALL_INFO, pid, size_of::<SyscallInfo>(), at).ok()?;
    Some(info)
}

/// Reads a tracee's memory. The number of bytes that could be read.
pub(crate) fn read_memory(pid: i32, address: u64, into: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let Ok(base) = usize::try_from(address) else { return 0 };
    let remote = libc::iovec { iov_base: base as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: the kernel writes at most `into.len()` bytes into `into`; what the other address
    // stands for is checked by it.
    let got = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(got).unwrap_or(0)
}

/// Tries whether a process of ours can be traced here, on a child that does nothing else.
pub(crate) fn probe() -> io::Result<()> {
    // SAFETY: the child makes one async-signal-safe call after the other and never returns.
    let pid = unsafe { libc::fork() };
    super::check(pid.into())?;
    if pid == 0 {
        // SAFETY: as above. It sleeps until it is killed, by us or by our end.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            loop {
                libc::pause();
            }
        }
    }
    let seized = seize(pid);
    let mut status = 0;
    // SAFETY: our own child, which no thread has waited for; `status` is a live local.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        while libc::waitpid(pid, &raw mut status, libc::__WALL) == pid && libc::WIFSTOPPED(status) {
            let _ = resume(pid, Resume::On(0));
        }
    }
    seized
}

fn request(request: Request, pid: i32, address: usize, data: u64) -> io::Result<libc::c_long> {
    // SAFETY: requests that write get the address and the size of a live local from their callers
    // above; the others take numbers.
    super::check(unsafe { libc::ptrace(request, pid, address, data) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_taken_apart() {
        let stopped = |signal: i32, event: i32| signal << 8 | 0x7f | event << 16;
        let cases = [
            (0, Stop::Gone),
            (9, Stop::Gone),
            (stopped(libc::SIGTRAP, 0), Stop::Signal(libc::SIGTRAP)),
            (stopped(libc::SIGSTOP, 0), Stop::Signal(libc::SIGSTOP)),
            (stopped(libc::SIGTRAP | 0x80, 0), Stop::CallEnd),
            (stopped(libc::SIGTRAP, libc::PTRACE_EVENT_SECCOMP), Stop::Call),
            (stopped(libc::SIGTRAP, libc::PTRACE_EVENT_STOP), Stop::Event),
            (stopped(libc::SIGTSTP, libc::PTRACE_EVENT_STOP), Stop::Group),
            (stopped(libc::SIGTRAP, libc::PTRACE_EVENT_VFORK), Stop::Child),
            (stopped(libc::SIGTRAP, libc::PTRACE_EVENT_VFORK_DONE), Stop::Event),
        ];
        for (status, want) in cases {
            assert_eq!(stop(status), want, "{status:#x}");
        }
    }

    #[test]
    fn memory_is_read_as_far_as_it_goes() {
        let text = *b"a name";
        let mut copy = [0; 6];
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(read_memory(pid, text.as_ptr() as u64, &mut copy), 6);
        assert_eq!(copy, text);
        assert_eq!(read_memory(pid, 8, &mut copy), 0, "no page there");
    }
}
