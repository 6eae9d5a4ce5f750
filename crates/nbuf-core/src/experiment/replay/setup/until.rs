//! Clients that end at a signal.

use super::super::{Clients, Next};
use crate::experiment::session::Session;

pub(super) struct UntilOver<'a, C> {
    clients: &'a mut C,
    session: &'a Session<'a>,
    /// Whether they ended before the end of the workload.
    pub(super) is_cut: bool,
}

impl<'a, C: Clients> UntilOver<'a, C> {
    pub(super) fn new(clients: &'a mut C, session: &'a Session<'a>) -> Self {
        Self { clients, session, is_cut: false }
    }
}

impl<C: Clients> Clients for UntilOver<'_, C> {
    fn count(&self) -> u32 {
        self.clients.count()
    }

    fn next(&mut self, process: u32) -> Next {
        if self.is_over() { Next::End } else { self.clients.next(process) }
    }

    fn is_over(&mut self) -> bool {
        self.is_cut |= self.session.is_over();
        self.is_cut
    }
}
