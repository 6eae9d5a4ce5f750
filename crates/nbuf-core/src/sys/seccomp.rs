//! A filter over system calls that stops a tracee at some of them: `seccomp(2)` with
//! `SECCOMP_RET_TRACE`. All others run at full speed.

use std::io;

use super::architecture::AUDIT;

/// A condition on a call, in addition to its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// No condition.
    Always,
    /// This argument has one of these bits.
    Has {
        /// Which argument, from 0.
        argument: u32,
        /// The bits.
        bits: u32,
    },
    /// This argument has none of these bits.
    HasNot {
        /// Which argument, from 0.
        argument: u32,
        /// The bits.
        bits: u32,
    },
}

/// A program for the kernel, ready to be installed.
#[derive(Clone)]
pub struct Filter {
    program: Vec<libc::sock_filter>,
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter").field("instructions", &self.program.len()).finish()
    }
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const HAS: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

impl Filter {
    /// Stops at these calls of the machine's own architecture; at none where that is not
    /// [supported](is_supported).
    pub fn stopping_at(calls: &[(libc::c_long, When)]) -> Self {
        Self::answering(libc::SECCOMP_RET_TRACE, calls)
    }

    fn answering(answer: u32, calls: &[(libc::c_long, When)]) -> Self {
        let trace = step(RETURN, answer, 0, 0);
        let allow = step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0);
        // struct seccomp_data: the number, the architecture, the instruction, six arguments.
        let mut program = vec![step(LOAD, 4, 0, 0)];
        program.extend(AUDIT.map(|architecture| step(IS, architecture, 1, 0)));
        program.push(allow);
        program.push(step(LOAD, 0, 0, 0));
        for &(number, when) in calls {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            match when {
                When::Always => program.extend([step(IS, number, 0, 1), trace]),
                // The lower half of the argument: flags are ints.
                When::Has { argument, bits } => program.extend([
                    step(IS, number, 0, 4),
                    step(LOAD, 16 + 8 * argument, 0, 0),
                    step(HAS, bits, 0, 1),
                    trace,
                    allow,
                ]),
                When::HasNot { argument, bits } => program.extend([
                    step(IS, number, 0, 4),
                    step(LOAD, 16 + 8 * argument, 0, 0),
                    step(HAS, bits, 1, 0),
                    trace,
                    allow,
                ]),
            }
        }
        program.push(allow);
        Self { program }
    }

    /// Puts the filter on the calling process for good, and on whatever it will start.
    ///
    /// `no_new_privs` comes first, for root too: no program that the process executes gains
    /// privileges any more. A set-id program whose calls stop would fail with the rights of another.
    ///
    /// # Safety
    /// A filter that stops is for a forked child that is about to execute: from here on the calls fail
    /// unless a tracer stands by. Async-signal-safe.
    pub(super) unsafe fn install(&self) -> io::Result<()> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.program.len()).unwrap_or(0),
            filter: self.program.as_ptr().cast_mut(),
        };
        // SAFETY: the kernel copies the program, which it only reads.
        unsafe {
            super::check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
            let (call, mode) = (libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER);
            super::check(libc::syscall(call, mode, 0, &raw const program)).map(drop)
        }
    }
}

/// Makes these calls fail with `ENOSYS` for the calling process, its later threads and whatever it
/// starts, for good: as on a kernel that was built without them. For tests of refusals; call it
/// before any thread is started.
pub fn refuse(calls: &[libc::c_long]) -> io::Result<()> {
    let answer = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let calls: Vec<_> = calls.iter().map(|&call| (call, When::Always)).collect();
    // SAFETY: a filter that answers by itself needs no tracer, and makes calls fail, not run.
    unsafe { Filter::answering(answer, &calls).install() }
}

/// Whether filters for this architecture are known here.
pub fn is_supported() -> bool {
    AUDIT.is_some()
}

/// Whether the kernel knows filters that stop at a call for a tracer.
pub fn is_available() -> bool {
    let action = libc::SECCOMP_RET_TRACE;
    // SAFETY: the kernel reads one number, a live local.
    let known = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action)
    };
    known == 0
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: u16::try_from(code).unwrap_or(0), jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would say, for the few instructions that are used.
    fn verdict(filter: &Filter, architecture: u32, number: u32, arguments: [u32; 6]) -> u32 {
        let (mut at, mut loaded) = (0, 0);
        loop {
            let step = filter.program[at];
            at += 1;
            let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
            match u32::from(step.code) {
                RETURN => return step.k,
                LOAD => {
                    loaded = match step.k {
                        0 => number,
                        4 => architecture,
                        offset => arguments[usize::try_from(offset - 16).unwrap() / 8],
                    };
                }
                IS => at += jump(loaded == step.k),
                HAS => at += jump(loaded & step.k != 0),
                other => panic!("{other}"),
            }
        }
    }

    #[test]
    fn it_stops_at_what_it_was_given() {
        let filter = Filter::stopping_at(&[
            (0, When::Always),
            (9, When::HasNot { argument: 3, bits: 0x20 }),
            (257, When::Has { argument: 2, bits: 0x200 }),
            (1, When::Always),
        ]);
        let Some(native) = AUDIT else { return };
        let cases = [
            (native, 0, [0; 6], true),
            (native, 1, [0; 6], true),
            (native, 2, [0; 6], false),
            (0x4000_0003, 0, [0; 6], false),
            (native, 9, [0, 0, 0, 2, 0, 0], true),
            (native, 9, [0, 0, 0, 0x22, 0, 0], false),
            (native, 257, [0, 0, 0x241, 0, 0, 0], true),
            (native, 257, [0, 0, 0x41, 0, 0, 0], false),
        ];
        for (architecture, number, arguments, stops) in cases {
            let want = if stops { libc::SECCOMP_RET_TRACE } else { libc::SECCOMP_RET_ALLOW };
            let got = verdict(&filter, architecture, number, arguments);
            assert_eq!(got, want, "{architecture:#x} {number} {arguments:?}");
        }
    }
}
