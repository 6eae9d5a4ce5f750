//! The whole experiment: kernels built, installed, booted and timed, and what came of it in rows.

use std::ops::RangeInclusive;

use nbuf::units::Bytes;
use nbuf::workload::trace::{Capture, Facts, FileId, Op, Record, Trace};

use crate::timing::Timing;

use super::guest::Images;
use super::kernel::{Asked, Caller};
use super::result::{DiscOperations, Refused, ScanRow, SweepDocument, SweepRow, TimeSplit};
use super::stages::{self, Sample, StageError};

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Numbers of buffers, ascending.
    pub numbers: Vec<u16>,
    /// Assemblies for each.
    pub samples: u64,
    /// What things cost.
    pub timing: Timing,
}

/// Kernels that are built whatever is asked for: the requests depend on what lies in `/usr/sys`.
const ALL: RangeInclusive<u16> = 0..=7;

/// The most buffers with which the post assembled a kernel.
pub const BUFFERS_MAX: u16 = 12;

/// Seconds that the post of 2026 has for 1 to 6 buffers, on its author's machine under SIMH.
const POST_SECONDS: [f64; 6] = [3.215, 1.309, 1.004, 0.780, 0.734, 0.724];

/// What a run gives: the document, and the requests of the first kernel that booted.
pub struct Outcome {
    /// Rows.
    pub document: SweepDocument,
    /// Every call of the buffer allocator in the first sample of the first row.
    pub asked: Vec<Asked>,
}

/// Runs the plan. `step` hears what is done next and may end it with `false`; what is done by then
/// is given.
pub fn run(
    images: &Images,
    plan: &Plan,
    step: &mut dyn FnMut(&str) -> bool,
) -> Result<Outcome, StageError> {
    let timing = &plan.timing;
    let mut document = SweepDocument {
        schema: SweepDocument::SCHEMA.to_owned(),
        timing: timing.name.to_owned(),
        units_per_second: timing.second_ticks,
        samples: plan.samples.max(1),
        ..SweepDocument::default()
    };
    let mut outcome = Outcome { document: SweepDocument::default(), asked: Vec::new() };
    if !step("the guest assembles its kernels") {
        return Ok(Outcome { document, ..outcome });
    }
    let built = stages::build(images, ALL, &mut |_| ())?;
    // Larger ones lie on a pack of their own, where they change no request of the others.
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
                document.cautions.push(format!("ended before nbuf {nbuf} was done"));
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
        if outcome.asked.is_empty() {
            outcome.asked.clone_from(&samples[0].asked);
        }
        document.rows.push(row(nbuf, &samples, timing, &document.rows));
        if let Err(error) = &samples[0].buffers {
            document.cautions.push(format!("nbuf {nbuf}: {error}: only discs are counted"));
        }
    }
    outcome.document = document;
    Ok(outcome)
}

/// What is known of kernels that do not boot, and what the guest did.
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

/// The row of a kernel: its median sample, beside the rows before.
fn row(nbuf: u16, samples: &[Sample], timing: &Timing, before: &[SweepRow]) -> SweepRow {
    let mut by_time: Vec<&Sample> = samples.iter().collect();
    by_time.sort_by_key(|sample| sample.ticks);
    let sample = by_time[(by_time.len() - 1) / 2];
    let seconds = |ticks: u64| ticks as f64 / timing.second_ticks as f64;
    let hits = |wanted: &dyn Fn(Caller) -> bool| {
        sample.asked.iter().filter(|asked| asked.is_hit && wanted(asked.caller)).count() as u64
    };
    let is_write = |caller| caller == Caller::Write;
    let (all, write_hits) = (hits(&|_| true), hits(&is_write));
    let (requests, time) = (sample.asked.len() as u64, seconds(sample.ticks));
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
    // A disc's nanosecond is a part of a tick, whatever a tick is.
    let disc = |time: nbuf::units::Nanos| seconds(time.0) / timing.tick_ns as f64;
    let (drum, pack) = (&sample.drum.spent, &sample.pack.spent);
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

/// The assembly at other speeds of the pack's controller, under SIMH's timing: where the window of
/// the lost wakeup is.
pub fn scan(
    images: &Images,
    nbuf: u16,
    host_mips: u64,
    rk_units: &[u64],
    step: &mut dyn FnMut(&str) -> bool,
) -> Result<Vec<ScanRow>, StageError> {
    let mut rows = Vec::new();
    if !step("the guest assembles its kernels") {
        return Ok(rows);
    }
    let installed = stages::install(&stages::build(images, ALL, &mut |_| ())?, nbuf)?;
    for &units in rk_units {
        if !step(&format!("rk-time {units}")) {
            break;
        }
        let timing = Timing::simh(host_mips, units);
        let sample = stages::assemble(&installed, nbuf, &timing)?;
        let seconds = sample.ticks as f64 / timing.second_ticks as f64;
        let lost_wakeups = sample.buffers.is_ok().then_some(sample.lost_wakeups);
        rows.push(ScanRow { rk_units: units, seconds, lost_wakeups });
    }
    Ok(rows)
}

/// The requests as a recorded workload: two files, the drum and the pack, in pages of 512 bytes.
pub fn trace(asked: &[Asked], timing: &Timing) -> Trace {
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
    for (request, asked) in (0..).zip(asked) {
        let device = usize::from(asked.device != 0);
        let nanoseconds = u128::from(asked.ticks) * 1_000_000_000 / u128::from(timing.second_ticks);
        trace.records.push(Record {
            time_ns: i64::try_from(nanoseconds).unwrap_or(i64::MAX),
            offset_bytes: u64::from(asked.block) * 512,
            file_bytes: file_bytes[device],
            length_bytes: 512,
            file: FileId(u32::from(asked.device != 0)),
            task: 1,
            request,
            op: if asked.caller == Caller::Write { Op::Write } else { Op::Read },
        });
    }
    trace.facts.elapsed_ns = asked.last().map_or(0, |last| {
        u64::try_from(u128::from(last.ticks) * 1_000_000_000 / u128::from(timing.second_ticks))
            .unwrap_or(u64::MAX)
    });
    trace
}

#[cfg(test)]
mod tests {
    use nbuf::clock::Random;

    use super::*;

    #[test]
    fn the_requests_become_a_trace_of_two_files_in_order() {
        let asked =
            |ticks, device, block, caller| Asked { ticks, device, block, caller, is_hit: false };
        let list = [
            asked(5, 0, 3, Caller::Read),
            asked(9, 1, 7, Caller::Write),
            asked(9, 0, 3, Caller::Read),
        ];
        let trace = trace(&list, &Timing::hardware(60));
        let records: Vec<Record> = trace.records.iter().collect();
        let shown: Vec<_> = records.iter().map(|r| (r.time_ns, r.file.0, r.offset_bytes)).collect();
        assert_eq!(shown, [(500, 0, 1536), (900, 1, 3584), (900, 0, 1536)]);
        assert_eq!((records[1].op, records[1].length_bytes), (Op::Write, 512));
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
