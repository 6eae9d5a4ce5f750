//! Clients that end at a signal, and whose steps are counted.

use super::super::{Clients, Next};
use super::replaying::{Counter, Replaying};

pub(super) struct UntilOver<'a, C> {
    clients: &'a mut C,
    replaying: &'a Replaying<'a>,
    counter: Counter<'a>,
    is_cut: bool,
}

impl<'a, C: Clients> UntilOver<'a, C> {
    pub(super) fn new(clients: &'a mut C, replaying: &'a Replaying<'a>) -> Self {
        Self { clients, replaying, counter: replaying.counter(), is_cut: false }
    }

    /// Whether they ended before the end of the workload.
    pub(super) fn finish(mut self) -> bool {
        self.counter.flush();
        self.is_cut
    }
}

impl<C: Clients> Clients for UntilOver<'_, C> {
    fn count(&self) -> u32 {
        self.clients.count()
    }

    fn next(&mut self, process: u32) -> Next {
        if self.is_over() {
            return Next::End;
        }
        let next = self.clients.next(process);
        self.counter.see(&next);
        next
    }

    fn is_over(&mut self) -> bool {
        self.is_cut |= self.replaying.session.is_over();
        self.is_cut
    }
}
