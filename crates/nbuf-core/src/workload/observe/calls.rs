//! System calls that mean more to us than their own time.

use libc::c_long;

use crate::meter::activity::Does;
use crate::meter::split::Call;

/// What the waits of a call mean, by its arguments.
pub(super) type Meaning = fn([u64; 2]) -> Option<Call>;

/// Calls whose waits mean something other than a wait for another program.
pub(super) const WAITS: &[(c_long, Meaning)] = &[
    (libc::SYS_nanosleep, |_| Some(Call::Sleep)),
    (libc::SYS_clock_nanosleep, |_| Some(Call::Sleep)),
    (libc::SYS_wait4, |_| Some(Call::Sleep)),
    (libc::SYS_waitid, |_| Some(Call::Sleep)),
    (libc::SYS_rt_sigsuspend, |_| Some(Call::Sleep)),
    (libc::SYS_rt_sigtimedwait, |_| Some(Call::Sleep)),
    (libc::SYS_restart_syscall, |_| Some(Call::Sleep)),
    // Without a descriptor, the call waits only for a time.
    (libc::SYS_ppoll, |[_, count]| (count == 0).then_some(Call::Sleep)),
    (libc::SYS_pselect6, |[count, _]| (count == 0).then_some(Call::Sleep)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_pause, |_| Some(Call::Sleep)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_poll, |[_, count]| (count == 0).then_some(Call::Sleep)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_select, |[count, _]| (count == 0).then_some(Call::Sleep)),
    (libc::SYS_io_getevents, |_| Some(Call::Completion)),
    (libc::SYS_io_uring_enter, |_| Some(Call::Completion)),
];

/// Calls that make a process or a thread.
pub(super) const CREATE: &[c_long] = &[
    libc::SYS_clone,
    libc::SYS_clone3,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

pub(super) const EXECUTE: &[c_long] = &[libc::SYS_execve, libc::SYS_execveat];

/// Calls that look up a path, and do little else.
const LOOK_UP: &[c_long] = &[
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_chdir,
    libc::SYS_statfs,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
];

/// What the call with this number means.
pub(super) fn does(call: u64) -> Does {
    let is_one_of = |calls: &[c_long]| calls.iter().any(|known| known.cast_unsigned() == call);
    match () {
        () if is_one_of(LOOK_UP) => Does::LooksUp,
        () if is_one_of(CREATE) => Does::Creates,
        () if is_one_of(EXECUTE) => Does::Executes,
        () => Does::Other,
    }
}
