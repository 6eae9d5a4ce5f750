//! Sockets that a service manager opened for this process, by the protocol of `sd_listen_fds(3)`.
//!
//! They begin at descriptor 3. `LISTEN_PID` says for which process they are, `LISTEN_FDS` how many there are, and
//! `LISTEN_FDNAMES` their names.

use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fs, io};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::sockopt::{socket_acceptconn, socket_type};
use rustix::net::{SocketType, sockopt};

pub(crate) use rustix::net::AddressFamily;

/// The first descriptor.
const FIRST: RawFd = 3;
/// More than a service manager passes.
const COUNT_MAX: RawFd = 1024;
/// The variables of the protocol.
const VARIABLES: [&str; 3] = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"];

/// Descriptors are taken once.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// A listening socket that was passed.
#[derive(Debug)]
pub(crate) struct Passed {
    /// Its name; empty if it has none.
    pub name: String,
    /// Internet or Unix.
    pub family: AddressFamily,
    /// The socket, which is closed on `execve`.
    pub socket: OwnedFd,
}

/// Takes the sockets that were passed to this process: none if they are for another one, or were taken.
///
/// The variables are removed, so that no child takes the descriptors for its own. They stay if the process has
/// several threads already, which may read the environment; the descriptors are closed on `execve` in any case.
pub(crate) fn take() -> io::Result<Vec<Passed>> {
    let Some(count) = count(|name| env::var(name).ok())? else { return Ok(Vec::new()) };
    if IS_TAKEN.swap(true, Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
    let mut names = names.split(':');
    let passed = (FIRST..FIRST + count).map(|fd| socket(fd, names.next().unwrap_or_default()));
    let passed = passed.collect::<io::Result<Vec<Passed>>>()?;
    if fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1) {
        for name in VARIABLES {
            // SAFETY: this process has one thread, so that no other reads the environment.
            unsafe { env::remove_var(name) };
        }
    }
    Ok(passed)
}

/// How many descriptors are for this process.
fn count(variable: impl Fn(&str) -> Option<String>) -> io::Result<Option<RawFd>> {
    let [Some(pid), Some(count)] = ["LISTEN_PID", "LISTEN_FDS"].map(variable) else {
        return Ok(None);
    };
    if pid.parse() != Ok(std::process::id()) {
        return Ok(None);
    }
    match count.parse() {
        Ok(count) if (0..=COUNT_MAX).contains(&count) => Ok(Some(count)),
        _ => {
            Err(io::Error::other(format!("LISTEN_FDS is `{count}`, which is no number of sockets")))
        }
    }
}

fn socket(fd: RawFd, name: &str) -> io::Result<Passed> {
    let wrong = |what: String| io::Error::other(format!("descriptor {fd} ({name}): {what}"));
    // SAFETY: it is borrowed for the next calls only; a number that is not open is an error of the first one.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    let kernel = |error: rustix::io::Errno| wrong(io::Error::from(error).to_string());
    fcntl_setfd(borrowed, FdFlags::CLOEXEC).map_err(kernel)?;
    let listens = socket_acceptconn(borrowed).map_err(kernel)?;
    if !listens || socket_type(borrowed).map_err(kernel)? != SocketType::STREAM {
        return Err(wrong(
            "no listening stream socket; write Accept=no and ListenStream= in the unit".to_owned(),
        ));
    }
    let family = sockopt::socket_domain(borrowed).map_err(kernel)?;
    // SAFETY: the service manager opened it for this process, which LISTEN_PID names. It is taken once, and nothing
    // else here has a listening socket of this number.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    Ok(Passed { name: name.to_owned(), family, socket })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_of_another_process_are_left() {
        let ours = std::process::id().to_string();
        let check = |pid: Option<&str>, fds: Option<&str>| {
            let variable = |name: &str| if name == "LISTEN_PID" { pid } else { fds };
            count(|name| variable(name).map(str::to_owned)).map_err(|error| error.to_string())
        };
        assert_eq!(check(None, Some("1")), Ok(None));
        assert_eq!(check(Some("1"), Some("1")), Ok(None));
        assert_eq!(check(Some(&ours), None), Ok(None));
        assert_eq!(check(Some(&ours), Some("2")), Ok(Some(2)));
        for wrong in ["", "-1", "two", "99999"] {
            let error = check(Some(&ours), Some(wrong)).unwrap_err();
            assert!(error.contains("no number of sockets"), "{error}");
        }
    }
}
