//! Processes by number, each with its next step.

use crate::workload::process::{Process, Step};

/// What a process of the clients does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This.
    Step(Step),
    /// The next step is not known yet: another process of the clients must make a request first.
    Later,
    /// Nothing any more.
    End,
}

/// Several processes. Deterministic: what comes depends on the order of the calls alone.
pub trait Clients {
    /// How many there are; they are numbered from 0.
    fn count(&self) -> u32;

    /// What comes next for one of them.
    fn next(&mut self, process: u32) -> Next;

    /// Returns whether no process will make a request any more, even one planned for later. A
    /// replay calls it now and then while it waits for time to pass, and ends at once if it is
    /// true.
    fn is_over(&mut self) -> bool {
        false
    }
}

impl<P: Process> Clients for Vec<P> {
    fn count(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    fn next(&mut self, process: u32) -> Next {
        let step = self.get_mut(process as usize).and_then(Process::step);
        step.map_or(Next::End, Next::Step)
    }
}
