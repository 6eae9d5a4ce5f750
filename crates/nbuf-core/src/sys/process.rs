//! Processes and users: who we are, who our children are, who called `sudo`.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::supervise::Identity;

/// An account of the user database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// User, group and supplementary groups.
    pub identity: Identity,
    /// Login name.
    pub name: String,
    /// Home directory.
    pub home: PathBuf,
}

/// The number of the user whose rights this process has.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether this process has all of root's user number.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes orphaned descendants of this process its children.
pub fn become_subreaper() -> io::Result<()> {
    // SAFETY: a plain system call without pointers.
    super::check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }.into()).map(drop)
}

/// Has the kernel kill this process when its parent dies, whatever kills that. Says whether the parent
/// is still `parent`: it may have died before.
pub fn die_with(parent: i32) -> io::Result<bool> {
    // SAFETY: a plain system call without pointers.
    super::check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) }.into())?;
    let now = rustix::process::getppid();
    Ok(now.is_some_and(|pid| pid.as_raw_nonzero().get() == parent))
}

/// The children of every thread of this process.
pub fn children() -> Vec<i32> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// These processes and all that descend from them, as far as their threads can be seen.
pub fn descendants(of: &[i32]) -> Vec<i32> {
    let mut found = of.to_vec();
    let mut at = 0;
    while let Some(&pid) = found.get(at) {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(text.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
        at += 1;
    }
    found
}

/// Whether a process is stopped, by a signal or by who traces it.
pub fn is_stopped(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

/// Waits until one of these has ended, for some milliseconds at most.
pub fn wait_for_any(pids: &[i32]) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let open = |&pid: &i32| pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok();
    // Any of them will do: there may be more of them than descriptors.
    let open: Vec<_> = pids.iter().take(16).filter_map(open).collect();
    let mut waiting: Vec<PollFd<'_>> =
        open.iter().map(|file| PollFd::new(file, PollFlags::IN)).collect();
    let some = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    let _ = poll(&mut waiting, Some(&some));
}

/// Sends a signal to one process.
pub fn signal(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: a plain system call without pointers; `pid` is positive at every caller.
    super::check(unsafe { libc::kill(pid, signal) }.into()).map(drop)
}

/// Waits for this child to end and gives its status; `None` when it has not ended yet.
pub fn try_wait(pid: i32) -> io::Result<Option<i32>> {
    let mut status = 0;
    // SAFETY: `status` is a live local.
    let got = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
    super::check(got.into())?;
    Ok((got == pid).then_some(status))
}

/// Exit status as a shell gives it: 128 + n for signal n.
pub fn shell_status(status: i32) -> i32 {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

/// The signal that ended a process, by its status.
pub fn ending_signal(status: i32) -> Option<i32> {
    libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status))
}

/// Clock ticks after boot at which `pid` started: with the number, a name no other process has.
pub fn start_ticks(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Fields count from behind the command name, which may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(19)?.parse().ok()
}

/// What the kernel names the time since the machine started.
///
/// # Errors
/// Those of `/proc`.
pub(crate) fn boot_id() -> io::Result<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(text.trim().to_owned())
}

/// The name of this machine.
pub(crate) fn node_name() -> io::Result<String> {
    let text = fs::read_to_string("/proc/sys/kernel/hostname")?;
    Ok(text.trim().to_owned())
}

/// Calls that read, of a process; 0 where that is not known.
pub(crate) fn read_calls(pid: u32) -> u64 {
    calls(&fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default())
}

fn calls(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// The inode of this process's pid namespace: process numbers mean something only inside it.
pub fn pid_namespace() -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// Nanoseconds of `CLOCK_MONOTONIC`, the clock the kernel stamps samples with.
pub fn monotonic_ns() -> u64 {
    nanoseconds_of(libc::CLOCK_MONOTONIC)
}

/// Processor time of the calling thread, in nanoseconds.
pub fn thread_time_ns() -> u64 {
    nanoseconds_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time of this process, all its threads together, in nanoseconds.
pub fn process_time_ns() -> u64 {
    nanoseconds_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn nanoseconds_of(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a live local.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// The account with this user number.
pub fn account(uid: u32) -> Option<Account> {
    let mut entry = MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    let mut text = vec![0; 16 << 10];
    // SAFETY: `getpwuid_r` fills `entry`, whose strings point into `text`; both live to the end of
    // this function, and `entry` is read only when the call says it was filled.
    let entry = unsafe {
        libc::getpwuid_r(uid, entry.as_mut_ptr(), text.as_mut_ptr(), text.len(), &raw mut found);
        if found.is_null() {
            return None;
        }
        entry.assume_init()
    };
    // SAFETY: both are C strings inside `text`.
    let (name, home): (CString, CString) =
        unsafe { (CStr::from_ptr(entry.pw_name).into(), CStr::from_ptr(entry.pw_dir).into()) };
    let mut groups = vec![0; 1024];
    let mut count = 1024;
    // SAFETY: `groups` has room for `count` numbers, and the name is a C string.
    let got = unsafe {
        libc::getgrouplist(name.as_ptr(), entry.pw_gid, groups.as_mut_ptr(), &raw mut count)
    };
    groups.truncate(if got < 0 { 0 } else { usize::try_from(count).unwrap_or(0) });
    Some(Account {
        identity: Identity { uid, gid: entry.pw_gid, groups },
        name: name.to_string_lossy().into_owned(),
        home: PathBuf::from(std::ffi::OsString::from_vec(home.into_bytes())),
    })
}
