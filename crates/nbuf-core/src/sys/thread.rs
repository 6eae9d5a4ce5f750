//! Threads by their number: a signal to one, sleeping for one, and how long another has run.

use std::io;
use std::mem::MaybeUninit;

/// The number of the calling thread, unique on the machine.
pub(crate) fn number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// A signal that no thread of this process handles, only sleeps for: the first real-time one that
/// the C library leaves free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quiet(i32);

impl Quiet {
    /// Blocks it for the calling thread, so that it waits until it is asked for.
    pub(crate) fn block() -> io::Result<Self> {
        let quiet = Self(libc::SIGRTMIN());
        let set = quiet.set();
        // SAFETY: `set` is a live local; the old mask is not asked for.
        let status =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        if status == 0 { Ok(quiet) } else { Err(io::Error::from_raw_os_error(status)) }
    }

    /// Sends it to a thread of this process.
    pub(crate) fn send(self, thread: i32) -> io::Result<()> {
        // SAFETY: a plain system call without pointers.
        let sent = unsafe {
            libc::syscall(
                libc::SYS_tgkill,
                rustix::process::getpid().as_raw_nonzero().get(),
                thread,
                self.0,
            )
        };
        super::check(sent).map(drop)
    }

    /// Sleeps until it has been sent to the calling thread.
    pub(crate) fn wait(self) -> io::Result<()> {
        let set = self.set();
        loop {
            // SAFETY: `set` is a live local; the null pointer asks for no details of the signal.
            let got = unsafe { libc::sigwaitinfo(&raw const set, std::ptr::null_mut()) };
            match super::check(got.into()) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn set(self) -> libc::sigset_t {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` initialises the set.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), self.0);
            set.assume_init()
        }
    }
}

/// The clock of the processor time of one thread, which any thread of the process may read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessorClock(libc::clockid_t);

impl ProcessorClock {
    /// Returns the clock of the calling thread.
    pub(crate) fn of_this_thread() -> io::Result<Self> {
        let mut clock = MaybeUninit::uninit();
        // SAFETY: the calling thread lives, and `clock` is a live local that the call fills.
        unsafe {
            let status = libc::pthread_getcpuclockid(libc::pthread_self(), clock.as_mut_ptr());
            if status != 0 {
                return Err(io::Error::from_raw_os_error(status));
            }
            Ok(Self(clock.assume_init()))
        }
    }

    /// Nanoseconds for which it has run up to now. An error once it has ended.
    pub(crate) fn ran_ns(self) -> io::Result<u64> {
        let mut ran = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `ran` is a live local.
        super::check(unsafe { libc::clock_gettime(self.0, &raw mut ran) }.into())?;
        Ok(ran.tv_sec.unsigned_abs() * 1_000_000_000 + ran.tv_nsec.unsigned_abs())
    }
}
