//! Sockets that a service manager passed: those for clients, and the one named `control`.

use super::listener::{Address, ListenError, Listener};
use crate::sys::activation;

/// The name of the control socket among them.
const CONTROL: &str = "control";

/// Sockets that were passed.
#[derive(Debug, Default)]
pub(crate) struct PassedSockets {
    pub(super) listeners: Vec<Listener>,
    pub(super) control: Option<Listener>,
}

impl PassedSockets {
    /// Takes those that were passed to this process.
    pub(crate) fn take() -> Result<Self, ListenError> {
        let mut taken = Self::default();
        for passed in activation::take().map_err(ListenError::Passed)? {
            if passed.name == CONTROL {
                let control = Listener::passed(passed)?;
                // What reaches it can end the server: that is for permissions of a file to decide.
                if !matches!(control.address().map_err(ListenError::Passed)?, Address::Unix(_)) {
                    return Err(ListenError::PassedControl);
                }
                taken.control = Some(control);
            } else {
                taken.listeners.push(Listener::passed(passed)?);
            }
        }
        Ok(taken)
    }

    /// Where clients connect to them.
    pub(crate) fn addresses(&self) -> Result<Vec<Address>, ListenError> {
        let addresses = self.listeners.iter().map(Listener::address);
        addresses.collect::<Result<_, _>>().map_err(ListenError::Passed)
    }

    /// Where the control socket is.
    pub(crate) fn control(&self) -> Result<Option<Address>, ListenError> {
        let address = self.control.as_ref().map(Listener::address);
        address.transpose().map_err(ListenError::Passed)
    }
}
