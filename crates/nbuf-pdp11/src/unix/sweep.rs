//! The whole experiment: builds, installs, boots and times kernels, and makes rows of the results.

mod spec;

use std::ops::RangeInclusive;

use nbuf::experiment::session::{Interim, Session};
use nbuf::trace::{CacheEvent, Capture, Facts, FileId, Record, Trace};
use nbuf::units::Bytes;
use nbuf::workload::format::native::{self, WriteError};

pub use spec::{Error, Spec};

use crate::timing::Timing;

use super::guest::Images;
use super::images;
use super::kernel::{BufferRequest, Caller};
use super::result::{DiscOperations, Refused, SweepDocument, SweepRow, TimeSplit};
use super::stages::{self, Sample, StageError};
use super::warning::Warning;

/// The kernels to build in every run, because the requests depend on the contents of `/usr/sys`.
pub(super) const ALL: RangeInclusive<u16> = 0..=7;

/// The most buffers with which the post assembled a kernel.
pub const BUFFERS_MAX: u16 = 12;

/// The seconds in the post of 2026 for 1 to 6 buffers, on its author's machine under SIMH.
const POST_SECONDS: [f64; 6] = [3.215, 1.309, 1.004, 0.780, 0.734, 0.724];

/// Assembles the kernel with each number of buffers. A signal ends it early: what was measured by then is
/// in the document. The observer sees the requests of the first kernel that booted as
/// [`Interim::Trace`], if the kernel is known.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<SweepDocument, Error> {
    let images = images::read(&spec.images)?;
    let samples = usize::try_from(spec.samples).unwrap_or(usize::MAX);
    let steps = spec.numbers.len().saturating_mul(samples).saturating_add(1);
    let (document, requests) = with_steps(session, steps, |step| measure(spec, &images, step))?;
    if !requests.is_empty() {
        let trace = trace(&requests, &spec.model.timing());
        session.observer.interim(Interim::Trace(&trace)).map_err(Error::Observer)?;
    }
    Ok(document)
}

/// A trace as a native file.
pub fn trace_file(trace: &Trace) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::new();
    native::write(trace, &mut bytes)?;
    Ok(bytes)
}

/// Called before each step, with its name; whether to go on.
pub(super) type Step<'a> = &'a mut dyn FnMut(&str) -> bool;

pub(super) fn with_steps<T>(
    session: &Session<'_>,
    steps: usize,
    work: impl FnOnce(Step<'_>) -> Result<T, StageError>,
) -> Result<T, Error> {
    session.cancellation.listen().map_err(Error::Signals)?;
    let mut done = 0;
    let outcome = work(&mut |what| {
        session.observer.progress(what, done, steps);
        done += 1;
        session.cancellation.poll().is_none()
    });
    session.observer.stage_over();
    Ok(outcome?)
}

/// The rows, and every call of the buffer allocator in the first sample of the first row.
fn measure(
    plan: &Spec,
    images: &Images,
    step: Step<'_>,
) -> Result<(SweepDocument, Vec<BufferRequest>), StageError> {
    let timing = &plan.model.timing();
    let mut document = SweepDocument {
        schema: SweepDocument::SCHEMA.to_owned(),
        timing: timing.name.to_owned(),
        units_per_second: timing.second_ticks,
        samples: plan.samples.max(1),
        ..SweepDocument::default()
    };
    let mut requests = Vec::new();
    if !step("the guest assembles its kernels") {
        return Ok((document, requests));
    }
    let built = stages::build(images, ALL, &mut |_| ())?;
    // Larger kernels go on a pack of their own, so that they do not change the requests of the
    // others.
    let most = plan.numbers.iter().copied().max().unwrap_or(0).min(BUFFERS_MAX);
    let larger = (most > *ALL.end())
        .then(|| stages::build(&built, *ALL.end() + 1..=most, &mut |_| ()))
        .transpose()?;
    'kernels: for &nbuf in &plan.numbers {
        let on = larger.as_ref().filter(|_| nbuf > *ALL.end()).unwrap_or(&built);
        let installed = stages::install(on, nbuf)?;
        let mut samples = Vec::new();
        for number in 0..plan.samples.max(1) {
            if !step(&format!("nbuf {nbuf}, sample {number}")) {
                document.warnings.push(Warning::Interrupted { nbuf });
                break 'kernels;
            }
            match stages::assemble(&installed, nbuf, &stages::phased(timing, number)) {
                Ok(sample) => samples.push(sample),
                Err(StageError::Guest { trouble, .. }) => {
                    document.refused.push(refused(nbuf, &trouble));
                    continue 'kernels;
                }
                Err(other) => return Err(other),
            }
        }
        if requests.is_empty() {
            requests.clone_from(&samples[0].requests);
        }
        document.rows.push(row(nbuf, &samples, timing, &document.rows));
        if let Err(error) = samples[0].buffers.clone() {
            document.warnings.push(Warning::UnknownKernel { nbuf, error });
        }
    }
    Ok((document, requests))
}

/// The known cause for a kernel that does not boot, and the guest's behaviour.
fn refused(nbuf: u16, trouble: &super::guest::Trouble) -> Refused {
    let what = &trouble.what;
    let why = match (nbuf, trouble.stop) {
        (0, None) => format!("{what}, waiting for a buffer for the superblock"),
        (7, _) => format!("the seventh buffer overruns the user area; {what}"),
        (8.., _) => {
            format!("buffers 7 to {nbuf} overrun the user area and the core of the users; {what}")
        }
        (_, None) => format!("{what} at {:06o}", trouble.counter),
        _ => what.clone(),
    };
    Refused { nbuf, why, machine: trouble.machine.clone() }
}

/// The row of a kernel: its median sample, compared with the previous rows.
fn row(nbuf: u16, samples: &[Sample], timing: &Timing, before: &[SweepRow]) -> SweepRow {
    let mut by_time: Vec<&Sample> = samples.iter().collect();
    by_time.sort_by_key(|sample| sample.ticks);
    let sample = by_time[(by_time.len() - 1) / 2];
    let seconds = |ticks: u64| ticks as f64 / timing.second_ticks as f64;
    let hits = |wanted: &dyn Fn(Caller) -> bool| {
        let is_wanted = |request: &&BufferRequest| request.is_hit && wanted(request.caller);
        sample.requests.iter().filter(is_wanted).count() as u64
    };
    let is_write = |caller| caller == Caller::Write;
    let (all, write_hits) = (hits(&|_| true), hits(&is_write));
    let (requests, time) = (sample.requests.len() as u64, seconds(sample.ticks));
    let counted = |number: u64| sample.buffers.is_ok().then_some(number);
    let against = |row: Option<&SweepRow>| row.map_or(1.0, |row| row.seconds / time);
    let post = (1..=6).contains(&nbuf).then(|| POST_SECONDS[usize::from(nbuf) - 1]);
    SweepRow {
        nbuf: sample.buffers.as_ref().copied().unwrap_or(nbuf),
        seconds: time,
        units: sample.ticks,
        range_seconds: [seconds(by_time[0].ticks), seconds(by_time[by_time.len() - 1].ticks)],
        speedup: against(before.first()),
        against_previous: against(before.last()) - 1.0,
        post_seconds: post,
        instructions: sample.instructions,
        requests: counted(requests),
        hits: counted(all),
        misses: counted(requests - all),
        read_hits: counted(all - write_hits),
        write_hits: counted(write_hits),
        lost_wakeups: counted(sample.lost_wakeups),
        buffer_waits: counted(sample.buffer_waits),
        disc: DiscOperations {
            drum_reads: sample.drum.reads,
            drum_writes: sample.drum.writes,
            pack_reads: sample.pack.reads,
            pack_writes: sample.pack.writes,
        },
        time: split(sample, timing),
    }
}

fn split(sample: &Sample, timing: &Timing) -> TimeSplit {
    let seconds = |ticks: u64| ticks as f64 / timing.second_ticks as f64;
    // Discs count nanoseconds within a tick, whatever its length.
    let disc = |time: nbuf::units::Nanos| seconds(time.0) / timing.tick_ns as f64;
    let (drum, pack) = (&sample.drum.breakdown, &sample.pack.breakdown);
    let split = TimeSplit {
        cpu: seconds(sample.ticks.saturating_sub(sample.waited.ticks)),
        drum_latency: disc(drum.rotation),
        seek: disc(pack.seek + pack.overhead),
        rotation: disc(pack.rotation),
        transfer: disc(drum.transfer + pack.transfer),
        overlap: 0.0,
        idle: seconds(sample.waited.idle_ticks),
    };
    let sum = split.cpu + split.drum_latency + split.seek + split.rotation + split.transfer;
    TimeSplit { overlap: (sum + split.idle - seconds(sample.ticks)).max(0.0), ..split }
}

/// Makes a trace of the requests: two files, the drum and the pack, in pages of 512 bytes.
fn trace(requests: &[BufferRequest], timing: &Timing) -> Trace {
    let mut trace = Trace {
        files: vec!["drum".to_owned(), "pack".to_owned()],
        facts: Facts {
            schema: Facts::SCHEMA.to_owned(),
            command: ["as", "u*.s"].map(str::to_owned).to_vec(),
            kernel: "First Edition Unix".to_owned(),
            processors: 1,
            memory_total_bytes: Bytes(32_768),
            capture: Capture { backend: "calls of bufaloc".to_owned(), ..Capture::default() },
            ..Facts::default()
        },
        ..Trace::default()
    };
    let file_bytes = [crate::bus::DRUM_BYTES as u64, crate::device::pack::PACK_BYTES];
    for (number, request) in (0..).zip(requests) {
        let device = usize::from(request.device != 0);
        let nanoseconds =
            u128::from(request.ticks) * 1_000_000_000 / u128::from(timing.second_ticks);
        trace.records.push(Record {
            time_ns: i64::try_from(nanoseconds).unwrap_or(i64::MAX),
            offset_bytes: u64::from(request.block) * 512,
            file_bytes: file_bytes[device],
            length_bytes: 512,
            file: FileId(u32::from(request.device != 0)),
            task: 1,
            request: number,
            op: if request.caller == Caller::Write { CacheEvent::Write } else { CacheEvent::Read },
        });
    }
    trace.facts.elapsed_ns = requests.last().map_or(0, |last| {
        u64::try_from(u128::from(last.ticks) * 1_000_000_000 / u128::from(timing.second_ticks))
            .unwrap_or(u64::MAX)
    });
    trace
}

#[cfg(test)]
mod tests {
    use nbuf::internal::clock::Random;

    use super::*;

    #[test]
    fn the_requests_become_a_trace_of_two_files_in_order() {
        let request = |ticks, device, block, caller| {
            let is_hit = false;
            BufferRequest { ticks, device, block, caller, is_hit }
        };
        let list = [
            request(5, 0, 3, Caller::Read),
            request(9, 1, 7, Caller::Write),
            request(9, 0, 3, Caller::Read),
        ];
        let trace = trace(&list, &Timing::hardware(60));
        let records: Vec<Record> = trace.records.iter().collect();
        let shown: Vec<_> = records.iter().map(|r| (r.time_ns, r.file.0, r.offset_bytes)).collect();
        assert_eq!(shown, [(500, 0, 1536), (900, 1, 3584), (900, 0, 1536)]);
        assert_eq!((records[1].op, records[1].length_bytes), (CacheEvent::Write, 512));
    }

    #[test]
    fn phases_are_others_for_every_sample_and_the_same_in_every_run() {
        let timing = Timing::hardware(60);
        let phases = |sample| {
            let timing = stages::phased(&timing, sample);
            (timing.clock_first_ticks, timing.drum.phase, timing.pack.phase)
        };
        assert_eq!(phases(0), (timing.clock_ticks, timing.drum.phase, timing.pack.phase));
        assert_ne!(phases(1), phases(2));
        assert_eq!(phases(7), phases(7));
        let below = Random::new(1).below(timing.clock_ticks);
        assert_eq!(phases(1).0, 1 + below);
    }
}
