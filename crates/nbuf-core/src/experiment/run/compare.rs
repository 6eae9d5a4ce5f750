//! Two documents of `nbuf run` side by side: which command is faster, and what makes the difference.
//!
//! A typical run of a side is the mean of its runs in the middle half by real time. All figures are of
//! the same runs, so that the parts of real time add up to it, and their shares of the difference to 1.
//! [`judge`] decides what is larger than noise. Not for documents of different machines: a document does
//! not say which machine it is of.
//!
//! ```
//! use nbuf::experiment::result::{RunDocument, RunVerdict};
//! use nbuf::experiment::run::compare;
//!
//! let once = RunDocument { real_seconds: 1.0, ..RunDocument::default() };
//! let found = compare(&once, &once, false).unwrap();
//! assert_eq!(found.verdict, RunVerdict::NotJudged);
//! ```

mod figures;
mod judge;
mod others;

use super::CompareError;
use crate::experiment::compare::Which;
use crate::experiment::result::{
    Difference, RunComparison, RunDocument, RunMoved, RunPartMoved, RunSample, RunSide, RunUnit,
    RunVerdict, Warning,
};
use crate::experiment::statistics::Spread;
use crate::experiment::warning::RunWarning;
use figures::{Figure, figures};
use judge::{Judged, Pair, judge};
use others::{may_be_of_others, others};

/// Two documents of one program may differ in real time by this part, although the runs of each do not:
/// as `nbuf bench --compare` has it for what needs no disc (`docs/performance.md`).
const FLOOR_TIME: f64 = 0.04;
/// The same for counts and bytes: where the kernel places a program changes a few of them.
const FLOOR_COUNT: f64 = 0.01;
/// A smaller part of the real time is not looked at: the clocks of the kernel differ by as much.
const PART_MIN: f64 = 0.005;

/// The same for the most memory: a process begins as a copy of nbuf.
const FLOOR_BYTES: f64 = (1 << 20) as f64;
/// Compares. Refuses what would not be a comparison of one command, unless it `is_forced`: then the
/// reasons are among the warnings.
pub fn compare(
    a: &RunDocument,
    b: &RunDocument,
    is_forced: bool,
) -> Result<RunComparison, CompareError> {
    let mut warnings = Vec::new();
    for refusal in refusals(a, b) {
        if !is_forced {
            return Err(refusal);
        }
        warnings.push(Warning::Run(refusal.warning()));
    }
    let (runs_a, runs_b) = (a.samples(), b.samples());
    let sides = [Side::of(&runs_a), Side::of(&runs_b)];
    let real = Figure {
        name: String::new(),
        unit: RunUnit::Seconds,
        a: sides[0].all(|run| run.real_seconds),
        b: sides[1].all(|run| run.real_seconds),
    };
    let pair = sides_pair(&sides, &real, 0.0);
    let judged = judge(std::slice::from_ref(&pair))[0];
    let typical = sides[0].typical(&real.a);
    let part = |seconds: f64| (typical > 0.0).then(|| seconds / typical);
    let end = |end: f64| end.is_finite().then(|| part(end)).flatten().map(|part| 1.0 + part);
    let (parts, moved) = rows(&sides, pair.apart);
    warnings.extend(notes(a, b, parts.is_empty()));
    Ok(RunComparison {
        schema: RunComparison::SCHEMA.to_owned(),
        verdict: match verdict(&judged) {
            RunVerdict::Slower | RunVerdict::Faster if may_be_of_others([a, b], &sides) => {
                RunVerdict::Unsure
            }
            verdict => verdict,
        },
        a: sides[0].shown(a),
        b: sides[1].shown(b),
        difference_seconds: pair.apart,
        ratio: part(pair.apart).map(|part| 1.0 + part),
        ratio_low: end(judged.low),
        ratio_high: end(judged.high),
        noise: judged.noise.and_then(part),
        parts,
        moved,
        warnings,
    })
}

fn verdict(judged: &Judged) -> RunVerdict {
    match judged.difference {
        Difference::More => RunVerdict::Slower,
        Difference::Less => RunVerdict::Faster,
        Difference::NotJudged => RunVerdict::NotJudged,
        Difference::NotSeen if judged.is_unsure => RunVerdict::Unsure,
        Difference::NotSeen => RunVerdict::NotSeen,
    }
}

/// What makes two documents not comparable.
fn refusals(a: &RunDocument, b: &RunDocument) -> Vec<CompareError> {
    let words = |of: &RunDocument| of.command.join(" ");
    let mut found = Vec::new();
    if a.command != b.command {
        found.push(CompareError::Commands { a: words(a), b: words(b) });
    }
    if a.exit_status != b.exit_status {
        found.push(CompareError::Status { a: a.exit_status, b: b.exit_status });
    }
    for (what, of) in OPTIONS {
        if of(a) != of(b) {
            let with = if of(a) { Which::A } else { Which::B };
            found.push(CompareError::Options { what, with });
        }
    }
    found
}

/// Whether a document was made with an option.
type With = fn(&RunDocument) -> bool;

/// Options that make a command slower.
const OPTIONS: [(&str, With); 3] = [
    ("--meters", |of| of.samples().iter().any(|run| run.meters.is_some())),
    ("--profile", |of| of.profile.is_some()),
    ("--per-line", |of| of.per_line.is_some()),
];

fn notes(a: &RunDocument, b: &RunDocument, has_no_parts: bool) -> Vec<Warning> {
    let sides = [(Which::A, a), (Which::B, b)];
    let parts = has_no_parts.then_some(RunWarning::PartsMissing);
    let busy = sides
        .iter()
        .filter_map(|&(which, of)| others(of).map(|share| RunWarning::OthersBusy { which, share }));
    let own = sides.iter().flat_map(|&(which, of)| {
        let note =
            move |note: &Warning| RunWarning::OfDocument { which, note: Box::new(note.clone()) };
        of.notes.iter().map(note)
    });
    parts.into_iter().chain(busy).chain(own).map(Warning::Run).collect()
}

/// The runs of a side.
struct Side<'a> {
    runs: &'a [RunSample],
    /// Places of those in the middle.
    middle: Vec<usize>,
}

impl<'a> Side<'a> {
    fn of(runs: &'a [RunSample]) -> Self {
        let mut middle: Vec<usize> = (0..runs.len()).collect();
        middle.sort_by(|&x, &y| runs[x].real_seconds.total_cmp(&runs[y].real_seconds));
        let cut = (runs.len() + 1) / 4;
        // One or two runs are all in the middle.
        let middle = middle[cut..runs.len() - cut].to_vec();
        Self { runs, middle }
    }

    fn all(&self, of: impl Fn(&RunSample) -> f64) -> Vec<f64> {
        self.runs.iter().map(of).collect()
    }

    /// The mean of the runs in the middle.
    fn typical(&self, values: &[f64]) -> f64 {
        let sum: f64 = self.middle.iter().map(|&at| values[at]).sum();
        sum / self.middle.len().max(1) as f64
    }

    fn shown(&self, of: &RunDocument) -> RunSide {
        let real = self.all(|run| run.real_seconds);
        let spread = Spread::of(real.iter().copied());
        RunSide {
            command: of.command.clone(),
            exit_status: of.exit_status,
            runs: self.runs.len() as u64,
            real_seconds: self.typical(&real),
            real_seconds_low: spread.map_or(0.0, |of| of.low),
            real_seconds_high: spread.map_or(0.0, |of| of.high),
        }
    }
}

/// The pair of a figure, with a floor of at least `least`.
fn sides_pair(sides: &[Side<'_>; 2], figure: &Figure, least: f64) -> Pair {
    let (a, b) = (sides[0].typical(&figure.a), sides[1].typical(&figure.b));
    let floor = if figure.unit == RunUnit::Seconds { FLOOR_TIME } else { FLOOR_COUNT };
    Pair {
        a: figure.a.clone(),
        b: figure.b.clone(),
        apart: b - a,
        floor: (floor * a.max(b)).max(least),
    }
}

/// The parts of real time, and all figures that differ, both in order. They are judged together.
fn rows(sides: &[Side<'_>; 2], difference: f64) -> (Vec<RunPartMoved>, Vec<RunMoved>) {
    let real = sides[0].typical(&sides[0].all(|run| run.real_seconds));
    let parts = part_figures(sides);
    let split = parts.len();
    let all: Vec<Figure> = parts.into_iter().chain(figures(sides[0].runs, sides[1].runs)).collect();
    let least = |unit| match unit {
        RunUnit::Seconds => PART_MIN * real,
        RunUnit::Bytes => FLOOR_BYTES,
        RunUnit::Count => 0.0,
    };
    let pairs: Vec<Pair> =
        all.iter().map(|figure| sides_pair(sides, figure, least(figure.unit))).collect();
    let judged = judge(&pairs);
    let share = |apart: f64| (difference != 0.0).then(|| apart / difference);
    let (mut parts, mut moved) = (Vec::new(), Vec::new());
    for (at, ((figure, pair), judged)) in all.iter().zip(&pairs).zip(&judged).enumerate() {
        let (a, b) = (sides[0].typical(&figure.a), sides[1].typical(&figure.b));
        let difference = judged.difference;
        if at < split {
            parts.push(RunPartMoved {
                part: figure.name.clone(),
                a_seconds: a,
                b_seconds: b,
                difference_seconds: pair.apart,
                share: share(pair.apart),
                difference,
            });
        } else if is_shown(pair, difference) {
            let share = if figure.unit == RunUnit::Seconds { share(pair.apart) } else { None };
            let (name, unit) = (figure.name.clone(), figure.unit);
            moved.push(RunMoved { name, unit, a, b, share, difference });
        }
    }
    parts.sort_by(|x, y| y.difference_seconds.abs().total_cmp(&x.difference_seconds.abs()));
    // Times first, by what they differ by; then others, by their ratio.
    moved.sort_by(|x, y| order(y).0.cmp(&order(x).0).then(order(y).1.total_cmp(&order(x).1)));
    (parts, moved)
}

fn is_shown(pair: &Pair, difference: Difference) -> bool {
    match difference {
        Difference::More | Difference::Less => true,
        Difference::NotSeen => false,
        Difference::NotJudged => pair.apart.abs() > pair.floor,
    }
}

fn order(row: &RunMoved) -> (bool, f64) {
    let apart = (row.b - row.a).abs();
    match row.unit {
        RunUnit::Seconds => (true, apart),
        _ => (false, apart / row.a.min(row.b).max(1.0)),
    }
}

/// The parts of real time, if each run of both sides has them.
fn part_figures(sides: &[Side<'_>; 2]) -> Vec<Figure> {
    let has_parts = |side: &Side<'_>| side.runs.iter().all(|run| run.real_time.is_some());
    if !sides.iter().all(has_parts) {
        return Vec::new();
    }
    let named = crate::experiment::result::RunParts::default().named();
    let values = |side: &Side<'_>, at: usize| {
        side.all(|run| run.real_time.map_or(0.0, |parts| parts.named()[at].1))
    };
    named
        .iter()
        .enumerate()
        .map(|(at, (name, _))| Figure {
            name: (*name).to_owned(),
            unit: RunUnit::Seconds,
            a: values(&sides[0], at),
            b: values(&sides[1], at),
        })
        .collect()
}

#[cfg(test)]
mod tests;
