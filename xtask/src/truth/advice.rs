//! Whether advice holds: the whole job is done in each way, on a file of the stated size.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::patterns::{LISTED, drawn};

/// Patterns that the seed draws.
const DRAWN: usize = 30;
/// The advised way may be this much slower than now.
const SLOWER: f64 = 1.1;
/// What the job gains may differ from what was stated by this factor.
const OFF: f64 = 1.5;
/// Another way may be this much faster than the advised one, by the lower end of its range.
const BETTER: f64 = 1.2;
/// A gain below this is not worth advice.
const GAIN: f64 = 1.1;

/// What came of a pattern.
#[derive(Clone, Debug, PartialEq)]
struct Trial {
    pattern: String,
    /// The advised way and the factor that was stated for it.
    advised: Option<(String, f64)>,
    /// How many times faster its job was; 1 where nothing was advised.
    checked: f64,
    /// The way whose job was fastest, how many times faster than now, and the highest lower end of all.
    best: (String, f64),
    best_low: f64,
}

impl Trial {
    fn is_slower(&self) -> bool {
        self.checked * SLOWER < 1.0
    }

    fn is_as_stated(&self) -> bool {
        let stated = self.advised.as_ref().map_or(1.0, |(_, stated)| *stated);
        (stated / self.checked).max(self.checked / stated) <= OFF
    }

    fn is_near_best(&self) -> bool {
        self.best_low <= self.checked * BETTER
    }

    /// Advice that gains nothing.
    fn is_in_vain(&self) -> bool {
        self.advised.is_some() && self.checked < GAIN
    }

    fn verdict(&self) -> String {
        let faults = [
            (self.is_slower(), "slower than now"),
            (self.is_in_vain(), "gains less than a tenth"),
            (!self.is_as_stated(), "not as stated"),
            (!self.is_near_best(), "another way is faster"),
        ];
        let faults: Vec<&str> =
            faults.into_iter().filter_map(|(is_so, what)| is_so.then_some(what)).collect();
        if faults.is_empty() { "holds".to_owned() } else { faults.join(", ") }
    }
}

/// A summary and a row for each pattern, as Markdown.
pub fn table(nbuf: &Path, seed: u64) -> Result<String> {
    let mut trials = Vec::new();
    for pattern in LISTED.iter().map(ToString::to_string).chain(drawn(seed, DRAWN)) {
        let trial = trial(nbuf, &pattern)?;
        // Half an hour is long: what is known so far is shown.
        write!(std::io::stderr(), "{}", row(&trial))?;
        trials.push(trial);
    }
    Ok(written(&trials, seed))
}

fn written(trials: &[Trial], seed: u64) -> String {
    let count = |of: fn(&Trial) -> bool| trials.iter().filter(|trial| of(trial)).count();
    let all = trials.len();
    let mut text = "| trial | wanted | found |\n|---|---|---|\n".to_owned();
    for (trial, wanted, found) in [
        (
            "the advised way is over a tenth slower than now",
            "0".to_owned(),
            count(Trial::is_slower),
        ),
        (
            "within 1.5 times of the stated factor, and no way firmly more than 20 % faster",
            format!("{} of {all}", all * 9 / 10),
            count(|trial| trial.is_as_stated() && trial.is_near_best()),
        ),
        ("advice that gains less than a tenth", "0".to_owned(), count(Trial::is_in_vain)),
    ] {
        let _ = writeln!(text, "| {trial} | {wanted} | {found} of {all} |");
    }
    let _ = write!(
        text,
        "\nThe first thirty patterns are listed, the others drawn by seed {seed}.\n\n\
         | pattern | advised | stated | done | fastest job | verdict |\n|---|---|---|---|---|---|\n"
    );
    text.extend(trials.iter().map(row));
    text
}

fn row(trial: &Trial) -> String {
    let (advised, stated) = match &trial.advised {
        Some((way, stated)) => (way.as_str(), format!("{stated:.2}")),
        None => ("none", String::new()),
    };
    let done =
        if trial.advised.is_some() { format!("{:.2}", trial.checked) } else { String::new() };
    let (best, ratio) = &trial.best;
    let (pattern, verdict) = (&trial.pattern, trial.verdict());
    format!("| {pattern} | {advised} | {stated} | {done} | {best}: {ratio:.2} | {verdict} |\n")
}

fn trial(nbuf: &Path, pattern: &str) -> Result<Trial> {
    let mut command = Command::new(nbuf);
    command.args(["-q", "bench", "advise", "--check", "--json", "--pattern", pattern]);
    let output = command.output()?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    read(pattern, &serde_json::from_slice(&output.stdout)?)
        .with_context(|| format!("the document of `{pattern}` is not whole"))
}

fn read(pattern: &str, document: &Value) -> Option<Trial> {
    let way = |way: &Value| {
        let name = format!("{}, {} B", way["path"].as_str()?, way["block_bytes"].as_u64()?);
        Some((name, way["ratio"].as_f64()?))
    };
    let checked: Vec<(String, f64)> =
        document["check"]["ways"].as_array()?.iter().map(way).collect::<Option<_>>()?;
    let place = document["advised"].as_u64().and_then(|place| usize::try_from(place).ok());
    let advised = match place {
        Some(place) => Some(way(&document["ways"][place])?),
        None => None,
    };
    let low = |way: &Value| way["low"].as_f64();
    let lows: Vec<f64> =
        document["check"]["ways"].as_array()?.iter().map(low).collect::<Option<_>>()?;
    let of = |name: &str| checked.iter().find(|(other, _)| other == name).map(|(_, ratio)| *ratio);
    let now = ("now".to_owned(), 1.0);
    let best = checked.iter().chain([&now]).max_by(|a, b| a.1.total_cmp(&b.1))?.clone();
    Some(Trial {
        pattern: pattern.to_owned(),
        checked: match &advised {
            Some((name, _)) => of(name)?,
            None => 1.0,
        },
        advised,
        best,
        best_low: lows.into_iter().fold(1.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_compared_with_the_job_and_with_the_best() {
        let check = |is_advised: bool, stated: f64, mmap: f64, pread: f64, want: &str| {
            let way = |path: &str, ratio: f64| serde_json::json!({"path": path, "block_bytes": 4096, "ratio": ratio, "low": ratio});
            let document = serde_json::json!({
                "advised": is_advised.then_some(0),
                "ways": [way("mmap", stated)],
                "check": {"ways": [way("pread", pread), way("mmap", mmap)]},
            });
            let trial = read("4KiB", &document).unwrap();
            assert_eq!(trial.verdict(), want, "{trial:?}");
        };
        check(true, 2.0, 2.1, 1.0, "holds");
        check(true, 2.0, 1.2, 1.0, "not as stated");
        check(true, 2.0, 2.0, 2.5, "another way is faster");
        check(true, 1.2, 1.0, 1.0, "gains less than a tenth");
        check(true, 1.2, 0.85, 1.0, "slower than now, gains less than a tenth");
        check(false, 1.05, 1.15, 1.0, "holds");
        check(false, 1.05, 1.3, 1.0, "another way is faster");
    }
}
