//! The user who called sudo, and with whose rights this program works.

use std::path::PathBuf;
use std::sync::OnceLock;

use nbuf::experiment::start::{self, Account, StartError};

pub(crate) use nbuf::experiment::start::Needs;

/// The account behind `sudo`, once it has been found out.
static ACCOUNT: OnceLock<Option<Account>> = OnceLock::new();

/// Finds the user who called sudo, and gives up what the verb does not need. To be called once, before any file is
/// opened and any thread started.
pub(crate) fn settle(needs: Needs, as_root: bool) -> Result<(), StartError> {
    let _ = ACCOUNT.set(start::settle(needs, as_root)?);
    Ok(())
}

/// The account behind `sudo`; none when nbuf was called directly, by root through `sudo`, or is to work as
/// root.
pub(crate) fn account() -> Option<Account> {
    ACCOUNT.get().cloned().flatten()
}

/// The home of this user, or of our own account.
pub(crate) fn home() -> Option<PathBuf> {
    let home = account().map(|account| account.home).or_else(std::env::home_dir);
    home.filter(|home| home.is_absolute())
}
