//! With whose rights this process works: giving them up for good, and holding back capabilities.
//!
//! Source: `credentials(7)`, `capabilities(7)`. docs/security.md says which process has which rights.

pub(crate) mod capability;

use std::io;

use super::supervise::Identity;

/// Becomes this user for good: all user and group numbers, the supplementary groups, no capability
/// in any set. To be called before a thread is started.
///
/// # Errors
/// `EPERM` for anyone but root; `EINVAL` for a number that no user can have. The process must end
/// then: it may have changed in part.
pub(crate) fn become_for_good(identity: &Identity) -> io::Result<()> {
    let Identity { uid, gid, groups } = identity;
    // The kernel takes this number for "leave it as it is".
    if *uid == u32::MAX || *gid == u32::MAX || *uid == 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the pointer and the length are those of a live vector; the others are numbers.
    unsafe {
        super::check(libc::setgroups(groups.len(), groups.as_ptr()).into())?;
        super::check(libc::setresgid(*gid, *gid, *gid).into())?;
        super::check(libc::setresuid(*uid, *uid, *uid).into())?;
    }
    capability::give_up()?;
    // SAFETY: a plain system call on a number. It must fail.
    if unsafe { libc::setuid(0) } == 0 {
        return Err(io::Error::other("the rights of root came back"));
    }
    Ok(())
}

/// Lets this process be looked at by its own user, as any of his: for one that has given up all that
/// set it apart.
pub(crate) fn be_ordinary() -> io::Result<()> {
    // SAFETY: a plain system call on numbers.
    super::check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) }.into()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_change_nothing_are_refused() {
        for (uid, gid) in [(u32::MAX, 7), (7, u32::MAX), (0, 7)] {
            let error = become_for_good(&Identity { uid, gid, groups: vec![gid] }).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{uid} {gid}");
        }
    }
}
