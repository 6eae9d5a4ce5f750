//! A mount namespace of our own. No process outside sees its mounts, and it goes with its last
//! process, however that ends.

use std::io;

/// Enters one. To be called before a thread is started: only those started later come along.
pub(crate) fn enter_private_mounts() -> io::Result<()> {
    // SAFETY: changes which mounts this thread sees, and nothing in memory.
    super::check(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())?;
    let (root, none) = (c"/".as_ptr(), std::ptr::null());
    // What others unmount goes here too, so that no file system stays in use for us.
    let flags = libc::MS_REC | libc::MS_SLAVE;
    // SAFETY: the path is a C string; for a change of propagation the other pointers may be null.
    let made = unsafe { libc::mount(std::ptr::null(), root, std::ptr::null(), flags, none) };
    super::check(made.into())?;
    Ok(())
}
