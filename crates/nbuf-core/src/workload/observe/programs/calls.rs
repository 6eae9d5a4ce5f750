//! System calls that programs time and count, so that no record is made of most of them.
//!
//! Cost: 0.35 microseconds a call, half of it in the kernel's own path of traced calls, and 6 MiB of memory.

use std::io;

use super::kernel::Kernel;
use super::program::Writer;
use super::timed::{CALLS, SUMS_WORDS, TimedNumbers, TimedWriter};
use crate::meter::bins::BINS;
use crate::meter::times::Times;
use crate::sys::bpf::counters::Counters;
use crate::sys::bpf::tracing::{Link, Tracing};
use crate::sys::bpf::whom::Pairs;
use crate::units::Nanos;

/// Files whose first touch is known in the kernel. Touches of further ones are all written.
const FILES_MAX: u32 = 1 << 16;

/// What was counted.
#[derive(Debug)]
pub(super) struct Calls {
    bins: Counters,
    sums: Counters,
    lines: usize,
    /// Programs name it by its number, which has to stay.
    files: Pairs,
}

impl Calls {
    /// Room for them, on this number of processors.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(super) fn none(lines: usize) -> io::Result<Self> {
        let page = rustix::param::page_size();
        Ok(Self {
            bins: Counters::zeroes((CALLS * BINS * 8).div_ceil(page))?,
            sums: Counters::zeroes((lines * CALLS * SUMS_WORDS * 8).div_ceil(page))?,
            lines,
            files: Pairs::at_most(FILES_MAX)?,
        })
    }

    /// Attaches the programs that count here.
    ///
    /// # Errors
    /// What is missing, or the kernel's answer.
    pub(super) fn attach(&self, kernel: &Kernel, writer: Writer<'_>) -> io::Result<Vec<Link>> {
        let missing = || io::Error::from(io::ErrorKind::Unsupported);
        let kernel = kernel.timed.ok_or_else(missing)?;
        let (bins, sums) = (self.bins.number(), self.sums.number());
        let numbers = TimedNumbers { bins, sums, files: self.files.number() };
        let writer = TimedWriter { writer, kernel, numbers };
        let looks = kernel.looks.map(|kind| (kind, writer.look()));
        // A call that began before both programs run is in neither.
        let calls = [(kernel.leave, writer.leave()), (kernel.enter, writer.enter())];
        let attach = |(kind, code): (u32, Option<_>)| {
            let code: Vec<_> = code.ok_or_else(missing)?;
            Tracing::load(&code, kind)?.attach()
        };
        looks.into_iter().chain(calls).map(attach).collect()
    }

    /// The times of each call that was counted.
    pub(super) fn times(&self) -> Vec<(u64, Times)> {
        (0..CALLS).filter_map(|call| Some((call as u64, self.of(call)?))).collect()
    }

    fn of(&self, call: usize) -> Option<Times> {
        let first = call * BINS;
        let counts: Vec<u64> = (first..first + BINS).map(|at| self.bins.get(at)).collect();
        counts.iter().any(|count| *count > 0).then(|| {
            let sums = (0..self.lines).map(|line| {
                let at = (line * CALLS + call) * SUMS_WORDS;
                [0, 1, 2].map(|word| self.sums.get(at + word))
            });
            let all =
                sums.fold([0; 3], |all, of| [all[0] + of[0], all[1].max(of[1]), all[2].max(of[2])]);
            Times::counted(counts, all[0], [Nanos(!all[2]), Nanos(all[1])])
        })
    }
}
