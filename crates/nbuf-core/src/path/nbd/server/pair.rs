//! One descriptor for a backend and another disc in front of it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use super::Backend;

/// Readable when one of both is ready, or when the backend can be written to and has something to send.
#[derive(Debug)]
pub(super) struct Pair {
    ready: OwnedFd,
    /// What is waited for of the backend; none when it has ended.
    waits_for: Option<EventFlags>,
}

impl Pair {
    /// Waits for both. It waits for the other one as long as that is open.
    pub(super) fn new(backing: &Backend, other: &Backend) -> io::Result<Self> {
        let ready = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&ready, backing, EventData::new_u64(0), EventFlags::IN)?;
        epoll::add(&ready, other, EventData::new_u64(1), EventFlags::IN)?;
        Ok(Self { ready, waits_for: Some(EventFlags::IN) })
    }

    /// Notes what is to be waited for of the backend, which has sent what it could.
    pub(super) fn settle(&mut self, backing: &Backend) {
        let writes = if backing.wants_to_write() { EventFlags::OUT } else { EventFlags::empty() };
        let wanted = (!backing.is_broken()).then_some(EventFlags::IN | writes);
        if wanted == self.waits_for {
            return;
        }
        // Where the kernel refuses, the server looks again after its longest wait.
        let _ = match wanted {
            Some(flags) if self.waits_for.is_some() => {
                epoll::modify(&self.ready, backing, EventData::new_u64(0), flags)
            }
            Some(flags) => epoll::add(&self.ready, backing, EventData::new_u64(0), flags),
            None => epoll::delete(&self.ready, backing),
        };
        self.waits_for = wanted;
    }
}

impl AsFd for Pair {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}
