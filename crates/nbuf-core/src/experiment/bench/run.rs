//! A whole run: rows, then the floor and the comparisons, then the lines. A signal ends it: the document
//! has what was measured by then.

use std::path::Path;
use std::time::Duration;

use super::child::QUIET_WAIT;
use super::compare::had_company;
use super::comparisons::Comparison;
use super::measure::{Bench, Deadline};
use super::plan::Plan;
use super::spec::{self, Spec};
use super::table::Test;
use super::test_files::{self, Prepared};
use super::{Error, MEASURING, history, model, pair};
use crate::clock::{self, Stopwatch};
use crate::experiment::notice::{Notice, PathNotice};
use crate::experiment::result::{
    BenchComparison, BenchDocument, BenchMachine, BenchRow, NoiseFloor, Refused,
};
use crate::experiment::session::Session;
use crate::experiment::statistics::{Finding, Floor, Verdict};
use crate::experiment::warning::{BenchWarning, Warning};
use crate::meter::probe::ceiling;
use crate::meter::probe::contention::Contention;
use crate::meter::probe::machine::{Load, Surroundings};
use crate::meter::probe::sibling;
use crate::units::Bytes;

/// Measures what the spec names. A signal ends it early, which is no error: the document says that it is
/// not complete. The observer gets each sample. Ranges are wider by what earlier runs gave, which the session's spool
/// has; a complete run is kept there.
///
/// The processes of the tests are this program again, with the argument [`CHILD`](super::CHILD), unless
/// [`Session::start`] has another way.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<BenchDocument, Error> {
    let lent = spec.file.as_deref().map(spec::lent).transpose()?;
    let plan = spec.plan(lent.as_ref(), session)?;
    let cost = plan.cost(sibling::share_alone(QUIET_WAIT));
    session.observer.notice(&Notice::Path(PathNotice::BenchBegins {
        seconds: cost.seconds,
        seconds_max: cost.seconds_max,
        written: cost.written,
        files: cost.files,
        directory: (!plan.is_lent).then_some(plan.directory.as_path()),
    }));
    session.cancellation.listen().map_err(Error::Signals)?;
    let measured = measure(&plan, cost.files, lent, session);
    session.observer.stage_over();
    let mut document = measured?;
    history::file::consult(spec, &mut document, session);
    Ok(document)
}

/// Measures what is planned. A file that is lent is read by tests that read.
fn measure(
    plan: &Plan,
    files: Bytes,
    lent: Option<Prepared>,
    session: &Session<'_>,
) -> Result<BenchDocument, Error> {
    let clock = Stopwatch::start();
    let started = clock::unix_time().unwrap_or(Duration::ZERO).as_secs();
    let before = Load::now();
    test_files::sweep(&plan.directory);
    if test_files::room(&plan.directory)? < files {
        return Err(Error::Full { directory: plan.directory.clone(), size: files });
    }
    let mut document = BenchDocument {
        schema: BenchDocument::SCHEMA.to_owned(),
        machine: machine(&plan.directory, lent.as_ref(), before)?,
        ..BenchDocument::default()
    };
    let copy_rate = document.machine.copy_bytes_per_second;
    let mut bench = Bench::new(session, plan.directory.clone(), copy_rate);
    bench.cache_bytes = document.machine.cache_bytes;
    bench.lent = lent;
    bench.slowdown_percent = plan.slowdown_percent;
    bench.deadline = plan.time_max.map(|most| Deadline { clock, most });
    let (mut done, steps) = (0, plan.steps());
    let mut step = |_: &str| {
        session.observer.progress(MEASURING, done, steps);
        done += 1;
    };
    let ended = rows(plan, &mut bench, &mut document, &mut step)
        .and_then(|()| comparisons(plan, &mut bench, &mut document, &mut step))
        .and_then(|()| models(plan, &mut bench, &mut document, &mut step));
    match ended {
        Ok(()) => document.is_complete = true,
        Err(Error::Interrupted) => {
            document.warnings.push(Warning::Bench(BenchWarning::Interrupted));
        }
        Err(Error::Late) => {
            document.not_reached = plan.missing(&document);
            let names = document.not_reached.clone();
            document.warnings.push(Warning::Bench(BenchWarning::NotReached { names }));
        }
        Err(error) => return Err(error),
    }
    document.reference = std::mem::take(&mut bench.reference);
    document.machine.started_unix_seconds = started;
    document.machine.stolen_percent = Load::now().stolen_percent_since(&before);
    document.machine.seconds = clock.elapsed().as_secs_f64();
    warnings(&mut document);
    Ok(document)
}

/// The machine, and the file system of what is measured.
fn machine(directory: &Path, lent: Option<&Prepared>, load: Load) -> Result<BenchMachine, Error> {
    let unusable = |cause| Error::of_directory(directory, 0, cause);
    let here = match lent {
        Some(lent) => Surroundings::of(lent.file()),
        None => Surroundings::of(&std::fs::File::open(directory).map_err(unusable)?),
    };
    Ok(BenchMachine {
        kernel: here.kernel,
        processor: here.processor,
        processors: here.processors,
        memory_bytes: here.memory_bytes,
        cache_bytes: here.cache_bytes,
        filesystem: here.filesystem,
        readahead_bytes: here.readahead_bytes,
        scheduler: here.scheduler,
        copy_bytes_per_second: ceiling::copy_rate(),
        processor_pressure_percent: load.processor_pressure_percent,
        disc_pressure_percent: load.disc_pressure_percent,
        ..BenchMachine::default()
    })
}

type Step<'a> = &'a mut dyn FnMut(&str);

fn rows(
    plan: &Plan,
    bench: &mut Bench<'_>,
    document: &mut BenchDocument,
    step: Step<'_>,
) -> Result<(), Error> {
    let (found, ended) = bench.rows(&plan.tests, &plan.effort, step);
    for row in found {
        match row.and_then(steady) {
            Ok(row) => document.rows.push(row),
            Err(refused) => document.refused.push(refused),
        }
    }
    ended
}

/// A rate whose range spans more than this many times is none.
const UNSTEADY: f64 = 2.4;

/// The row, or why it has no number.
fn steady(row: BenchRow) -> Result<BenchRow, Refused> {
    if row.high <= UNSTEADY * row.low {
        return Ok(row);
    }
    let least = row.process_rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = row.process_rates.iter().copied().fold(0.0, f64::max);
    let reason = format!(
        "too unsteady for a number: {} processes measured {least:.1e} to {most:.1e} bytes/s",
        row.process_rates.len()
    );
    Err(Refused { test: row.test, reason, is_contradiction: false })
}

fn comparisons(
    plan: &Plan,
    bench: &mut Bench<'_>,
    document: &mut BenchDocument,
    step: Step<'_>,
) -> Result<(), Error> {
    for (needs_device, design) in [(false, &plan.memory), (true, &plan.device)] {
        let pairs: Vec<&Comparison> =
            plan.comparisons.iter().filter(|pair| pair.needs_device() == needs_device).collect();
        if !plan.needs_floor(needs_device) {
            continue;
        }
        let same = plan.floor_tests(needs_device);
        let floor = pair::floor(bench, &same, design, &mut || step("noise floor"))?;
        let Some((floor, design)) = floor else {
            document.warnings.push(Warning::Bench(BenchWarning::NoFloor));
            continue;
        };
        let shown = told(&floor, &same);
        if needs_device {
            document.noise_floor_device = Some(shown);
        } else {
            document.noise_floor = Some(shown);
        }
        for pair in pairs {
            step(pair.question);
            match pair::compare(bench, &pair.a, &pair.b, &design)? {
                Ok(ratio) => {
                    document.comparisons.push(answer(pair, ratio.judge(floor.magnitude)));
                }
                Err(reason) => document.refused.push(Refused {
                    test: pair.name(),
                    reason,
                    is_contradiction: false,
                }),
            }
        }
    }
    Ok(())
}

/// The floor as it is reported.
fn told(floor: &Floor, same: &[Test]) -> NoiseFloor {
    NoiseFloor {
        percent: floor.percent(),
        typical_percent: floor.typical.exp_m1() * 100.0,
        worst_percent: floor.worst.exp_m1() * 100.0,
        comparisons: floor.comparisons,
        pairs: floor.pairs,
        tests: same.iter().map(|test| test.name.clone()).collect(),
    }
}

fn answer(pair: &Comparison, finding: Finding) -> BenchComparison {
    BenchComparison {
        question: pair.question.to_owned(),
        pattern: pair.b.shape(),
        a: pair.a.label(),
        b: pair.b.label(),
        ratio: finding.ratio.middle,
        low: finding.ratio.low,
        high: finding.ratio.high,
        pairs: finding.ratio.pairs,
        verdict: verdict(finding.verdict).to_owned(),
    }
}

/// What is said of B.
const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::More => "faster",
        Verdict::Less => "slower",
        Verdict::NoneSeen => "no difference seen",
        Verdict::Unsure => "unsure",
    }
}

fn models(
    plan: &Plan,
    bench: &mut Bench<'_>,
    document: &mut BenchDocument,
    step: Step<'_>,
) -> Result<(), Error> {
    for &subject in &plan.models {
        step("model");
        match model::line(bench, subject, plan.model_bytes)? {
            Ok(model) => document.models.push(model),
            Err(refused) => document.refused.push(refused),
        }
    }
    Ok(())
}

/// What must be said of the whole.
fn warnings(document: &mut BenchDocument) {
    let machine = &document.machine;
    let cache_bytes = Bytes(machine.cache_bytes);
    let reading = Contention::of_thread().read();
    let has_no_waits = reading.is_ok_and(|reading| reading.run_delay_ns.is_none());
    let largest = document.rows.iter().map(|row| row.size_bytes).max().unwrap_or(0);
    let is_in_cache = largest > 0 && largest <= machine.cache_bytes;
    let percent = machine.stolen_percent;
    let found = [
        has_no_waits.then_some(BenchWarning::NoWaits),
        is_in_cache.then_some(BenchWarning::FilesInCache { cache_bytes }),
        (percent > 1.0).then_some(BenchWarning::Stolen { percent }),
        had_company(&document.reference.loops).then_some(BenchWarning::SharedCore),
    ];
    document.warnings.extend(found.into_iter().flatten().map(Warning::Bench));
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::measure::Effort;
    use super::super::pair::Design;
    use super::super::{comparisons, table};
    use super::*;
    use crate::experiment::result::State;

    #[test]
    fn a_rate_that_spans_too_much_is_no_number() {
        let row = |low: f64, high: f64| BenchRow {
            test: "w01-syncbyte".to_owned(),
            low,
            high,
            process_rates: vec![low, high],
            ..BenchRow::default()
        };
        assert_eq!(steady(row(1000.0, 2400.0)), Ok(row(1000.0, 2400.0)));
        // Synchronous writes once had 450 in a run and 4,900 in the next.
        let refused = steady(row(450.0, 4900.0)).unwrap_err();
        let want = "too unsteady for a number: 2 processes measured 4.5e2 to 4.9e3 bytes/s";
        assert_eq!((refused.test.as_str(), refused.reason.as_str()), ("w01-syncbyte", want));
        assert!(!refused.is_contradiction);
    }

    #[test]
    fn what_the_time_does_not_suffice_for_is_named() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let plan = Plan {
            directory: directory.path().to_owned(),
            is_lent: false,
            tests: table::course()[9..11].to_vec(),
            effort: Effort::QUICK,
            has_floor: true,
            comparisons: comparisons::all(Some(4096))[..1].to_vec(),
            memory: Design::MEMORY,
            device: Design::DEVICE,
            models: vec![("read", false, State::Hot)],
            model_bytes: 4096,
            time_max: Some(Duration::ZERO),
            slowdown_percent: 0.0,
        };
        // No process is to be started.
        let start = |_: &str| Ok(Command::new("/nowhere/at/all"));
        let session = Session { start: Some(&start), ..Session::new(&()) };
        let document = measure(&plan, plan.cost(1.0).files, None, &session).unwrap();
        assert!(!document.is_complete && document.rows.is_empty());
        let want = ["r01-byte", "r02-block", &plan.comparisons[0].name(), "model read hot"];
        assert_eq!(document.not_reached, want);
        let names = document.not_reached.clone();
        let late = Warning::Bench(BenchWarning::NotReached { names });
        assert_eq!(document.warnings[0], late);
        assert!(late.to_string().contains("r02-block; "), "{late}");
    }
}
