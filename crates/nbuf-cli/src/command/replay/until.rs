//! A crowd that goes when somebody loses patience.

use nbuf::experiment::replay::{Crowd, Next};

use crate::patience::Patience;

/// See the module.
pub(super) struct UntilOver<'a, C> {
    crowd: &'a mut C,
    patience: &'a Patience,
    /// Whether it went before its end.
    pub(super) is_cut: bool,
}

impl<'a, C: Crowd> UntilOver<'a, C> {
    pub(super) fn new(crowd: &'a mut C, patience: &'a Patience) -> Self {
        Self { crowd, patience, is_cut: false }
    }
}

impl<C: Crowd> Crowd for UntilOver<'_, C> {
    fn count(&self) -> u32 {
        self.crowd.count()
    }

    fn next(&mut self, process: u32) -> Next {
        if self.is_over() { Next::End } else { self.crowd.next(process) }
    }

    fn is_over(&mut self) -> bool {
        self.is_cut |= self.patience.is_over();
        self.is_cut
    }
}
