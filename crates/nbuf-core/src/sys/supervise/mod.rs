//! The supervisor: a small process between us and the command, which outlives whichever of us is
//! killed. `docs/decisions/0002-supervisor-process.md` tells why it exists.
//!
//! Between `fork` and `exec` or `_exit` only async-signal-safe calls are made and nothing is
//! allocated, so that a program with threads may fork: every string and descriptor is prepared
//! before.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

mod child;
pub(super) mod children;
pub(super) mod kill;
pub(super) mod owner;

use super::check;
use super::seccomp::Filter;
use child::Prepared;
pub(crate) use kill::GroupPaths;

/// Who the command runs as, when not as ourselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// User.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
}

/// Everything the supervisor and the command need, made before the fork.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Program and arguments.
    pub arguments: Vec<CString>,
    /// `NAME=value`
    pub environment: Vec<CString>,
    /// Paths to try for the program, in order: `PATH` resolved before the fork.
    pub programs: Vec<CString>,
    /// Who to become.
    pub identity: Option<Identity>,
    /// `cgroup.procs` files, open for writing, that the command joins.
    pub join: Vec<OwnedFd>,
    /// Private cgroups, to be emptied and removed if our process dies.
    pub cgroups: Vec<GroupPaths>,
    /// Descriptors that become the command's standard input, output and error.
    pub standard: [Option<OwnedFd>; 3],
    /// Calls that the command will stop at. A tracer must stand by when it is let go.
    pub filter: Option<Filter>,
    /// The supervisor ends everything this long after [`Supervisor::go`]. Our process may be held up.
    pub deadline_ms: Option<i64>,
}

/// What the supervisor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// There is no process for the command: `errno`. Nothing follows.
    StartFailed {
        /// `EAGAIN`, `ENOMEM`, ...
        errno: i32,
    },
    /// The command's process exists and waits for [`Supervisor::go`].
    Ready {
        /// Its process number.
        pid: i32,
    },
    /// The program could not be executed: `errno`.
    ExecFailed {
        /// `ENOENT`, `EACCES`, ...
        errno: i32,
    },
    /// The command itself ended.
    MainEnded {
        /// As from `wait(2)`.
        status: i32,
    },
    /// The last descendant ended.
    AllEnded { used: Used, timed_out: bool },
}

/// What the command and all its descendants have used, as `getrusage(2)` counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// Time in programs.
    pub user_ns: u64,
    /// Time in the kernel.
    pub system_ns: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that needed none.
    pub minor_faults: u64,
    /// Bytes read from block devices.
    pub bytes_read: u64,
    /// Bytes of pages made dirty, and of writes past the cache.
    pub bytes_written: u64,
    /// The most memory that one of the processes had at once.
    pub resident_bytes_max: u64,
    /// Times that a thread left its processor to wait, and that it was taken from one.
    pub switches: [u64; 2],
}

/// Our end of a running supervisor.
#[derive(Debug)]
pub(crate) struct Supervisor {
    /// Its process number, our child's.
    pub pid: i32,
    socket: OwnedFd,
}

/// The message on the socket.
#[derive(Clone, Copy)]
#[repr(C)]
struct Message {
    kind: u64,
    value: i64,
    more: [u64; USED],
}

/// How many numbers a report of what was used has.
const USED: usize = 9;

const READY: u64 = 1;
const EXEC_FAILED: u64 = 2;
const MAIN_ENDED: u64 = 3;
const ALL_ENDED: u64 = 4;
const START_FAILED: u64 = 5;

impl Supervisor {
    /// Forks the supervisor, which forks the command. Nothing is executed before [`Self::go`].
    pub(crate) fn start(plan: &Plan) -> io::Result<Self> {
        let mut pair = [0 as RawFd; 2];
        // SAFETY: `pair` has room for the two descriptors the kernel returns.
        unsafe {
            let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
            check(libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()).into())?;
        }
        // SAFETY: both were just returned by the kernel.
        let (ours, theirs) =
            unsafe { (OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1])) };
        let prepared = Prepared::new(plan, ours.as_raw_fd(), theirs.as_raw_fd());
        // SAFETY: the child runs `Prepared::supervise`, which keeps to async-signal-safe calls.
        let pid = unsafe { libc::fork() };
        check(pid.into())?;
        if pid == 0 {
            prepared.supervise();
        }
        drop(theirs);
        Ok(Self { pid, socket: ours })
    }

    /// Lets the command execute.
    pub(crate) fn go(&self) -> io::Result<()> {
        self.say(b'g')
    }

    /// Asks the supervisor to end what still runs: `SIGTERM` first, `SIGKILL` after a second.
    pub(crate) fn end_all(&self) -> io::Result<()> {
        self.say(b'e')
    }

    /// Asks the supervisor to kill whatever is still running.
    pub(crate) fn kill_all(&self) -> io::Result<()> {
        self.say(b'k')
    }

    fn say(&self, word: u8) -> io::Result<()> {
        // SAFETY: one byte from a live local; MSG_NOSIGNAL because the other end may be gone.
        let sent = unsafe {
            libc::send(self.socket.as_raw_fd(), (&raw const word).cast(), 1, libc::MSG_NOSIGNAL)
        };
        match check(sent.try_into().unwrap_or(-1)) {
            // It has ended; its last report, or the end of file, tells how.
            Err(error) if is_gone(&error) => Ok(()),
            said => said.map(drop),
        }
    }

    /// The next report if there is one; `Err(UnexpectedEof)` when the supervisor is gone.
    pub(crate) fn report(&self) -> io::Result<Option<Report>> {
        let Some(message) = receive(&self.socket)? else { return Ok(None) };
        let value = i32::try_from(message.value).unwrap_or(0);
        Ok(Some(match message.kind {
            START_FAILED => Report::StartFailed { errno: value },
            READY => Report::Ready { pid: value },
            EXEC_FAILED => Report::ExecFailed { errno: value },
            MAIN_ENDED => Report::MainEnded { status: value },
            _ => Report::AllEnded { used: Used::of(message.more), timed_out: value != 0 },
        }))
    }

    /// The descriptor, to wait for.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.socket
    }
}

/// The next message if there is one; `Err(UnexpectedEof)` when none will come.
fn receive(socket: &OwnedFd) -> io::Result<Option<Message>> {
    let size = size_of::<Message>();
    let mut ends = 0;
    loop {
        let mut message = MaybeUninit::<Message>::zeroed();
        // SAFETY: the kernel writes at most `size` bytes into a structure that is valid for every
        // bit pattern.
        let (got, message) = unsafe {
            let (fd, into) = (socket.as_raw_fd(), message.as_mut_ptr().cast());
            (libc::recv(fd, into, size, libc::MSG_DONTWAIT), message.assume_init())
        };
        if got < 0 {
            let error = io::Error::last_os_error();
            match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(None),
                // It ended without reading our last message. The kernel reports that once, and
                // before its last message.
                io::ErrorKind::ConnectionReset => {}
                _ => return Err(error),
            }
        } else if usize::try_from(got) == Ok(size) {
            return Ok(Some(message));
        } else if ends > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        } else {
            // The kernel looks for a message first, and only then whether the other end is closed: a
            // message that was sent between is there still (`__unix_dgram_recvmsg`).
            ends += 1;
        }
    }
}

impl Used {
    fn of(numbers: [u64; USED]) -> Self {
        let [user_us, system_us, major_faults, minor_faults, read, written, kib, waits, losses] =
            numbers;
        Self {
            user_ns: user_us * 1000,
            system_ns: system_us * 1000,
            major_faults,
            minor_faults,
            bytes_read: read * 512,
            bytes_written: written * 512,
            resident_bytes_max: kib << 10,
            switches: [waits, losses],
        }
    }
}

/// Whether the other end of a socket is gone.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    /// A pair of connected sockets of the kind that a supervisor has.
    fn pair() -> (OwnedFd, OwnedFd) {
        use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    fn the_last_message_of_a_supervisor_that_ends_at_once_is_read() {
        let (give, take) = std::sync::mpsc::channel::<(i64, OwnedFd)>();
        let sends = std::thread::spawn(move || {
            for (value, theirs) in take {
                let message = Message { kind: ALL_ENDED, value, more: [0; USED] };
                // SAFETY: the message is plain numbers, without padding.
                let bytes: [u8; size_of::<Message>()] = unsafe { std::mem::transmute(message) };
                UnixDatagram::from(theirs).send(&bytes).unwrap();
            }
        });
        for round in 0..20_000 {
            let (ours, theirs) = pair();
            give.send((round, theirs)).unwrap();
            let got = loop {
                if let Some(message) = receive(&ours).unwrap() {
                    break message;
                }
            };
            assert_eq!((got.kind, got.value), (ALL_ENDED, round));
        }
        drop(give);
        sends.join().unwrap();
    }

    #[test]
    fn the_end_of_a_supervisor_is_an_error() {
        let (ours, theirs) = pair();
        assert!(receive(&ours).unwrap().is_none());
        drop(theirs);
        assert_eq!(receive(&ours).map(drop).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
