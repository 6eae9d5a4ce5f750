//! The broker: a process that has become the sudo user for good, and makes calls about his files for a
//! process that is root.
//!
//! It is forked before any thread is started, holds nothing open but its socket, and ends with the
//! process it serves. It is not dumpable, so that the sudo user cannot take it over by `ptrace(2)`; even then
//! he would get no more than what he may open himself.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use super::message::{REQUEST_BYTES_MAX, Request};
use super::perform::perform;
use crate::sys::process::die_with;
use crate::sys::rights::become_for_good;
use crate::sys::supervise::Identity;
use crate::sys::supervise::children::{close_all_but, ignore_terminal};

/// Most descriptors of a message.
const DESCRIPTORS: usize = 2;
/// Longest words of an error.
const WORDS_BYTES: usize = 4096;
/// An answer that is an error without a number.
const IN_WORDS: i32 = -1;

/// Our end of a broker.
#[derive(Debug)]
pub(super) struct Broker {
    /// One question at a time: answers bear no number.
    socket: Mutex<OwnedFd>,
}

impl Broker {
    /// Forks one that becomes this user.
    pub(super) fn start(identity: &Identity) -> io::Result<Self> {
        let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let (ours, theirs) = socketpair(family, kind, SocketFlags::CLOEXEC, None)?;
        let parent = rustix::process::getpid().as_raw_nonzero().get();
        // SAFETY: the caller promises that there are no other threads, so that the child may do what
        // any process may. It never returns.
        let pid = unsafe { libc::fork() };
        crate::sys::check(pid.into())?;
        if pid == 0 {
            let status = serve(&theirs, identity, parent);
            // SAFETY: ends the process without what the parent has put up for its own end.
            unsafe { libc::_exit(status) }
        }
        drop(theirs);
        receive(&ours)?.ok_or_else(gone)??;
        Ok(Self { socket: Mutex::new(ours) })
    }

    /// Has it make a call.
    pub(super) fn ask(
        &self,
        request: &Request,
        with: &[BorrowedFd<'_>],
    ) -> io::Result<Option<OwnedFd>> {
        let bytes = request.to_bytes();
        if bytes.len() > REQUEST_BYTES_MAX {
            return Err(rustix::io::Errno::NAMETOOLONG.into());
        }
        // Nothing is left half done under this lock but a question without its answer.
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        send(&socket, &bytes, with).map_err(|_| gone())?;
        receive(&socket)?.ok_or_else(gone)?
    }
}

fn gone() -> io::Error {
    io::Error::other("the process that opens your files for nbuf was ended; run nbuf again")
}

/// The broker's life; the exit status.
fn serve(socket: &OwnedFd, identity: &Identity, parent: i32) -> i32 {
    // SAFETY: this process has no other thread and uses no other descriptor; no handler is installed.
    unsafe {
        close_all_but(0, &[socket.as_raw_fd()]);
        ignore_terminal();
        // What is sent to the group is meant for the process that is served, whose end is ours.
        libc::signal(libc::SIGTERM, libc::SIG_IGN);
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    let became = become_for_good(identity).and_then(|()| match die_with(parent) {
        Ok(false) => Err(gone()),
        alive => alive.map(drop),
    });
    let is_ready = became.is_ok();
    if answer(socket, became.map(|()| None)).is_err() || !is_ready {
        return 125;
    }
    let mut bytes = vec![0; REQUEST_BYTES_MAX];
    loop {
        let Ok((count, files)) = take(socket, &mut bytes) else { return 0 };
        if count == 0 {
            return 0;
        }
        let with: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
        let done = match Request::of_bytes(&bytes[..count]) {
            Some(request) => perform(&request, &with),
            None => Err(io::ErrorKind::InvalidInput.into()),
        };
        if answer(socket, done).is_err() {
            return 0;
        }
    }
}

/// Sends what came of a call.
fn answer(socket: &OwnedFd, done: io::Result<Option<OwnedFd>>) -> io::Result<()> {
    let (number, words, file) = match done {
        Ok(file) => (0, String::new(), file),
        Err(error) => match error.raw_os_error() {
            Some(number) => (number, String::new(), None),
            None => (IN_WORDS, error.to_string(), None),
        },
    };
    let words = words.as_bytes();
    let bytes = [&number.to_le_bytes()[..], &words[..words.len().min(WORDS_BYTES - 4)]].concat();
    let with: Vec<BorrowedFd<'_>> = file.iter().map(AsFd::as_fd).collect();
    send(socket, &bytes, &with)
}

/// Takes an answer; none when the other end is gone.
fn receive(socket: &OwnedFd) -> io::Result<Option<io::Result<Option<OwnedFd>>>> {
    let mut bytes = [0; WORDS_BYTES];
    let (count, mut files) = take(socket, &mut bytes)?;
    let Some((number, words)) = bytes[..count].split_first_chunk() else { return Ok(None) };
    Ok(Some(match i32::from_le_bytes(*number) {
        0 => Ok(files.pop()),
        IN_WORDS => {
            let words = String::from_utf8_lossy(words).into_owned();
            Err(io::Error::new(io::ErrorKind::InvalidInput, words))
        }
        number => Err(io::Error::from_raw_os_error(number)),
    }))
}

fn send(socket: &OwnedFd, bytes: &[u8], with: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !with.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(with));
    }
    rustix::io::retry_on_intr(|| {
        sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)
    })?;
    Ok(())
}

/// The next message and its descriptors; nothing at all when the other end is gone.
fn take(socket: &OwnedFd, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::io::retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    let mut files = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            files.extend(rights);
        }
    }
    Ok((got.bytes, files))
}
