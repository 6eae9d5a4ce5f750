//! A policy behind a pointer. Invariant: it does what the policy does; the calls are the same ones.

use super::{Access, Cause, Outcome, Policy};

/// A policy chosen at run time: the same calls behind a pointer.
pub trait AnyPolicy: Send {
    /// See [`Policy::touch`].
    fn touch(&mut self, access: Access) -> bool;
    /// See [`Policy::fill`].
    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        is_evictable: &mut dyn FnMut(u32) -> bool,
    ) -> Outcome;
    /// See [`Policy::access`].
    fn access(&mut self, access: Access) -> Outcome;
    /// See [`Policy::remove`].
    fn remove(&mut self, page: u32) -> bool;
    /// See [`Policy::contains`].
    fn contains(&self, page: u32) -> bool;
    /// See [`Policy::len`].
    fn len(&self) -> u32;
    /// See [`Policy::is_empty`].
    fn is_empty(&self) -> bool;
    /// See [`Policy::check`].
    fn check(&self) -> Result<(), String>;
}

impl<P: Policy + Send> AnyPolicy for P {
    fn touch(&mut self, access: Access) -> bool {
        Policy::touch(self, access)
    }

    fn fill(
        &mut self,
        access: Access,
        cause: Cause,
        is_evictable: &mut dyn FnMut(u32) -> bool,
    ) -> Outcome {
        Policy::fill(self, access, cause, is_evictable)
    }

    fn access(&mut self, access: Access) -> Outcome {
        Policy::access(self, access)
    }

    fn remove(&mut self, page: u32) -> bool {
        Policy::remove(self, page)
    }

    fn contains(&self, page: u32) -> bool {
        Policy::contains(self, page)
    }

    fn len(&self) -> u32 {
        Policy::len(self)
    }

    fn is_empty(&self) -> bool {
        Policy::is_empty(self)
    }

    fn check(&self) -> Result<(), String> {
        Policy::check(self)
    }
}
