//! What the supervisor needs, prepared before the fork: strings, descriptors, paths to try.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::{Command, Error, engine};
use crate::sys::cgroup::Group;
use crate::sys::process::Account;
use crate::sys::supervise::Plan;

/// Prepares every string and descriptor before the fork.
pub(super) fn plan(
    command: &Command,
    group: Option<&Group>,
    standard: [Option<OwnedFd>; 3],
) -> Result<Plan, Error> {
    let words = engine::placed(&command.arguments, group);
    let name = words.first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let arguments = words.iter().map(|a| CString::new(a.as_bytes()));
    Ok(Plan {
        arguments: arguments.collect::<Result<_, _>>()?,
        environment: environment(command.account.as_ref())?,
        programs: programs(name)?,
        identity: command.account.as_ref().map(|account| account.identity.clone()),
        join: group.map_or_else(|| Ok(Vec::new()), Group::join_files)?,
        cgroups: group.map(Group::paths).unwrap_or_default(),
        standard,
        filter: None,
        deadline_ms: None,
    })
}

/// Our own environment, with the words of another account where the command runs under one.
fn environment(account: Option<&Account>) -> Result<Vec<CString>, Error> {
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    if let Some(account) = account {
        let set: [(&str, OsString); 3] = [
            ("HOME", account.home.clone().into()),
            ("USER", account.name.clone().into()),
            ("LOGNAME", account.name.clone().into()),
        ];
        variables.retain(|(name, _)| !set.iter().any(|(key, _)| name == key));
        variables.extend(set.map(|(name, value)| (name.into(), value)));
    }
    let joined = variables.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        CString::new(name.into_vec())
    });
    Ok(joined.collect::<Result<_, _>>()?)
}

/// The files to try, as `execvp(3)` would.
fn programs(name: &OsStr) -> Result<Vec<CString>, Error> {
    if name.as_bytes().contains(&b'/') || name.is_empty() {
        return Ok(vec![CString::new(name.as_bytes())?]);
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    std::env::split_paths(&path)
        .map(
            |directory| {
                if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory }
            },
        )
        .map(|directory| Ok(CString::new(directory.join(name).into_os_string().into_vec())?))
        .collect()
}
