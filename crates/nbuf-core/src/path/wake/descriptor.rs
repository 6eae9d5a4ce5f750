//! Descriptors that carry eight bytes: pipes, sockets and eventfds. A thread reads them directly,
//! or waits in `poll` or `epoll` first, as event loops do.

use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, epoll, eventfd, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use super::pair::End;

/// A one-way channel: the end to write to and the end to read from.
pub(super) trait Carrier: Send + 'static {
    fn both_ways() -> io::Result<[Halves; 2]>;
}

/// The descriptors of one thread: one to read, one to write.
pub(super) struct Halves {
    reads: Arc<OwnedFd>,
    writes: Arc<OwnedFd>,
}

/// Two pipes.
pub(super) struct Pipe;
/// Two eventfds: a write adds to a number, and a read takes it.
pub(super) struct Eventfd;
/// A pair of connected stream sockets.
pub(super) struct Socketpair;

impl Carrier for Pipe {
    fn both_ways() -> io::Result<[Halves; 2]> {
        let (reads_a, writes_b) = pipe_with(PipeFlags::CLOEXEC)?;
        let (reads_b, writes_a) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok([
            Halves { reads: reads_a.into(), writes: writes_a.into() },
            Halves { reads: reads_b.into(), writes: writes_b.into() },
        ])
    }
}

impl Carrier for Eventfd {
    fn both_ways() -> io::Result<[Halves; 2]> {
        let a = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let b = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        Ok([Halves { reads: a.clone(), writes: b.clone() }, Halves { reads: b, writes: a }])
    }
}

impl Carrier for Socketpair {
    fn both_ways() -> io::Result<[Halves; 2]> {
        let (a, b) = UnixStream::pair()?;
        Ok([a, b].map(|socket| {
            let socket = Arc::new(OwnedFd::from(socket));
            Halves { reads: socket.clone(), writes: socket }
        }))
    }
}

/// The way in which a thread sleeps before it reads.
pub(super) trait Sleep: Send + Sized + 'static {
    fn on(reads: &OwnedFd) -> io::Result<Self>;
    fn sleep(&mut self, reads: &OwnedFd) -> io::Result<()>;
}

/// Sleeps in the read itself.
pub(super) struct Blocking;
/// Sleeps in `poll(2)`.
pub(super) struct Poll;
/// Sleeps in `epoll_wait(2)`.
pub(super) struct Epoll(OwnedFd);

impl Sleep for Blocking {
    fn on(_: &OwnedFd) -> io::Result<Self> {
        Ok(Self)
    }

    fn sleep(&mut self, _: &OwnedFd) -> io::Result<()> {
        Ok(())
    }
}

impl Sleep for Poll {
    fn on(_: &OwnedFd) -> io::Result<Self> {
        Ok(Self)
    }

    fn sleep(&mut self, reads: &OwnedFd) -> io::Result<()> {
        let mut waiting = [PollFd::new(reads, PollFlags::IN)];
        poll(&mut waiting, None)?;
        Ok(())
    }
}

impl Sleep for Epoll {
    fn on(reads: &OwnedFd) -> io::Result<Self> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&set, reads, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        Ok(Self(set))
    }

    fn sleep(&mut self, _: &OwnedFd) -> io::Result<()> {
        let mut event =
            [epoll::Event { flags: epoll::EventFlags::IN, data: epoll::EventData::new_u64(0) }];
        epoll::wait(&self.0, &mut event, None)?;
        Ok(())
    }
}

/// An end that combines a carrier and a way to sleep.
pub(super) struct Descriptor<C, S> {
    halves: Halves,
    sleep: S,
    carrier: PhantomData<C>,
}

impl<C: Carrier, S: Sleep> End for Descriptor<C, S> {
    fn pair() -> io::Result<(Self, Self)> {
        let [a, b] = C::both_ways()?;
        let end = |halves: Halves| {
            let sleep = S::on(&halves.reads)?;
            io::Result::Ok(Self { halves, sleep, carrier: PhantomData })
        };
        Ok((end(a)?, end(b)?))
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        let bytes = u64::from(number).to_ne_bytes();
        whole(rustix::io::write(&self.halves.writes, &bytes)?)
    }

    fn receive(&mut self) -> io::Result<u32> {
        self.sleep.sleep(&self.halves.reads)?;
        let mut bytes = [0; 8];
        whole(rustix::io::read(&self.halves.reads, &mut bytes)?)?;
        u32::try_from(u64::from_ne_bytes(bytes)).map_err(io::Error::other)
    }
}

/// Checks that all eight bytes moved at once, as these descriptors guarantee.
fn whole(bytes: usize) -> io::Result<()> {
    if bytes == 8 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
