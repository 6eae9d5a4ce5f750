//! From sums to the meters of each process, thread or file.

use super::meters::named;
use super::seconds;
use crate::experiment::result::{RunBy, RunMetersBy, RunMetersOf, RunSampleMeter};
use crate::meter::activity::{By, Key, Kind, Sums};
use crate::workload::observe::Keys;

pub(super) fn keys(by: RunBy) -> By {
    match by {
        RunBy::Process => By::Process,
        RunBy::Thread => By::Thread,
        RunBy::File => By::File,
    }
}

/// The figures of the document.
pub(super) fn by(keys: &Keys) -> RunMetersBy {
    let by = match keys.keyed.by {
        By::Process => RunBy::Process,
        By::Thread => RunBy::Thread,
        By::File => RunBy::File,
    };
    let mut each: Vec<RunMetersOf> = keys.each().map(|(key, sums)| one(keys, key, sums)).collect();
    each.sort_by(|a, b| b.total_seconds.total_cmp(&a.total_seconds));
    RunMetersBy { by, each, others: meters(&keys.keyed.others) }
}

fn one(keys: &Keys, key: Key, sums: &Sums) -> RunMetersOf {
    let (number, device) = match key {
        Key::Task(number) => (Some(number.into()), None),
        Key::File(file) => {
            (Some(file.inode), Some(format!("{}:{}", file.device >> 20, file.device & 0xf_ffff)))
        }
        Key::NoFile => (None, None),
    };
    // What is a part of another kind is in it already.
    let is_whole = |kind: &Kind| {
        matches!(kind, Kind::MajorFault | Kind::MinorFault | Kind::Interrupt | Kind::Call(_))
    };
    let whole = sums.iter().filter(|(kind, _)| is_whole(kind));
    RunMetersOf {
        name: keys.name(key),
        number,
        device,
        total_seconds: seconds(whole.map(|(_, sum)| sum.total_ns).sum()),
        meters: meters(sums),
    }
}

fn meters(sums: &Sums) -> Vec<RunSampleMeter> {
    sums.iter()
        .map(|(&kind, sum)| {
            let (name, step_of) = named(kind);
            RunSampleMeter {
                name,
                step_of: step_of.map(str::to_owned),
                is_call: matches!(kind, Kind::Call(_)),
                count: sum.count,
                total_seconds: seconds(sum.total_ns),
            }
        })
        .collect()
}
