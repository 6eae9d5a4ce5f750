//! Who called: under `sudo` the command runs as the user who typed it, and files belong to them.

use std::fs::File;
use std::os::unix::fs::fchown;
use std::path::PathBuf;

use anyhow::{Context, Result};
use nbuf::sys::process::{self, Account};
use nbuf::sys::supervise::Identity;

/// The account behind `sudo`; none when nbuf was called directly, or by root.
pub(crate) fn account() -> Option<Account> {
    let number = |name| std::env::var(name).ok()?.parse::<u32>().ok();
    let uid = number("SUDO_UID").filter(|&uid| uid != 0 && process::is_root())?;
    let gid = number("SUDO_GID");
    let mut account = process::account(uid).unwrap_or_else(|| by_number(uid, gid.unwrap_or(uid)));
    // The group of the session, which `newgrp` may have changed.
    account.identity.gid = gid.unwrap_or(account.identity.gid);
    Some(account)
}

/// An account that the user database of this machine does not know.
fn by_number(uid: u32, gid: u32) -> Account {
    Account {
        identity: Identity { uid, gid, groups: vec![gid] },
        name: std::env::var("SUDO_USER").unwrap_or_else(|_| uid.to_string()),
        home: PathBuf::from("/"),
    }
}

/// Gives a file that we made to the user who called.
pub(crate) fn give(file: &File) -> Result<()> {
    let Some(Account { identity, .. }) = account() else { return Ok(()) };
    fchown(file, Some(identity.uid), Some(identity.gid))
        .context("cannot give a file to the user who called sudo")
}

/// The caller's home.
pub(crate) fn home() -> Option<PathBuf> {
    let home = account().map(|account| account.home).or_else(std::env::home_dir);
    home.filter(|home| home.is_absolute())
}
