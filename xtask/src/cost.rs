//! What recording costs: processor time of a command by itself and under `nbuf record`, in turn.
//!
//! Time is the time of the whole process tree, user and system, from `/proc/self/stat` (hundredths of
//! a second), so the command should run for a second and more. Elapsed time is not looked at.

use std::ffi::OsString;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs the comparison `runs` times and gives its table.
pub fn table(nbuf: &str, runs: usize, command: &[OsString]) -> Result<String> {
    let (program, arguments) = command.split_first().context("no command to measure")?;
    let folder = std::env::temp_dir().join(format!("nbuf-cost-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let mut bare = Vec::new();
    let mut recorded = Vec::new();
    let mut measure = || -> Result<()> {
        // The first pair warms the caches and is not counted.
        for run in 0..=runs {
            let mut alone = Command::new(program);
            alone.args(arguments);
            let trace = folder.join(format!("{run}.parquet"));
            let mut watched = Command::new(nbuf);
            watched.args(["record", "-q", "-o"]).arg(&trace).arg("--").args(command);
            let pair = (ticks_of(&mut alone)?, ticks_of(&mut watched)?);
            if run > 0 {
                bare.push(pair.0);
                recorded.push(pair.1);
            }
        }
        Ok(())
    };
    let measured = measure();
    fs::remove_dir_all(&folder)?;
    measured?;
    let ratio = |index: usize| recorded[index] as f64 / bare[index].max(1) as f64;
    let mut ratios: Vec<f64> = (0..bare.len()).map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let seconds = |ticks: &[u64]| ticks.iter().copied().min().unwrap_or(0) as f64 / 100.0;
    let least = seconds(&recorded) / seconds(&bare).max(0.01);
    Ok(format!(
        "{} runs in turn      bare   recorded   ratio\nleast CPU seconds {:>8.2} {:>10.2} {least:>7.2}\n\
         median of ratios {:>28.2}\n",
        bare.len(),
        seconds(&bare),
        seconds(&recorded),
        ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN),
    ))
}

/// Runs a command with its output discarded and gives the ticks that it and its children took.
fn ticks_of(command: &mut Command) -> Result<u64> {
    let before = children_ticks()?;
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = quiet.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(children_ticks()? - before)
}

/// Fields 16 and 17: user and system time of the children waited for.
fn children_ticks() -> Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = stat.rsplit_once(") ").context("/proc/self/stat")?;
    let mut fields = rest.split(' ').skip(13).map(str::parse::<u64>);
    match (fields.next(), fields.next()) {
        (Some(Ok(user)), Some(Ok(system))) => Ok(user + system),
        _ => bail!("/proc/self/stat has no times"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_command_that_works_takes_time() {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
        assert!(super::ticks_of(&mut command).unwrap() > 0);
        assert!(super::ticks_of(&mut std::process::Command::new("false")).is_err());
    }
}
