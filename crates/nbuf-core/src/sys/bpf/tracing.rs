//! Programs that the kernel runs at its tracepoints, with typed arguments (`tp_btf`).

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{Attributes, Instruction, Program, load, owned};

const RAW_TRACEPOINT_OPEN: libc::c_int = 17;
const PROGRAM_TYPE_TRACING: u32 = 26;
const TRACE_RAW_TRACEPOINT: u32 = 23;

/// A program that the kernel has checked, for one tracepoint.
#[derive(Debug)]
pub(crate) struct Tracing(OwnedFd);

/// A program that runs at its tracepoint, until this is dropped.
#[derive(Debug)]
pub(crate) struct Link {
    descriptor: OwnedFd,
}

impl Link {
    /// The descriptor alone: the program runs until it is closed.
    pub(crate) fn into_descriptor(self) -> OwnedFd {
        self.descriptor
    }
}

impl Tracing {
    /// Loads a program for the tracepoint whose type has this number in the kernel's own description.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` and `CAP_PERFMON`, or root. For a program that failed the check, the kernel's report.
    pub(crate) fn load(code: &[Instruction], kind: u32) -> io::Result<Self> {
        let fields = [(0, PROGRAM_TYPE_TRACING), (68, TRACE_RAW_TRACEPOINT), (108, kind)];
        load(&fields, code).map(Self)
    }

    /// From now on it runs.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn attach(&self) -> io::Result<Link> {
        let number = self.0.as_raw_fd().cast_unsigned();
        let link = Attributes::of(&[(8, number)]).call(RAW_TRACEPOINT_OPEN)?;
        Ok(Link { descriptor: owned(link)? })
    }
}

impl Program {
    /// From now on it runs at the tracepoint of this name, too. Its arguments are numbers.
    ///
    /// # Errors
    /// `ENOENT` where the kernel has none of this name, `EINVAL` where it has fewer arguments than the program reads.
    pub(crate) fn attach(&self, tracepoint: &CStr) -> io::Result<Link> {
        let number = self.descriptor.as_raw_fd().cast_unsigned();
        let given = Attributes::of(&[(8, number)]).address(0, tracepoint.as_ptr());
        Ok(Link { descriptor: owned(given.call(RAW_TRACEPOINT_OPEN)?)? })
    }
}
