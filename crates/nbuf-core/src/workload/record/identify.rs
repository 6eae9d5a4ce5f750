//! Names, devices and warnings of a finished trace.

use std::collections::{HashMap, HashSet};

use super::names::Key;
use super::sizes::KnownFile;
use crate::trace::Trace;

/// Gives every file a unique name and a device, and says what is not known.
pub(super) fn name_files(trace: &mut Trace, files: Vec<(Key, KnownFile)>) {
    let devices: Vec<u32> = files.iter().map(|((device, _), _)| *device).collect();
    let mut taken = HashSet::new();
    let mut unknown = 0;
    for ((device, inode), file) in files {
        let mut name = file.paths.into_iter().next().unwrap_or_else(|| {
            unknown += 1;
            format!("unknown inode {}:{}/{inode}", device >> 20, device & 0xf_ffff)
        });
        if !taken.insert(name.clone()) {
            // Deleted and made again, or renamed over: another file by the same name.
            name = format!("{name} (inode {inode})");
            taken.insert(name.clone());
        }
        trace.files.push(name);
    }
    if unknown > 0 {
        let warning = match unknown {
            1 => "1 file could not be named; it stands as `unknown inode`".to_owned(),
            n => format!("{n} files could not be named; they stand as `unknown inode`"),
        };
        trace.facts.warnings.push(warning);
    }
    place(trace, &devices);
}

/// Orders the devices by how often their files are asked for and notes the files that are not on the first.
fn place(trace: &mut Trace, files: &[u32]) {
    let mut count: HashMap<u32, u64> = files.iter().map(|device| (*device, 0)).collect();
    for record in trace.records.iter().filter(|record| record.op.is_demand()) {
        if let Some(count) = files.get(record.file.0 as usize).and_then(|d| count.get_mut(d)) {
            *count += 1;
        }
    }
    let number = |d: &crate::trace::Device| d.major << 20 | d.minor;
    let devices = &mut trace.facts.devices;
    devices.retain(|device| count.contains_key(&number(device)));
    devices.sort_by_key(|device| std::cmp::Reverse(count[&number(device)]));
    let rank: HashMap<u32, u32> = (0..).zip(devices.iter()).map(|(i, d)| (number(d), i)).collect();
    let elsewhere = trace.files.iter().zip(files).filter_map(|(name, device)| {
        rank.get(device).filter(|&&rank| rank > 0).map(|&rank| (name.clone(), rank))
    });
    trace.facts.file_devices = elsewhere.collect();
}
