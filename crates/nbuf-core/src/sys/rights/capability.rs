//! Capabilities of the program's file (`setcap`), raised only around the calls that need them.
//!
//! Invariant: outside of a [`Raised`] an ordinary user's nbuf has no capability in effect, so that what
//! it opens by a name is opened with the user's own rights. Root is not affected: a broker opens for it
//! ([`crate::sys::files`]).

use std::io;
use std::marker::PhantomData;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
};

/// Takes all capabilities out of effect, but keeps them for [`raise`]. For ordinary users; to be
/// called before a thread is started. Says whether there are any.
pub(crate) fn hold_back() -> io::Result<bool> {
    let sets = capabilities(None)?;
    if rustix::process::geteuid().is_root() || sets.permitted.is_empty() {
        return Ok(false);
    }
    let (effective, inheritable) = (CapabilitySet::empty(), CapabilitySet::empty());
    set_capabilities(None, CapabilitySets { effective, inheritable, ..sets })?;
    Ok(true)
}

/// Gives up every capability for good, the ambient ones too. To be called before a thread is started.
pub(crate) fn give_up() -> io::Result<()> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    // Kernels before 4.3 have none to clear.
    let _ = clear_ambient_capability_set();
    Ok(set_capabilities(None, sets)?)
}

/// For as long as this lives, this thread's capabilities are in effect.
#[derive(Debug)]
#[must_use = "capabilities are in effect only as long as this lives"]
pub(crate) struct Raised {
    before: Option<CapabilitySets>,
    /// It is about the thread that made it.
    of_thread: PhantomData<*const ()>,
}

/// Puts the capabilities that were held back into effect, on this thread.
pub(crate) fn raise() -> Raised {
    let of_thread = PhantomData;
    let Ok(before) = capabilities(None) else { return Raised { before: None, of_thread } };
    if before.effective.contains(before.permitted) {
        return Raised { before: None, of_thread };
    }
    let raised = CapabilitySets { effective: before.permitted, ..before };
    // Refused, the call that needs them says so.
    let before = set_capabilities(None, raised).is_ok().then_some(before);
    Raised { before, of_thread }
}

impl Drop for Raised {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // To give up what one has is always permitted.
            let lowered = set_capabilities(None, before);
            debug_assert!(lowered.is_ok(), "capabilities stay in effect: {lowered:?}");
        }
    }
}
