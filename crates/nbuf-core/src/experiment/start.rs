//! What a program that runs experiments does first: its heap, its signals, and whose rights it has.
//!
//! Under `sudo` a command, and every file that is named on a command line, are the business of the user who
//! typed it: the sudo user. Invariant: unless it is to work as root, this user has root do nothing except watch
//! what the user could run. docs/security.md has the details.
//!
//! ```
//! use nbuf::experiment::start::is_root;
//!
//! println!("{}", if is_root() { "root" } else { "an ordinary user" });
//! ```

use std::io;
use std::path::PathBuf;

pub use crate::sys::heap::Heap;
pub use crate::sys::process::{Account, is_root};
pub use crate::sys::start::prepare;

use crate::disc::private;
use crate::sys::supervise::Identity;
use crate::sys::{files, namespace, process, rights};

/// What a program needs beyond the user's own rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it gives up all else for good.
    Nothing,
    /// To watch a command, or to try whether that is possible.
    Watching,
    /// That, and a mount which only the command sees.
    Mounting,
}

/// Why a program cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There are no private mounts.
    #[error(transparent)]
    Mounts(private::Error),
    /// The rights of the user who called sudo cannot be taken on.
    #[error(
        "cannot become the user who called sudo; check SUDO_UID and SUDO_GID, or give --as-root"
    )]
    SudoUser(#[source] io::Error),
    /// Capabilities stay that should go.
    #[error("cannot give up the capabilities of this program")]
    GiveUp(#[source] io::Error),
    /// Capabilities stay raised.
    #[error("cannot hold back the capabilities of this program")]
    HoldBack(#[source] io::Error),
    /// The environment names no user or group.
    #[error(
        "{name} is `{text}`, which is no number of a user or group; run nbuf with sudo directly, or \
         give --as-root"
    )]
    Number {
        /// The variable.
        name: &'static str,
        /// Its value.
        text: String,
    },
}

/// Finds the user who called sudo, and gives up what is not needed. To be called once, before any file is opened and
/// any thread started. Gives the account behind `sudo`; none when nbuf was called directly, by root through
/// `sudo`, or is to work as root.
pub fn settle(needs: Needs, as_root: bool) -> Result<Option<Account>, StartError> {
    let account = if as_root { None } else { behind_sudo()? };
    if needs == Needs::Mounting {
        // Before there is a broker, which has to see what is mounted.
        let entered = namespace::enter_private_mounts();
        entered.map_err(|error| StartError::Mounts(private::Error::Namespace(error)))?;
    }
    match &account {
        Some(account) if needs == Needs::Nothing => become_sudo_user(&account.identity)?,
        Some(account) => files::as_sudo_user(&account.identity).map_err(StartError::SudoUser)?,
        None if needs == Needs::Nothing && !is_root() => {
            rights::capability::give_up()
                .and_then(|()| rights::be_ordinary())
                .map_err(StartError::GiveUp)?;
        }
        None => {
            rights::capability::hold_back().map_err(StartError::HoldBack)?;
        }
    }
    Ok(account)
}

fn become_sudo_user(identity: &Identity) -> Result<(), StartError> {
    let became = rights::become_for_good(identity).and_then(|()| rights::be_ordinary());
    became.map_err(StartError::SudoUser)
}

fn behind_sudo() -> Result<Option<Account>, StartError> {
    if !is_root() {
        return Ok(None);
    }
    let Some(uid) = number("SUDO_UID")? else { return Ok(None) };
    let gid = number("SUDO_GID")?;
    if uid == 0 {
        return Ok(None);
    }
    let mut account = process::account(uid).unwrap_or_else(|| by_number(uid, gid.unwrap_or(uid)));
    // The group of the session, which `newgrp` may have changed.
    account.identity.gid = gid.unwrap_or(account.identity.gid);
    Ok(Some(account))
}

/// A user or group number of the environment. What is none is refused: to pass over it would be to run the
/// command as root.
fn number(name: &'static str) -> Result<Option<u32>, StartError> {
    let Some(text) = std::env::var_os(name) else { return Ok(None) };
    let digits = text.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    // The largest number is the kernel's word for none.
    match digits.and_then(|digits| digits.parse().ok()).filter(|&number| number != u32::MAX) {
        Some(number) => Ok(Some(number)),
        None => Err(StartError::Number { name, text: text.display().to_string() }),
    }
}

/// An account that the user database of this machine does not have.
fn by_number(uid: u32, gid: u32) -> Account {
    Account {
        identity: Identity { uid, gid, groups: vec![gid] },
        name: std::env::var("SUDO_USER").unwrap_or_else(|_| uid.to_string()),
        home: PathBuf::from("/"),
    }
}
