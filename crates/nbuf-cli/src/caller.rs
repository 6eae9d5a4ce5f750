//! Who called, and with whose rights this program works: under `sudo` the command, and every file that is
//! named on the command line, are the business of the user who typed it.
//!
//! Invariant: without `--as-root` a caller has root do nothing but watch what he could run himself.
//! docs/security.md tells of it.

use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use nbuf::sys::process::{self, Account};
use nbuf::sys::supervise::Identity;
use nbuf::sys::{files, namespace, rights};

/// What a verb needs beyond the caller's own rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: it gives up all else for good.
    Nothing,
    /// To watch a command, or to try whether that is possible.
    Watching,
    /// That, and a mount which only the command sees.
    Mounting,
}

/// The account behind `sudo`, once it has been found out.
static ACCOUNT: OnceLock<Option<Account>> = OnceLock::new();

/// Finds out who called and gives up what the verb does not need. To be called once, before any file is
/// opened and any thread started.
pub(crate) fn settle(needs: Needs, as_root: bool) -> Result<()> {
    let account = if as_root { None } else { behind_sudo()? };
    if needs == Needs::Mounting {
        // Before there is a broker, which has to see what is mounted.
        namespace::enter_private_mounts().map_err(nbuf::disc::private::Error::Namespace)?;
    }
    match &account {
        Some(account) if needs == Needs::Nothing => become_caller(&account.identity)?,
        Some(account) => files::as_caller(&account.identity).context(CANNOT_BECOME)?,
        None if needs == Needs::Nothing && !process::is_root() => {
            rights::capability::give_up()
                .and_then(|()| rights::be_ordinary())
                .context("cannot give up the capabilities of this program")?;
        }
        None => {
            rights::capability::hold_back()
                .context("cannot hold back the capabilities of this program")?;
        }
    }
    let _ = ACCOUNT.set(account);
    Ok(())
}

const CANNOT_BECOME: &str =
    "cannot become the user who called sudo; look at SUDO_UID and SUDO_GID, or say --as-root";

fn become_caller(identity: &Identity) -> Result<()> {
    let became = rights::become_for_good(identity).and_then(|()| rights::be_ordinary());
    became.context(CANNOT_BECOME)
}

/// The account behind `sudo`; none when nbuf was called directly, by root through `sudo`, or is to work as
/// root.
pub(crate) fn account() -> Option<Account> {
    ACCOUNT.get().cloned().flatten()
}

fn behind_sudo() -> Result<Option<Account>> {
    if !process::is_root() {
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
fn number(name: &str) -> Result<Option<u32>> {
    let Some(text) = std::env::var_os(name) else { return Ok(None) };
    let digits = text.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    // The largest number is the kernel's word for none.
    match digits.and_then(|digits| digits.parse().ok()).filter(|&number| number != u32::MAX) {
        Some(number) => Ok(Some(number)),
        None => bail!(
            "{name} is `{}`, which is no number of a user or group; call nbuf by sudo itself, or \
             say --as-root",
            text.display()
        ),
    }
}

/// An account that the user database of this machine does not know.
fn by_number(uid: u32, gid: u32) -> Account {
    Account {
        identity: Identity { uid, gid, groups: vec![gid] },
        name: std::env::var("SUDO_USER").unwrap_or_else(|_| uid.to_string()),
        home: PathBuf::from("/"),
    }
}

/// The caller's home.
pub(crate) fn home() -> Option<PathBuf> {
    let home = account().map(|account| account.home).or_else(std::env::home_dir);
    home.filter(|home| home.is_absolute())
}
