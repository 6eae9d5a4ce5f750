//! A volume of many accesses, split by time and by hash, against the curve of one pass.
//!
//! By time every size must have the misses of one pass, to the last one. By hash the misses of one pass must be in
//! the printed band at every size that is shown.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::process;

/// Distinct keys for each twenty accesses.
const ACCESSES_PER_KEY: u64 = 20;
/// The splits; the first one is one pass.
const SPLITS: [&str; 3] = ["none", "time:8", "hash:16"];

/// Checks a volume of this many accesses, in a new folder that is removed after it. A line for each split.
pub fn check(nbuf: &Path, accesses: u64) -> Result<String> {
    let folder = std::env::temp_dir().join(format!("nbuf-giant-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let checked = check_in(nbuf, accesses, &folder);
    let removed = fs::remove_dir_all(&folder);
    let checked = checked?;
    removed?;
    Ok(checked)
}

fn check_in(nbuf: &Path, accesses: u64, folder: &Path) -> Result<String> {
    let nbuf = nbuf.canonicalize().with_context(|| format!("no {}", nbuf.display()))?;
    let run = |arguments: &str| {
        let mut command = Command::new(&nbuf);
        command.current_dir(folder).arg("-q").args(arguments.split(' '));
        process::output(&mut command)
    };
    let keys = (accesses / ACCESSES_PER_KEY).max(1);
    run(&format!("trace generate zipf -n {accesses} --keys {keys} -o giant.bin"))?;
    let mut text = String::new();
    let mut checksum = Value::Null;
    for split in SPLITS {
        let out = split.replace(':', "-");
        let fleet = run(&format!("fleet giant.bin --out {out} --split {split} --json"))?;
        let fleet: Value = serde_json::from_slice(&fleet)?;
        let points = fleet["volumes"][0]["points"].as_array().context("no points")?.clone();
        let sizes: Vec<String> = points.iter().map(|point| point["pages"].to_string()).collect();
        let curve =
            run(&format!("curve --policy lru --json --size {} giant.bin", sizes.join(",")))?;
        let curve: Value = serde_json::from_slice(&curve)?;
        let exact = curve["curves"][0]["points"].as_array().context("no curve")?.clone();
        ensure!(exact.len() == points.len(), "{split}: {} sizes of {}", exact.len(), points.len());
        let mut widest = 0.0_f64;
        for (point, exact) in points.iter().zip(&exact) {
            let misses = exact["misses"].as_u64().context("no misses")?;
            let [low, got, high] =
                ["misses_low", "misses", "misses_high"].map(|name| point[name].as_u64());
            let is_in =
                low.is_some_and(|low| low <= misses) && high.is_some_and(|high| misses <= high);
            ensure!(
                is_in,
                "{split}: one pass misses {misses}, which is not in the band of {point}"
            );
            ensure!(
                split.starts_with("hash") || got == Some(misses),
                "{split}: {misses} is not {point}"
            );
            let off = got.unwrap_or_default().abs_diff(misses) as f64;
            widest = widest.max(off / accesses.max(1) as f64);
        }
        if split == SPLITS[0] {
            checksum = fleet["checksum"].clone();
        }
        let is_exact = !split.starts_with("hash");
        ensure!(!is_exact || fleet["checksum"] == checksum, "{split}: another checksum");
        let what = if is_exact {
            "equal to one pass".to_owned()
        } else {
            format!("one pass is in the band, at most {:.3} % of the accesses away", 100.0 * widest)
        };
        let _ = writeln!(text, "{split:8} {} sizes: {what}", points.len());
    }
    Ok(text)
}
