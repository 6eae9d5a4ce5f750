//! The stages of the experiment: build the kernels, install one, boot it and time an assembly.
//!
//! The steps follow the post. The guest itself assembles a kernel for every number of buffers. One
//! kernel goes into the cold slot and assembles the kernel again, each time on fresh copies. Images
//! are only ever copied.

use std::ops::RangeInclusive;

use nbuf::internal::clock::Random;
use nbuf::units::Nanos;

use crate::device::transfer::Tally;
use crate::machine::Waited;
use crate::timing::Timing;

use super::files;
use super::guest::{Guest, Images, Slot, Trouble};
pub use super::kernel::Caller;
use super::kernel::{BufferRequest, Kernel, KernelError};

/// The reason why an experiment ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    /// The guest did not follow a command.
    #[error("while {during}: {trouble}")]
    Guest {
        /// The step in progress.
        during: String,
        /// The guest's behaviour.
        trouble: Box<Trouble>,
    },
    /// A disc lacks a file that the experiment needs.
    #[error("the images have no {0}")]
    NoFile(&'static str),
    /// A kernel was not assembled.
    #[error(
        "the guest made no /usr/sys/nbuf.{0}: the images hold sources that nbuf does not support"
    )]
    NoKernel(u16),
}

fn during(what: impl Into<String>) -> impl FnOnce(Trouble) -> StageError {
    let during = what.into();
    move |trouble| StageError::Guest { during, trouble: Box::new(trouble) }
}

/// The kernel's file for this number of buffers.
pub fn kernel_object(images: &Images, buffers: u16) -> Option<Vec<u8>> {
    files::read(&images.pack, &format!("sys/nbuf.{buffers}"))
}

/// Stage A: assembles `msys2` and a kernel for each number of buffers. Returns the images with
/// them. At the end the source has six buffers again, so that every later assembly reads the same
/// source.
pub fn build(
    images: &Images,
    numbers: RangeInclusive<u16>,
    say: &mut dyn FnMut(&str),
) -> Result<Images, StageError> {
    let on_drum = [("usr", "folder /usr on the drum"), ("bin/as", "/bin/as on the drum")];
    let on_pack =
        [("sys/u0.s", "sys/u0.s on the pack"), ("boot/msys2.s", "boot/msys2.s on the pack")];
    for (image, files) in [(&images.drum, on_drum), (&images.pack, on_pack)] {
        for (path, name) in files {
            files::read(image, path).ok_or(StageError::NoFile(name))?;
        }
    }
    let mut guest = Guest::boot(images.clone(), Slot::Warm, &Timing::instant());
    let mut old = number_in_source(6);
    let steps = |guest: &mut Guest| -> Result<(), Trouble> {
        guest.log_in()?;
        for line in ["chdir /usr/boot", "as msys2.s", "mv a.out msys2", "chdir /usr/sys"] {
            guest.line(line)?;
        }
        Ok(())
    };
    steps(&mut guest).map_err(during("preparing"))?;
    for number in numbers.chain([6]) {
        say(&format!("a kernel with {number} buffers"));
        let new = number_in_source(number);
        edit(&mut guest, &old, &new).map_err(during(format!("setting nbuf to {number}")))?;
        old = new;
        let assembled =
            guest.line("as u*.s").and_then(|_| guest.line(&format!("mv a.out nbuf.{number}")));
        assembled.map_err(during(format!("assembling a kernel with {number} buffers")))?;
    }
    guest.rest(2);
    Ok(guest.images())
}

/// A number in the assembler's syntax: two digits without a point are octal.
fn number_in_source(number: u16) -> String {
    if number < 10 { number.to_string() } else { format!("{number}.") }
}

/// The bytes of `u0.s` without the number of buffers.
const SOURCE_BYTES: usize = 12_635;

/// Changes the number of buffers in `u0.s`.
fn edit(guest: &mut Guest, old: &str, new: &str) -> Result<(), Trouble> {
    guest.ask("ed u0.s", &format!("\n{}\n", SOURCE_BYTES + old.len()))?;
    guest.ask("/nbuf/p", &format!("nbuf = {old}\n"))?;
    guest.ask(&format!("s/= {old}/= {new}/p"), &format!("nbuf = {new}\n"))?;
    guest.ask("w", &format!("\n{}\n", SOURCE_BYTES + new.len()))?;
    guest.line("q").map(drop)
}

/// Stage B: puts a kernel into the cold slot.
pub fn install(images: &Images, buffers: u16) -> Result<Images, StageError> {
    let mut guest = Guest::boot(images.clone(), Slot::Warm, &Timing::instant());
    let line = format!("/usr/boot/msys2 1 /usr/sys/nbuf.{buffers}");
    let installed = guest.log_in().and_then(|_| guest.line(&line));
    installed.map_err(during(format!("installing the kernel with {buffers} buffers")))?;
    guest.rest(2);
    Ok(guest.images())
}

/// The results of one assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The number of buffers in the running kernel.
    pub buffers: Result<u16, KernelError>,
    /// The ticks from the end of the line to the prompt.
    pub ticks: u64,
    /// The ticks from the first request for a buffer to the last.
    pub busy_ticks: u64,
    /// The number of executed instructions.
    pub instructions: u64,
    /// The requests, for a known kernel.
    pub requests: Vec<BufferRequest>,
    /// The number of waits for a free buffer.
    pub buffer_waits: u64,
    /// The WAITs after their event, however they ended.
    pub late_sleeps: u64,
    /// The late sleeps that the clock ended.
    pub lost_wakeups: u64,
    /// The totals of the drum.
    pub drum: Tally,
    /// The totals of the pack.
    pub pack: Tally,
    /// The waiting time of the processor.
    pub waited: Waited,
    /// The resulting a.out.
    pub object: Vec<u8>,
}

/// The timing of a sample. Clock and discs of the first start at zero, those of each later one at
/// positions of their own.
pub fn phased(timing: &Timing, sample: u64) -> Timing {
    let mut phased = timing.clone();
    if sample > 0 {
        let mut random = Random::new(sample);
        let mut below = |most: u64| random.below(most);
        phased.clock_first_ticks = 1 + below(timing.clock_ticks);
        phased.drum.phase = Nanos(below(timing.drum.word.0 * 2048));
        phased.pack.phase = Nanos(below(timing.pack.turn.0));
    }
    phased
}

/// Stage C: boots the cold slot and times `as u*.s`.
pub fn assemble(images: &Images, buffers: u16, timing: &Timing) -> Result<Sample, StageError> {
    let object = kernel_object(images, buffers).ok_or(StageError::NoKernel(buffers))?;
    let mut guest = Guest::boot(images.clone(), Slot::Cold, timing);
    let ready = guest.hook(&object);
    let steps = |guest: &mut Guest| -> Result<(), Trouble> {
        guest.log_in()?;
        guest.line("date")?;
        guest.line("chdir /usr/sys").map(drop)
    };
    steps(&mut guest).map_err(during(format!("booting the kernel with {buffers} buffers")))?;
    let before = guest.clone();
    let end = guest.line("as u*.s");
    let end = end.map_err(during(format!("assembling with {buffers} buffers")))?;
    let requests = guest.meters.requests.split_off(before.meters.requests.len());
    let ticks_of = |request: Option<&BufferRequest>| request.map_or(0, |request| request.ticks);
    let span = ticks_of(requests.last()) - ticks_of(requests.first());
    let (devices, earlier) = (&guest.machine.bus, &before.machine.bus);
    let drum = difference(devices.drum.transfer.tally(), earlier.drum.transfer.tally());
    let pack = difference(devices.pack.transfer.tally(), earlier.pack.transfer.tally());
    let waited = Waited {
        ticks: guest.machine.waited().ticks - before.machine.waited().ticks,
        idle_ticks: guest.machine.waited().idle_ticks - before.machine.waited().idle_ticks,
    };
    let (instructions, ticks) = (guest.meters.instructions, end - before.machine.now());
    let late_sleeps = guest.meters.late_sleeps - before.meters.late_sleeps;
    let lost_wakeups = guest.meters.lost_wakeups - before.meters.lost_wakeups;
    let buffer_waits = guest.meters.buffer_waits - before.meters.buffer_waits;
    guest.rest(2);
    Ok(Sample {
        buffers: ready.map(|kernel: Kernel| kernel.buffers),
        ticks,
        busy_ticks: span,
        instructions: instructions - before.meters.instructions,
        requests,
        buffer_waits,
        late_sleeps,
        lost_wakeups,
        drum,
        pack,
        waited,
        object: files::read(&guest.images().pack, "sys/a.out").unwrap_or_default(),
    })
}

fn difference(now: Tally, before: Tally) -> Tally {
    let mut breakdown = now.breakdown;
    breakdown.queued = breakdown.queued - before.breakdown.queued;
    breakdown.overhead = breakdown.overhead - before.breakdown.overhead;
    breakdown.seek = breakdown.seek - before.breakdown.seek;
    breakdown.rotation = breakdown.rotation - before.breakdown.rotation;
    breakdown.transfer = breakdown.transfer - before.breakdown.transfer;
    Tally {
        reads: now.reads - before.reads,
        writes: now.writes - before.writes,
        words: now.words - before.words,
        breakdown,
    }
}
