//! The far side of the fork: the supervisor's loop, and the command until it executes.
//!
//! Async-signal-safe calls only, no allocation: see the parent module.

use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};

use super::children::{
    block_child_signal, close_all_but, ignore_terminal, milliseconds, reap, restore_signals,
};
use super::kill::{ask_all_to_end, kill_all};
use super::owner::{self, Owner};
use crate::sys::start;

use super::{ALL_ENDED, EXEC_FAILED, MAIN_ENDED, Message, Plan, READY, START_FAILED, USED};

/// Reads the scripts that do not say who reads them.
const SHELL: &CStr = c"/bin/sh";

/// What is asked to end has this long before it is killed.
const GRACE_MS: i64 = 1000;
/// Children that end wake us; others are looked for this often.
const LOOK_MS: c_int = 5;
/// Nothing holds out longer but what the kernel itself cannot end.
const GIVE_UP_MS: i64 = 10_000;

/// How long to wait for something to happen.
unsafe fn patience(due: Option<i64>) -> c_int {
    // SAFETY: a plain call for the time.
    let left = due.map(|at| at - unsafe { milliseconds() });
    let left = left.and_then(|left| c_int::try_from(left.max(0)).ok());
    left.unwrap_or(owner::LOOK_MS).clamp(LOOK_MS, owner::LOOK_MS)
}

/// Pointers and numbers only: what the child may look at after the fork.
pub(super) struct Prepared<'a> {
    plan: &'a Plan,
    argv: Vec<*const c_char>,
    /// For each program, in the order of the plan: the arguments of a shell that reads it.
    scripts: Vec<Vec<*const c_char>>,
    envp: Vec<*const c_char>,
    ours: RawFd,
    socket: RawFd,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(plan: &'a Plan, ours: RawFd, socket: RawFd) -> Self {
        let pointers = |strings: &[CString]| -> Vec<*const c_char> {
            strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let argv = pointers(&plan.arguments);
        let script = |program: &CString| -> Vec<*const c_char> {
            let before = [SHELL.as_ptr(), program.as_ptr()];
            before.into_iter().chain(argv.iter().skip(1).copied()).collect()
        };
        Self {
            plan,
            scripts: plan.programs.iter().map(script).collect(),
            argv,
            envp: pointers(&plan.environment),
            ours,
            socket,
        }
    }

    /// The supervisor's life. Never returns.
    pub(super) fn supervise(&self) -> ! {
        // SAFETY: we are the only thread of a fresh process; every call is async-signal-safe and
        // every pointer was prepared before the fork and lives until `_exit`.
        unsafe {
            // Held open here, our process's end would hide its death from us.
            libc::close(self.ours);
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
            ignore_terminal();
            let owner = Owner::parent();
            let signals = block_child_signal();
            let mut gate = [0 as RawFd; 2];
            let opened = libc::pipe2(gate.as_mut_ptr(), libc::O_CLOEXEC);
            let command = if opened == 0 { libc::fork() } else { -1 };
            if command == 0 {
                self.become_command(gate);
            }
            if command < 0 {
                self.tell(START_FAILED, (*libc::__errno_location()).into(), [0; USED]);
                libc::_exit(125);
            }
            // A session of our own, and so a group: what the command sends to its group, `SIGKILL` even, may
            // end our process, and leaves us to clean up after both. It stays in the group that it was
            // started in.
            libc::setsid();
            libc::close(gate[0]);
            close_all_but(3, &[self.socket, signals, gate[1], owner.descriptor()]);
            self.tell(READY, command.into(), [0; USED]);
            self.watch(command, signals, gate[1], &owner);
        }
    }

    /// Waits for children, for words from our process, and for its death.
    unsafe fn watch(&self, command: c_int, signals: RawFd, mut gate: RawFd, owner: &Owner) -> ! {
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut waiting = [entry(self.socket), entry(signals)];
        // When what still runs is asked to end, and when it is killed.
        let mut end_at: Option<i64> = None;
        let mut kill_at: Option<i64> = None;
        let mut main_ended = false;
        let mut timed_out = false;
        // SAFETY: as in `supervise`.
        unsafe {
            loop {
                libc::poll(waiting.as_mut_ptr(), 2, patience(kill_at.or(end_at)));
                let mut drain = MaybeUninit::<libc::signalfd_siginfo>::uninit();
                libc::read(signals, drain.as_mut_ptr().cast(), size_of_val(&drain));
                if owner.is_dying() {
                    self.kill_everything_and_exit(signals);
                }
                if waiting[0].revents != 0 {
                    let mut word = 0u8;
                    let got =
                        libc::recv(self.socket, (&raw mut word).cast(), 1, libc::MSG_DONTWAIT);
                    match word {
                        _ if got == 0 => self.kill_everything_and_exit(signals),
                        b'g' if got == 1 && gate >= 0 => {
                            libc::write(gate, (&raw const word).cast(), 1);
                            libc::close(gate);
                            gate = -1;
                            end_at =
                                self.plan.deadline_ms.map(|ms| milliseconds().saturating_add(ms));
                        }
                        b'e' if got == 1 && kill_at.is_none() => {
                            kill_at = Some(milliseconds() + GRACE_MS);
                            ask_all_to_end(&self.plan.cgroups);
                        }
                        b'k' if got == 1 => kill_at = Some(0),
                        _ => {}
                    }
                }
                if kill_at.is_none() && end_at.is_some_and(|at| milliseconds() >= at) {
                    timed_out = true;
                    kill_at = Some(milliseconds() + GRACE_MS);
                    ask_all_to_end(&self.plan.cgroups);
                }
                if kill_at.is_some_and(|at| milliseconds() >= at) {
                    kill_all(&self.plan.cgroups);
                }
                if reap(|pid, status| {
                    if pid == command && !main_ended {
                        main_ended = true;
                        self.tell(MAIN_ENDED, status.into(), [0; USED]);
                    }
                }) {
                    self.tell_usage(timed_out);
                    libc::_exit(0);
                }
            }
        }
    }

    /// The command's side of the fork: wait for the word, join, become, execute.
    unsafe fn become_command(&self, gate: [RawFd; 2]) -> ! {
        // SAFETY: as in `supervise`; `execve` gets null-terminated arrays of C strings.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            libc::close(gate[1]);
            let mut word = 0u8;
            if libc::read(gate[0], (&raw mut word).cast(), 1) != 1 {
                libc::_exit(125);
            }
            for procs in &self.plan.join {
                if libc::write(procs.as_raw_fd(), b"0\n".as_ptr().cast(), 2) < 0 {
                    self.fail();
                }
            }
            for (target, source) in (0..).zip(&self.plan.standard) {
                if let Some(source) = source
                    && libc::dup2(source.as_raw_fd(), target) < 0
                {
                    self.fail();
                }
            }
            if let Some(filter) = &self.plan.filter
                && filter.install().is_err()
            {
                self.fail();
            }
            if let Some(identity) = &self.plan.identity
                && (libc::setgroups(identity.groups.len(), identity.groups.as_ptr()) != 0
                    || libc::setgid(identity.gid) != 0
                    || libc::setuid(identity.uid) != 0)
            {
                self.fail();
            }
            for (descriptor, given) in (0..).zip(&self.plan.standard) {
                if given.is_none() && start::was_closed(descriptor) {
                    libc::close(descriptor);
                }
            }
            // Not for the command to see: who outlives our process is killed by the supervisor.
            libc::prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0);
            restore_signals();
            let mut worst = libc::ENOENT;
            for (program, script) in self.plan.programs.iter().zip(&self.scripts) {
                libc::execve(program.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr());
                let errno = *libc::__errno_location();
                if errno == libc::ENOEXEC {
                    // No format that the kernel knows: a script without a `#!` line, to execvp(3).
                    libc::execve(SHELL.as_ptr(), script.as_ptr(), self.envp.as_ptr());
                }
                if errno != libc::ENOENT && errno != libc::ENOTDIR {
                    worst = errno;
                }
            }
            *libc::__errno_location() = worst;
            self.fail();
        }
    }

    /// Reports `errno` and ends the command's process.
    unsafe fn fail(&self) -> ! {
        // SAFETY: as in `supervise`.
        unsafe {
            let errno = *libc::__errno_location();
            self.tell(EXEC_FAILED, errno.into(), [0; USED]);
            libc::_exit(if errno == libc::ENOENT { 127 } else { 126 });
        }
    }

    fn tell(&self, kind: u64, value: i64, more: [u64; USED]) {
        let message = Message { kind, value, more };
        // SAFETY: the message is a live local without padding; a dead reader is no signal for us.
        unsafe {
            libc::send(
                self.socket,
                (&raw const message).cast(),
                size_of::<Message>(),
                libc::MSG_NOSIGNAL,
            );
        }
    }

    fn tell_usage(&self, timed_out: bool) {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel fills the structure; all zeros is valid too.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
            usage.assume_init()
        };
        let micros = |t: libc::timeval| t.tv_sec * 1_000_000 + t.tv_usec;
        let used = [
            micros(usage.ru_utime),
            micros(usage.ru_stime),
            usage.ru_majflt,
            usage.ru_minflt,
            usage.ru_inblock,
            usage.ru_oublock,
            usage.ru_maxrss,
            usage.ru_nvcsw,
            usage.ru_nivcsw,
        ];
        self.tell(ALL_ENDED, timed_out.into(), used.map(i64::unsigned_abs));
    }

    /// Our process is dead: end all descendants, remove the cgroups, and go.
    unsafe fn kill_everything_and_exit(&self, signals: RawFd) -> ! {
        // SAFETY: as in `supervise`.
        unsafe {
            let give_up_at = milliseconds() + GIVE_UP_MS;
            let mut child_ended = libc::pollfd { fd: signals, events: libc::POLLIN, revents: 0 };
            while milliseconds() < give_up_at {
                kill_all(&self.plan.cgroups);
                let none_left = reap(|_, _| {});
                let mut removed = true;
                for group in &self.plan.cgroups {
                    removed &= libc::rmdir(group.directory.as_ptr()) == 0
                        || *libc::__errno_location() == libc::ENOENT;
                }
                if none_left && removed {
                    break;
                }
                libc::poll(&raw mut child_ended, 1, LOOK_MS);
                let mut drain = MaybeUninit::<libc::signalfd_siginfo>::uninit();
                libc::read(signals, drain.as_mut_ptr().cast(), size_of_val(&drain));
            }
            libc::_exit(125);
        }
    }
}
