//! `io_uring`: a message from ring to ring, and a read of an eventfd in a ring.

use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::pair::End;
use crate::sys::wake_ring::WakeRing;

/// Opens a ring. The error says what to change on the machine.
fn ring() -> io::Result<WakeRing> {
    WakeRing::new().map_err(|error| {
        let why = match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOSYS) => {
                "no io_uring in this kernel, or a filter refuses it, as in containers"
            }
            Some(Errno::PERM) => "io_uring is switched off (sysctl kernel.io_uring_disabled)",
            Some(Errno::INVAL) => "rings for one thread came with Linux 6.1",
            Some(Errno::NOMEM) => "no memory may be locked for a ring (`ulimit -l`)",
            _ => "io_uring_setup",
        };
        io::Error::new(error.kind(), format!("{why}: {error}"))
    })
}

/// Sends by `IORING_OP_MSG_RING` into the other thread's ring.
pub(super) struct RingMessage {
    ring: WakeRing,
    theirs: RawFd,
}

impl End for RingMessage {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (ring()?, ring()?);
        let (to_a, to_b) = (a.number(), b.number());
        Ok((Self { ring: a, theirs: to_b }, Self { ring: b, theirs: to_a }))
    }

    fn enter(&mut self) -> io::Result<()> {
        self.ring.enter()
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        self.ring.send(self.theirs, number)
    }

    fn receive(&mut self) -> io::Result<u32> {
        u32::try_from(self.ring.receive()?).map_err(io::Error::other)
    }
}

/// Writes to an eventfd with a plain call; the other thread reads it in its ring.
pub(super) struct RingRead {
    ring: WakeRing,
    ours: Arc<OwnedFd>,
    theirs: Arc<OwnedFd>,
}

impl End for RingRead {
    fn pair() -> io::Result<(Self, Self)> {
        let a = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let b = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let (ring_a, ring_b) = (ring()?, ring()?);
        Ok((
            Self { ring: ring_a, ours: a.clone(), theirs: b.clone() },
            Self { ring: ring_b, ours: b, theirs: a },
        ))
    }

    fn enter(&mut self) -> io::Result<()> {
        self.ring.enter()
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        rustix::io::write(&self.theirs, &u64::from(number).to_ne_bytes())?;
        Ok(())
    }

    fn receive(&mut self) -> io::Result<u32> {
        u32::try_from(self.ring.read(self.ours.as_fd())?).map_err(io::Error::other)
    }
}
