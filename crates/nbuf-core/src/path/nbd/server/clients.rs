//! The clients of a server, and which of them are ready, without a look at all of them.
//!
//! Thousands of clients are idle most of the time. The kernel keeps their list (`epoll(7)`), and a turn costs what
//! its own clients cost. Whatever changes a client touches it, and what was touched is looked at before the next
//! wait: what the server waits for, and how much is kept for it. Invariant: [`Clients::kept`] is the sum over all
//! clients when each that changed was settled.

use std::io;
use std::ops::{Index, IndexMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

use super::super::connection::Connection;
use super::doors::Ready;

/// Clients that one turn serves. The others are ready in the next.
const READY_MAX: usize = 1024;

/// What is known of the client at a place.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// What is waited for; nothing of it is registered before the first wait.
    interest: Option<epoll::EventFlags>,
    bytes: u64,
    is_touched: bool,
    /// Whether the kernel says no more of it.
    is_ignored: bool,
}

/// Clients by place. A place that is free is given again.
pub(super) struct Clients {
    all: Vec<Option<Connection>>,
    states: Vec<State>,
    free: Vec<usize>,
    touched: Vec<usize>,
    kept: u64,
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Clients {
    /// None so far.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            all: Vec::new(),
            states: Vec::new(),
            free: Vec::new(),
            touched: Vec::new(),
            kept: 0,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(READY_MAX),
        })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.all.iter().flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.all.iter_mut().flatten()
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Connection> {
        self.all.get_mut(place)?.as_mut()
    }

    pub(super) fn add(&mut self, connection: Connection) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            self.states.push(State::default());
            self.all.len() - 1
        });
        self.all[place] = Some(connection);
        self.touch(place);
    }

    /// The client leaves, and its socket is closed.
    pub(super) fn remove(&mut self, place: usize) {
        let Some(connection) = self.all[place].take() else { return };
        let state = &mut self.states[place];
        let is_ignored = std::mem::take(&mut state.is_ignored);
        if state.interest.take().is_some() && !is_ignored {
            // The kernel forgets a closed socket by itself, if no process has another descriptor of it.
            let _ = epoll::delete(&self.epoll, connection.socket());
        }
        self.kept = self.kept.saturating_sub(std::mem::take(&mut state.bytes));
        self.free.push(place);
    }

    /// Nothing more is waited for of this client: the kernel would say at each wait that it is gone.
    pub(super) fn ignore(&mut self, place: usize) {
        if let Some(connection) = &self.all[place] {
            let _ = epoll::delete(&self.epoll, connection.socket());
            self.states[place].is_ignored = true;
        }
    }

    /// Something of this client changes.
    pub(super) fn touch(&mut self, place: usize) {
        let state = &mut self.states[place];
        if !std::mem::replace(&mut state.is_touched, true) {
            self.touched.push(place);
        }
    }

    pub(super) fn touch_all(&mut self) {
        (0..self.all.len()).for_each(|place| self.touch(place));
    }

    /// Places of clients that changed since the last wait.
    pub(super) fn touched(&self) -> Vec<usize> {
        self.touched.clone()
    }

    /// Bytes that are kept for all.
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }

    /// Bytes are promised to a client, before it has them.
    pub(super) fn promise(&mut self, place: usize, bytes: u64) {
        self.states[place].bytes += bytes;
        self.kept += bytes;
    }

    /// Counts again what is kept for those that changed.
    pub(super) fn weigh(&mut self) {
        for &place in &self.touched {
            let state = &mut self.states[place];
            let bytes = self.all[place].as_ref().map_or(0, Connection::bytes);
            self.kept = self.kept.saturating_sub(state.bytes) + bytes;
            state.bytes = bytes;
        }
    }

    /// Tells the kernel what those that changed are waited for.
    pub(super) fn settle(&mut self, interest: impl Fn(&Connection) -> epoll::EventFlags) {
        for place in std::mem::take(&mut self.touched) {
            let state = &mut self.states[place];
            state.is_touched = false;
            let Some(connection) = self.all[place].as_mut().filter(|_| !state.is_ignored) else {
                continue;
            };
            let wanted = interest(connection);
            if state.interest == Some(wanted) {
                continue;
            }
            let data = Ready::Client(place).data();
            let registered = match state.interest {
                None => epoll::add(&self.epoll, connection.socket(), data, wanted),
                Some(_) => epoll::modify(&self.epoll, connection.socket(), data, wanted),
            };
            state.interest = Some(wanted);
            if registered.is_err() {
                // Out of memory for one more: this client is not served.
                connection.break_off();
                state.interest = None;
                state.is_touched = true;
                self.touched.push(place);
            }
        }
    }

    /// Waits until something is ready, this long at most. How many are.
    pub(super) fn wait(&mut self, longest: Timespec) -> io::Result<usize> {
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&longest)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(self.events.len()),
            Err(error) => Err(error.into()),
        }
    }

    /// What was ready at the last wait. Give it back: its memory is used again.
    pub(super) fn take_events(&mut self) -> Vec<epoll::Event> {
        std::mem::take(&mut self.events)
    }

    pub(super) fn keep_events(&mut self, events: Vec<epoll::Event>) {
        self.events = events;
    }
}

/// Readable when a client is ready, or another that is registered there.
impl AsFd for Clients {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl Index<usize> for Clients {
    type Output = Option<Connection>;

    fn index(&self, place: usize) -> &Option<Connection> {
        &self.all[place]
    }
}

impl IndexMut<usize> for Clients {
    fn index_mut(&mut self, place: usize) -> &mut Option<Connection> {
        &mut self.all[place]
    }
}
