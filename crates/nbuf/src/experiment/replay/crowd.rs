//! Processes by number, each with its next step.

use crate::workload::process::{Process, Step};

/// What a process of a crowd does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This.
    Step(Step),
    /// It is not known yet: somebody else of the crowd must make a request first.
    Later,
    /// Nothing any more.
    End,
}

/// Several processes. Deterministic: what comes depends on the order of the calls alone.
pub trait Crowd {
    /// How many there are; they are numbered from 0.
    fn count(&self) -> u32;

    /// What comes next for one of them.
    fn next(&mut self, process: u32) -> Next;

    /// Whether nobody wants anything any more, not even what was to come later. Asked where time is
    /// waited for: from now and then to the end, which then comes at once.
    fn is_over(&mut self) -> bool {
        false
    }
}

impl<P: Process> Crowd for Vec<P> {
    fn count(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    fn next(&mut self, process: u32) -> Next {
        let step = self.get_mut(process as usize).and_then(Process::step);
        step.map_or(Next::End, Next::Step)
    }
}
