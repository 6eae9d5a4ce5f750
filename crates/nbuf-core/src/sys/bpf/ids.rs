//! All programs, maps and links of the kernel, by number: to see that nothing of ours stays.

use std::io;

use super::super::check;
use super::super::rights::capability::raise;

/// Calls that give the next number after one: of programs, maps and links.
const NEXT: [libc::c_int; 3] = [11, 12, 31];

/// Numbers of all programs, maps and links.
///
/// # Errors
/// `EPERM` without root or `CAP_SYS_ADMIN`.
pub fn ids() -> io::Result<[Vec<u32>; 3]> {
    let mut all = [const { Vec::new() }; 3];
    for (call, found) in NEXT.into_iter().zip(&mut all) {
        // The number to start behind, the next one, and how to open it.
        let mut given = [0_u32; 3];
        loop {
            let _raised = raise();
            // SAFETY: the kernel reads and writes the twelve bytes whose size it gets, and they outlive the call.
            let done = unsafe {
                libc::syscall(libc::SYS_bpf, call, given.as_mut_ptr(), size_of_val(&given))
            };
            match check(done) {
                Ok(_) => found.push(given[1]),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => break,
                Err(error) => return Err(error),
            }
            given[0] = given[1];
        }
    }
    Ok(all)
}
