//! Who called: under `sudo` the command runs as the user who typed it, and files belong to them.

use std::fs::File;
use std::os::unix::fs::fchown;

use anyhow::{Context, Result, bail};
use nbuf::sys::process::{self, Account};

/// The account behind `sudo`; none when nbuf was called directly, or by root.
pub(crate) fn account() -> Result<Option<Account>> {
    let Some(uid) = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse::<u32>().ok()) else {
        return Ok(None);
    };
    if uid == 0 || !nbuf::sys::process::is_root() {
        return Ok(None);
    }
    match process::account(uid) {
        Some(account) => Ok(Some(account)),
        None => bail!("SUDO_UID is {uid}, and no such account exists; unset it to run as root"),
    }
}

/// Gives a file that we made to the user who called.
pub(crate) fn give(file: &File) -> Result<()> {
    if let Some(account) = account()? {
        fchown(file, Some(account.identity.uid), Some(account.identity.gid))
            .context("cannot give a file to the user who called sudo")?;
    }
    Ok(())
}
