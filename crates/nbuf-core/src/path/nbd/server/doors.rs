//! What a server waits for that is no client: signals, discs, and sockets where clients come.
//!
//! They are in the kernel's list of the clients, so that a turn waits with one call. Clients of the control socket are
//! not: they are few, come and go, and their descriptors are given again.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::event::epoll::{self, EventData, EventFlags};

/// What is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    Client(usize),
    Wake,
    Disc(usize),
    Listener(usize),
    Control,
}

const WAKE: u64 = 1 << 63;
const DISC: u64 = 1 << 62;
const LISTENER: u64 = 1 << 61;
const CONTROL: u64 = 1 << 60;

impl Ready {
    pub(super) fn of(event: &epoll::Event) -> Self {
        let data = event.data.u64();
        let place = |mark: u64| usize::try_from(data & !mark).unwrap_or(usize::MAX);
        match data {
            _ if data & WAKE != 0 => Self::Wake,
            _ if data & DISC != 0 => Self::Disc(place(DISC)),
            _ if data & LISTENER != 0 => Self::Listener(place(LISTENER)),
            _ if data & CONTROL != 0 => Self::Control,
            _ => Self::Client(place(0)),
        }
    }

    pub(super) fn data(self) -> EventData {
        EventData::new_u64(match self {
            Self::Client(place) => place as u64,
            Self::Wake => WAKE,
            Self::Disc(disc) => DISC | disc as u64,
            Self::Listener(at) => LISTENER | at as u64,
            Self::Control => CONTROL,
        })
    }
}

/// What is registered of each.
#[derive(Debug, Default)]
pub(super) struct Doors(Vec<(Ready, EventFlags)>);

impl Doors {
    /// Waits for this of a door from now on, or for nothing. Costs a call where that is a change.
    pub(super) fn settle(
        &mut self,
        epoll: BorrowedFd<'_>,
        door: Ready,
        descriptor: BorrowedFd<'_>,
        wanted: Option<EventFlags>,
    ) -> io::Result<()> {
        let at = self.0.iter().position(|(known, _)| *known == door);
        match (at, wanted) {
            (None, None) => {}
            (Some(at), Some(flags)) if self.0[at].1 == flags => {}
            (Some(at), Some(flags)) => {
                epoll::modify(epoll, descriptor, door.data(), flags)?;
                self.0[at].1 = flags;
            }
            (None, Some(flags)) => {
                epoll::add(epoll, descriptor, door.data(), flags)?;
                self.0.push((door, flags));
            }
            (Some(at), None) => {
                epoll::delete(epoll, descriptor)?;
                self.0.swap_remove(at);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ready_is_known_again() {
        let places = [0, 1, 16_383];
        let with_places =
            places.map(|at| [Ready::Client(at), Ready::Disc(at), Ready::Listener(at)]);
        for ready in with_places.concat().into_iter().chain([Ready::Wake, Ready::Control]) {
            let event = epoll::Event { flags: EventFlags::IN, data: ready.data() };
            assert_eq!(Ready::of(&event), ready);
        }
    }
}
