//! The process that is measured: one mechanism in one placement, and nothing else.
//!
//! It reads a [`PingTask`] and writes a [`PingSaid`] a line. Whatever it does not come back from, its
//! parent ends; when the parent dies, the kernel does.

use std::io::{self, Read, Write};
use std::time::Duration;

use super::super::result::{PingSaid, PingSample, PingTask};
use super::contention::{foreign_ns, is_clean};
use crate::clock::Stopwatch;
use crate::meter::probe::turns::Turns;
use crate::path::wake::{Placement, Row, Setting, Waits, Wake};
use crate::sys::process;

/// What a batch is to take, where its mechanism is neither too slow nor too fast for that.
const BATCH: Duration = Duration::from_millis(2);
/// Sleep before each batch, so that the threads begin with a time slice of their own.
const REST: Duration = Duration::from_millis(1);
/// Round trips after that rest, before the clock starts.
const AGAIN: u64 = 4;
/// Batches between two writings: who reads them does so while we rest.
const TOGETHER: usize = 20;
/// What is measured even when the time is up.
const SAMPLES_LEAST: u64 = 20;

/// Does what `input` asks for with the mechanisms of a table, and tells it to `output`. An error is
/// one of reading or writing: everything else is told.
pub fn serve(table: &[Row], mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut text = String::new();
    input.read_to_string(&mut text)?;
    let task: PingTask = serde_json::from_str(&text)?;
    if !process::die_with(task.parent)? {
        return Ok(());
    }
    let said = match measure(table, &task, &mut output) {
        Ok(()) => PingSaid::Done,
        Err(Trouble::Said(said)) => said,
        Err(Trouble::Unheard(error)) => return Err(error),
    };
    tell(&mut output, &[said])
}

/// Why there are no more samples.
enum Trouble {
    Said(PingSaid),
    Unheard(io::Error),
}

fn failed(error: &io::Error) -> Trouble {
    Trouble::Said(PingSaid::Failed(error.to_string()))
}

/// The end of a thread that our own waits for.
fn end(error: &io::Error) -> ! {
    let said = PingSaid::Failed(error.to_string());
    // Nobody is left to be told that nobody listens.
    let _ = tell(&mut io::stdout().lock(), &[said]);
    std::process::exit(1)
}

fn measure(table: &[Row], task: &PingTask, output: &mut impl Write) -> Result<(), Trouble> {
    let unknown = || failed(&io::Error::other("no such mechanism or placement"));
    let row = Row::named(table, &task.mechanism).ok_or_else(unknown)?;
    let placement = Placement::named(&task.placement).ok_or_else(unknown)?;
    let setting = Setting { placement, processors: &task.processors, failed: end };
    let refused = |error: io::Error| Trouble::Said(PingSaid::Refused(error.to_string()));
    let mut wake = (row.open)(&setting).map_err(refused)?;
    let rounds = warm_up(row, wake.as_mut()).map_err(|error| failed(&error))?;
    let began = Stopwatch::start();
    let (mut samples, mut clean, mut told) = (0, 0, Vec::new());
    loop {
        let late = began.elapsed() > Duration::from_millis(task.time_max_ms);
        let enough = clean >= task.samples_min || (late && samples >= SAMPLES_LEAST);
        if enough || samples >= task.samples_max {
            break;
        }
        let sample = sample(row, wake.as_mut(), rounds).map_err(|error| failed(&error))?;
        samples += 1;
        clean += u64::from(is_clean(sample.elapsed_ns, sample.foreign_ns));
        told.push(PingSaid::Sample(sample));
        if told.len() == TOGETHER {
            tell(output, &std::mem::take(&mut told)).map_err(Trouble::Unheard)?;
        }
    }
    tell(output, &told).map_err(Trouble::Unheard)?;
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

/// One batch, with what else happened meanwhile.
fn sample(row: &Row, wake: &mut dyn Wake, rounds: u64) -> io::Result<PingSample> {
    std::thread::sleep(REST);
    wake.run(AGAIN)?;
    let before = turns(wake)?;
    let watch = Stopwatch::start();
    let tally = wake.run(rounds)?;
    let elapsed_ns = u64::try_from(watch.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let after = turns(wake)?;
    let had: Vec<(Option<usize>, Turns)> = wake
        .members()
        .iter()
        .zip(before.iter().zip(&after))
        .map(|(member, (before, after))| (member.processor, after.since(before)))
        .collect();
    Ok(PingSample {
        rounds: tally.rounds,
        elapsed_ns,
        foreign_ns: foreign_ns(elapsed_ns, &had, row.waits == Waits::Spinning),
        involuntary: had.iter().map(|(_, turns)| turns.involuntary).sum(),
        sleeps: had.iter().map(|(_, turns)| turns.voluntary).sum(),
        sends: tally.sends,
        wakes: tally.wakes,
    })
}

fn turns(wake: &dyn Wake) -> io::Result<Vec<Turns>> {
    wake.members().iter().map(|member| member.thread.read()).collect()
}

/// Writes all of it at once.
fn tell(output: &mut impl Write, said: &[PingSaid]) -> io::Result<()> {
    let mut lines = Vec::new();
    for said in said {
        serde_json::to_writer(&mut lines, said)?;
        lines.push(b'\n');
    }
    output.write_all(&lines)?;
    output.flush()
}
