//! The process that is measured: one mechanism in one placement, and nothing else.
//!
//! It reads a [`PingTask`] and writes a line for each sample. Whatever it does not come back from, its
//! parent ends; when the parent dies, the kernel does.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::time::Duration;

use super::super::child::{self, Line};
use super::super::result::{PingSample, PingTask};
use super::contention::{Seen, is_clean};
use crate::clock::Stopwatch;
use crate::meter::probe::idle::Idle;
use crate::meter::probe::turns::Turns;
use crate::path::wake::{Placement, Row, Setting, Waits, Wake};
use crate::sys::process;

/// What a batch is to take, where its mechanism is neither too slow nor too fast for that.
const BATCH: Duration = Duration::from_millis(2);
/// Sleep before each batch, so that the threads begin with a time slice of their own.
const REST: Duration = Duration::from_millis(1);
/// Sleep after batches that others disturbed, doubled each time up to this: who is busy now may be
/// done then.
const REST_MAX: Duration = Duration::from_millis(32);
/// Round trips after that rest, before the clock starts.
const AGAIN: u64 = 4;
/// Batches between two writings: who reads them does so while we rest.
const TOGETHER: usize = 20;
/// Time after which what there is is written: who waits for it must not think that we hang.
const SILENCE: Duration = Duration::from_secs(1);
/// What is measured even when the time is up.
const SAMPLES_LEAST: u64 = 20;

/// Runs the task that it reads from `input`, with the mechanisms of a table, and writes the results
/// to `output`. Returns an error only if reading or writing fails; all other errors are written to
/// `output`.
pub fn serve(table: &[Row], input: impl Read, mut output: impl Write) -> io::Result<()> {
    let task: PingTask = child::task(input)?;
    if !process::die_with(task.parent)? {
        return Ok(());
    }
    let said = match measure(table, &task, &mut output) {
        Ok(()) => Line::Done,
        Err(Trouble::Said(said)) => said,
        Err(Trouble::Unheard(error)) => return Err(error),
    };
    child::write(&mut output, &[said])
}

/// Why there are no more samples.
enum Trouble {
    Said(Line<PingSample>),
    Unheard(io::Error),
}

fn failed(error: &io::Error) -> Trouble {
    Trouble::Said(Line::Failed(error.to_string()))
}

/// The end of a thread that our own waits for.
fn end(error: &io::Error) -> ! {
    let said = Line::<PingSample>::Failed(error.to_string());
    // If this write fails too, no process is left that could receive the error.
    let _ = child::write(&mut io::stdout().lock(), &[said]);
    std::process::exit(1)
}

fn measure(table: &[Row], task: &PingTask, output: &mut impl Write) -> Result<(), Trouble> {
    let unknown = || failed(&io::Error::other("no such mechanism or placement"));
    let row = Row::named(table, &task.mechanism).ok_or_else(unknown)?;
    let placement = Placement::named(&task.placement).ok_or_else(unknown)?;
    let setting = Setting { placement, processors: &task.processors, failed: end };
    let refused = |error: io::Error| Trouble::Said(Line::Refused(error.to_string()));
    let mut wake = (row.open)(&setting).map_err(refused)?;
    let idle = Idle::of(&task.processors);
    let rounds = warm_up(row, wake.as_mut()).map_err(|error| failed(&error))?;
    let began = Stopwatch::start();
    let mut silent = Stopwatch::start();
    let (mut samples, mut clean, mut told) = (0, 0, Vec::new());
    let (mut rest, mut is_told) = (REST, true);
    loop {
        let has_had = |ms| began.elapsed() > Duration::from_millis(ms);
        let is_late = has_had(task.time_max_ms);
        // Where the kernel does not tell which samples are clean, to wait for them is in vain.
        let waits = is_told
            && clean < task.clean_min
            && !has_had(task.time_max_ms.saturating_add(task.patience_ms));
        let is_enough = (is_late && samples >= SAMPLES_LEAST) || samples >= task.samples_max;
        if clean >= task.samples_min || (is_enough && !waits) {
            break;
        }
        std::thread::sleep(rest);
        let sample =
            sample(row, wake.as_mut(), rounds, idle.as_ref()).map_err(|error| failed(&error))?;
        samples += 1;
        is_told = sample.foreign_ns.is_some();
        let is_clean = is_clean(sample.elapsed_ns, sample.foreign_ns);
        clean += u64::from(is_clean);
        rest = if is_clean || !is_told { REST } else { (rest * 2).min(REST_MAX) };
        told.push(Line::Sample(sample));
        if told.len() == TOGETHER || silent.elapsed() > SILENCE {
            child::write(output, &std::mem::take(&mut told)).map_err(Trouble::Unheard)?;
            silent = Stopwatch::start();
        }
    }
    child::write(output, &told).map_err(Trouble::Unheard)?;
    wake.finish().map_err(|error| failed(&error))
}

/// Finds out how many rounds make a batch.
fn warm_up(row: &Row, wake: &mut dyn Wake) -> io::Result<u64> {
    let (least, most) = (*row.rounds.start(), *row.rounds.end());
    wake.run(least)?;
    let watch = Stopwatch::start();
    wake.run(least)?;
    let round_ns = (watch.elapsed().as_nanos() / u128::from(least)).max(1);
    let rounds = u64::try_from(BATCH.as_nanos() / round_ns).unwrap_or(most);
    Ok(rounds.clamp(least, most))
}

/// What threads and processors had up to a moment.
struct Moment {
    idle_ns: Option<Vec<(usize, u64)>>,
    turns: Vec<Turns>,
}

impl Moment {
    /// Just before a batch: what we ran is asked for last, because asking is running.
    fn before(wake: &dyn Wake, idle: Option<&Idle>) -> io::Result<Self> {
        let mut moment = Self::now(wake, idle)?;
        for (turns, ran_ns) in moment.turns.iter_mut().zip(ran_ns(wake)?) {
            turns.ran_ns = ran_ns;
        }
        Ok(moment)
    }

    /// Just after it: what we ran is asked for first.
    fn after(wake: &dyn Wake, idle: Option<&Idle>) -> io::Result<Self> {
        let all_ran_ns = ran_ns(wake)?;
        let mut moment = Self::now(wake, idle)?;
        for (turns, ran_ns) in moment.turns.iter_mut().zip(all_ran_ns) {
            turns.ran_ns = ran_ns;
        }
        Ok(moment)
    }

    fn now(wake: &dyn Wake, idle: Option<&Idle>) -> io::Result<Self> {
        let idle_ns = idle.map(Idle::read).transpose()?;
        let turns = wake.members().iter().map(|member| member.thread.read());
        Ok(Self { turns: turns.collect::<io::Result<_>>()?, idle_ns })
    }

    /// Idle time between two moments. A processor tells what it slept when it wakes: of all but the
    /// first, which asks, the time between the asking and the batch is taken off.
    fn idle_ns_since(&self, before: &Self, gap_ns: u64) -> Option<BTreeMap<usize, u64>> {
        let both = before.idle_ns.iter().flatten().zip(self.idle_ns.as_ref()?).enumerate();
        let idle = both.map(|(at, (&(processor, then), &(_, now)))| {
            let gap_ns = if at == 0 { 0 } else { gap_ns };
            (processor, now.saturating_sub(then).saturating_sub(gap_ns))
        });
        Some(idle.collect())
    }
}

fn ran_ns(wake: &dyn Wake) -> io::Result<Vec<u64>> {
    wake.members().iter().map(|member| member.thread.ran_ns()).collect()
}

/// One batch, with what else happened meanwhile.
fn sample(
    row: &Row,
    wake: &mut dyn Wake,
    rounds: u64,
    idle: Option<&Idle>,
) -> io::Result<PingSample> {
    wake.run(AGAIN)?;
    let gap = Stopwatch::start();
    let before = Moment::before(wake, idle)?;
    let gap_ns = nanoseconds(gap);
    let watch = Stopwatch::start();
    let tally = wake.run(rounds)?;
    let elapsed_ns = nanoseconds(watch);
    let after = Moment::after(wake, idle)?;
    let had: Vec<(Option<usize>, Turns)> = wake
        .members()
        .iter()
        .zip(before.turns.iter().zip(&after.turns))
        .map(|(member, (before, after))| (member.processor, after.since(before)))
        .collect();
    let idle_ns = after.idle_ns_since(&before, gap_ns);
    let never_sleep = row.waits == Waits::Spinning;
    let seen = Seen { elapsed_ns, threads: &had, idle_ns: idle_ns.as_ref(), never_sleep };
    Ok(PingSample {
        rounds: tally.rounds,
        elapsed_ns,
        foreign_ns: seen.foreign_ns(),
        idle_ns: idle_ns.map(|idle| idle.values().sum()),
        involuntary: had.iter().map(|(_, turns)| turns.involuntary).sum(),
        sleeps: had.iter().map(|(_, turns)| turns.voluntary).sum(),
        sends: tally.sends,
        wakes: tally.wakes,
    })
}

fn nanoseconds(watch: Stopwatch) -> u64 {
    u64::try_from(watch.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
