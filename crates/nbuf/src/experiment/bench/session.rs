//! A whole run: rows, then the floor and the comparisons, then the lines; what is done when
//! somebody presses Ctrl-C is what is told.

use std::path::Path;
use std::time::Duration;

use super::measure::{Bench, Deadline};
use super::pair;
use super::place::{self, Prepared};
use super::plan::Plan;
use super::table::Test;
use super::versus::Versus;
use super::watch::Watch;
use super::{Error, model};
use crate::clock::{self, Stopwatch};
use crate::experiment::result::{
    BenchComparison, BenchDocument, BenchMachine, BenchRow, BenchSampleLine, NoiseFloor, Refused,
};
use crate::experiment::statistics::{Finding, Floor, Verdict};
use crate::meter::probe::ceiling;
use crate::meter::probe::contention::Contention;
use crate::meter::probe::machine::{Load, Surroundings};
use crate::units::Bytes;

/// Who hears of a run while it goes.
pub trait Listener {
    /// A step begins.
    fn step(&mut self, done: usize, what: &str);
    /// A sample was taken.
    fn sample(&mut self, line: &BenchSampleLine);
}

/// Measures. An interruption is no error: the document says that it is not complete.
///
/// A file that is lent is read by tests that read.
pub fn run(
    plan: &Plan,
    lent: Option<Prepared>,
    watch: &Watch,
    listener: &mut dyn Listener,
) -> Result<BenchDocument, Error> {
    let clock = Stopwatch::start();
    let started = clock::unix_time().unwrap_or(Duration::ZERO).as_secs();
    let before = Load::now();
    let price = plan.price();
    place::sweep(&plan.directory);
    if place::room(&plan.directory)? < price.files {
        return Err(Error::Full { directory: plan.directory.clone(), size: price.files });
    }
    let mut document = BenchDocument {
        schema: BenchDocument::SCHEMA.to_owned(),
        machine: machine(&plan.directory, before)?,
        ..BenchDocument::default()
    };
    let copy_rate = document.machine.copy_bytes_per_second;
    let mut done = 0;
    // The samples and the steps go to one listener, each at its time.
    let shared = std::cell::RefCell::new(listener);
    let mut tell = |line: &BenchSampleLine| shared.borrow_mut().sample(line);
    let mut bench = Bench::new(watch, plan.directory.clone(), copy_rate, &mut tell);
    bench.lent = lent;
    bench.slowdown_percent = plan.slowdown_percent;
    bench.deadline = plan.time_max.map(|most| Deadline { clock, most });
    let mut step = |what: &str| {
        shared.borrow_mut().step(done, what);
        done += 1;
    };
    let ended = rows(plan, &mut bench, &mut document, &mut step)
        .and_then(|()| comparisons(plan, &mut bench, &mut document, &mut step))
        .and_then(|()| models(plan, &mut bench, &mut document, &mut step));
    match ended {
        Ok(()) => document.is_complete = true,
        Err(Error::Interrupted) => {
            document.cautions.push("interrupted: only what was measured before is here".to_owned());
        }
        Err(Error::Late) => {
            document.not_reached = plan.missing(&document);
            document.cautions.push(format!(
                "not reached in the time that was given: {}",
                document.not_reached.join("; ")
            ));
        }
        Err(error) => return Err(error),
    }
    document.machine.started_unix_seconds = started;
    document.machine.stolen_percent = Load::now().stolen_percent_since(&before);
    document.machine.seconds = clock.elapsed().as_secs_f64();
    cautions(&mut document);
    Ok(document)
}

fn machine(directory: &Path, load: Load) -> Result<BenchMachine, Error> {
    let unusable = |cause| Error::of_directory(directory, 0, cause);
    let here = Surroundings::of(&std::fs::File::open(directory).map_err(unusable)?);
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
        match row {
            Ok(row) if row.high > UNSTEADY * row.low => document.refused.push(unsteady(&row)),
            Ok(row) => document.rows.push(row),
            Err(refused) => document.refused.push(refused),
        }
    }
    ended
}

/// A rate whose range spans more than this many times is none.
const UNSTEADY: f64 = 2.0;

fn unsteady(row: &BenchRow) -> Refused {
    let reason = format!(
        "it is too unsteady for a number: {} processes say {:.1e} to {:.1e} bytes/s",
        row.processes, row.low, row.high
    );
    Refused { test: row.test.clone(), reason, is_contradiction: false }
}

fn comparisons(
    plan: &Plan,
    bench: &mut Bench<'_>,
    document: &mut BenchDocument,
    step: Step<'_>,
) -> Result<(), Error> {
    for (needs_device, design) in [(false, &plan.memory), (true, &plan.device)] {
        let versus: Vec<&Versus> =
            plan.versus.iter().filter(|versus| versus.needs_device() == needs_device).collect();
        if !plan.needs_floor(needs_device) {
            continue;
        }
        let same = plan.floor_tests(needs_device);
        let floor = pair::floor(bench, &same, design, &mut || step("noise floor"))?;
        let Some((floor, design)) = floor else {
            document.cautions.push("no noise floor could be measured: nothing is compared".into());
            continue;
        };
        let shown = told(&floor, &same);
        if needs_device {
            document.noise_floor_device = Some(shown);
        } else {
            document.noise_floor = Some(shown);
        }
        for versus in versus {
            step(versus.question);
            match pair::compare(bench, &versus.a, &versus.b, &design)? {
                Ok(ratio) => {
                    document.comparisons.push(answer(versus, ratio.judge(floor.magnitude)));
                }
                Err(reason) => document.refused.push(Refused {
                    test: versus.name(),
                    reason,
                    is_contradiction: false,
                }),
            }
        }
    }
    Ok(())
}

/// The floor as it is told.
pub fn told(floor: &Floor, same: &[Test]) -> NoiseFloor {
    NoiseFloor {
        percent: floor.percent(),
        typical_percent: floor.typical.exp_m1() * 100.0,
        worst_percent: floor.worst.exp_m1() * 100.0,
        comparisons: floor.comparisons,
        pairs: floor.pairs,
        tests: same.iter().map(|test| test.name.clone()).collect(),
    }
}

fn answer(versus: &Versus, finding: Finding) -> BenchComparison {
    BenchComparison {
        question: versus.question.to_owned(),
        pattern: versus.b.shape(),
        a: versus.a.label(),
        b: versus.b.label(),
        ratio: finding.ratio.middle,
        low: finding.ratio.low,
        high: finding.ratio.high,
        pairs: finding.ratio.pairs,
        verdict: verdict(finding.verdict).to_owned(),
    }
}

/// What is said of B.
pub const fn verdict(verdict: Verdict) -> &'static str {
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
fn cautions(document: &mut BenchDocument) {
    let machine = &document.machine;
    let reading = Contention::of_thread().read();
    if reading.is_ok_and(|reading| reading.run_delay_ns.is_none()) {
        document.cautions.push(
            "this kernel does not tell how long a thread waits for a processor (schedstat): of no sample \
             is it known whether it was clean"
                .to_owned(),
        );
    }
    let largest = document.rows.iter().map(|row| row.size_bytes).max().unwrap_or(0);
    if largest > 0 && largest <= machine.cache_bytes {
        document.cautions.push(format!(
            "the files fit into the processor's cache of {}: rates above that of memory are its",
            Bytes(machine.cache_bytes)
        ));
    }
    if machine.stolen_percent > 1.0 {
        document.cautions.push(format!(
            "a hypervisor took {:.1} % of the time, which no sample can see",
            machine.stolen_percent
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Effort;
    use super::super::pair::Design;
    use super::super::{table, versus};
    use super::*;
    use crate::experiment::result::State;

    struct Deaf;

    impl Listener for Deaf {
        fn step(&mut self, _: usize, _: &str) {}
        fn sample(&mut self, _: &BenchSampleLine) {}
    }

    #[test]
    fn what_the_time_does_not_suffice_for_is_named() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let plan = Plan {
            directory: directory.path().to_owned(),
            tests: table::course()[9..11].to_vec(),
            effort: Effort::QUICK,
            has_floor: true,
            versus: versus::all(Some(4096))[..1].to_vec(),
            memory: Design::MEMORY,
            device: Design::DEVICE,
            models: vec![("read", false, State::Hot)],
            model_bytes: 4096,
            time_max: Some(Duration::ZERO),
            slowdown_percent: 0.0,
        };
        // Nobody is to be started.
        let watch = Watch { program: "/nowhere/at/all".into(), verb: "", signals: None };
        let document = run(&plan, None, &watch, &mut Deaf).unwrap();
        assert!(!document.is_complete && document.rows.is_empty());
        let want = ["r01-byte", "r02-block", &plan.versus[0].name(), "model read hot"];
        assert_eq!(document.not_reached, want);
        assert!(document.cautions[0].contains("r02-block; "), "{:?}", document.cautions);
    }
}
