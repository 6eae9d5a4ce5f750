//! From counts of addresses to segments, functions and stacks with names.

use std::collections::{BTreeMap, BTreeSet};

use super::super::result::{
    RunFunction, RunProfile, RunProfileFile, RunSegment, RunSegmentKind, RunStack,
};
use super::super::warning::RunWarning;
use super::generated::{self, Begun};
use super::symbols;
use crate::meter::profile::{Counted, Frame, Object, Tally};
use crate::workload::observe::profile::Profiled;

/// Names by frame, and why an object has none.
#[derive(Default)]
struct Names {
    /// Innermost first.
    functions: BTreeMap<Frame, Vec<String>>,
    unnamed: BTreeMap<u32, String>,
}

/// The document; nothing where nothing was seen.
pub(super) fn profile(profiled: &Profiled, user: u32) -> Option<RunProfile> {
    let counted = profiled.counted.as_ref()?;
    let begun = Begun { unix_seconds: profiled.began_unix_seconds, user };
    let names = names(counted, begun);
    let sample_seconds = profiled.period_ns as f64 / 1e9;
    let filled = |tally: Tally| profiled.has_fills.then_some(tally.fills);
    let mut files: Vec<RunProfileFile> = counted
        .by_data
        .iter()
        .map(|(&object, &tally)| RunProfileFile {
            name: data_name(&counted.objects[object as usize]),
            faults_minor: tally.minor,
            faults_major: tally.major,
            fills: filled(tally),
        })
        .collect();
    files.sort_by_key(|file| {
        std::cmp::Reverse((file.faults_major, file.faults_minor + file.fills.unwrap_or(0)))
    });
    let mut segments = segments(counted, &names, sample_seconds);
    for (&object, &tally) in &counted.by_code {
        let segment = segments.entry(object).or_insert_with(|| segment(counted, object));
        segment.faults_minor = tally.minor;
        segment.faults_major = tally.major;
        segment.fills = Some(tally.fills);
    }
    let mut segments: Vec<RunSegment> = segments.into_values().collect();
    for segment in &mut segments {
        segment.fills = profiled.has_fills.then_some(segment.fills.unwrap_or(0));
    }
    segments
        .sort_by_key(|one| std::cmp::Reverse((one.samples, one.faults_major, one.faults_minor)));
    Some(RunProfile {
        sample_seconds,
        samples: counted.samples,
        has_kernel: profiled.no_kernel.is_none(),
        has_fills: profiled.has_fills,
        lost: profiled.lost,
        segments,
        files,
        stacks: stacks(counted, &names),
    })
}

/// What is missing from the profile, and why.
pub(super) fn notes(profiled: &Profiled) -> Vec<RunWarning> {
    let mut notes = Vec::new();
    match (&profiled.nothing, &profiled.no_kernel) {
        (Some(reason), _) => notes.push(RunWarning::NoProfile { reason: reason.clone() }),
        (None, Some(reason)) => {
            notes.push(RunWarning::ProfileWithoutKernel { reason: reason.clone() });
        }
        (None, None) => {}
    }
    if profiled.lost > 0 {
        notes.push(RunWarning::ProfileLost { records: profiled.lost });
    }
    if profiled.throttled > 0 {
        notes.push(RunWarning::ProfileThrottled { times: profiled.throttled });
    }
    let samples = profiled.counted.as_ref().map_or(0, |counted| counted.cut);
    if samples > 0 {
        notes.push(RunWarning::StacksCut { samples });
    }
    notes
}

fn names(counted: &Counted, begun: Begun) -> Names {
    let mut wanted: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for frame in counted.stacks.iter().flat_map(|(_, frames, _)| frames) {
        wanted.entry(frame.object).or_default().insert(frame.offset);
    }
    let mut names = Names::default();
    for (object, offsets) in wanted {
        let offsets: Vec<u64> = offsets.into_iter().collect();
        let found = match &counted.objects[object as usize] {
            Object::Kernel => symbols::of_kernel(&offsets)
                .into_iter()
                .map(|name| vec![name.unwrap_or_else(|| "kernel".to_owned())])
                .collect(),
            Object::File { path, inode, .. } => {
                match symbols::of_file(path, *inode, begun.unix_seconds, &offsets) {
                    Ok(found) => found,
                    Err(reason) => {
                        names.unnamed.insert(object, reason);
                        continue;
                    }
                }
            }
            Object::Generated { process } => {
                match generated::functions(*process, begun, &offsets) {
                    Ok(found) => found,
                    Err(reason) => {
                        names.unnamed.insert(object, reason);
                        vec![vec!["[generated code]".to_owned()]; offsets.len()]
                    }
                }
            }
            other => vec![vec![format!("[{}]", code_name(other))]; offsets.len()],
        };
        for (offset, found) in offsets.into_iter().zip(found) {
            if !found.is_empty() {
                names.functions.insert(Frame { object, offset }, found);
            }
        }
    }
    names
}

impl Names {
    /// Innermost first; at least one.
    fn of(&self, counted: &Counted, frame: Frame) -> Vec<String> {
        self.functions.get(&frame).cloned().unwrap_or_else(|| {
            let name = code_name(&counted.objects[frame.object as usize]);
            let file = name.rsplit('/').next().unwrap_or_default();
            vec![format!("{file}+{:#x}", frame.offset)]
        })
    }
}

fn segments(counted: &Counted, names: &Names, sample_seconds: f64) -> BTreeMap<u32, RunSegment> {
    let mut all: BTreeMap<u32, RunSegment> = BTreeMap::new();
    let mut functions: BTreeMap<u32, BTreeMap<String, u64>> = BTreeMap::new();
    for (_, frames, samples) in &counted.stacks {
        let Some(&leaf) = frames.first() else { continue };
        let segment = all.entry(leaf.object).or_insert_with(|| segment(counted, leaf.object));
        segment.samples += samples;
        let name = names.of(counted, leaf).into_iter().next().unwrap_or_default();
        *functions.entry(leaf.object).or_default().entry(name).or_default() += samples;
    }
    for (object, segment) in &mut all {
        segment.cpu_seconds = segment.samples as f64 * sample_seconds;
        segment.unnamed = names.unnamed.get(object).cloned();
        let functions = functions.remove(object).unwrap_or_default();
        segment.functions = functions
            .into_iter()
            .map(|(name, samples)| RunFunction {
                name,
                samples,
                cpu_seconds: samples as f64 * sample_seconds,
            })
            .collect();
        segment.functions.sort_by_key(|function| std::cmp::Reverse(function.samples));
    }
    all
}

fn segment(counted: &Counted, object: u32) -> RunSegment {
    let what = &counted.objects[object as usize];
    let kind = match what {
        Object::Kernel => RunSegmentKind::Kernel,
        Object::Anonymous | Object::Generated { .. } => RunSegmentKind::Anonymous,
        Object::File { .. } if counted.programs[object as usize] => RunSegmentKind::Program,
        Object::File { .. } | Object::Made(_) => RunSegmentKind::Library,
        Object::Inode { .. } | Object::Unknown => RunSegmentKind::Unknown,
    };
    RunSegment { name: code_name(what), kind, ..RunSegment::default() }
}

fn stacks(counted: &Counted, names: &Names) -> Vec<RunStack> {
    let mut all: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for (thread, frames, samples) in &counted.stacks {
        let mut stack = vec![plain(if thread.is_empty() { "?" } else { thread })];
        for &frame in frames.iter().rev() {
            let in_kernel = counted.objects[frame.object as usize] == Object::Kernel;
            let found = names.of(counted, frame);
            let outermost = found.len() - 1;
            for (depth, name) in found.into_iter().enumerate().rev() {
                let mark = match () {
                    () if in_kernel => "_[k]",
                    () if depth < outermost => "_[i]",
                    () => "",
                };
                stack.push(plain(&name) + mark);
            }
        }
        *all.entry(stack).or_default() += samples;
    }
    all.into_iter().map(|(frames, samples)| RunStack { frames, samples }).collect()
}

/// What separates names in folded stacks is in none.
fn plain(name: &str) -> String {
    name.replace(';', ":").replace(char::is_control, " ")
}

fn code_name(object: &Object) -> String {
    match object {
        Object::Kernel => "kernel".to_owned(),
        Object::Anonymous => "generated code".to_owned(),
        Object::Generated { process } => format!("generated code of process {process}"),
        Object::Made(name) => name.trim_matches(['[', ']']).to_owned(),
        Object::File { path, .. } => path.clone(),
        Object::Inode { .. } => data_name(object),
        Object::Unknown => "unknown".to_owned(),
    }
}

fn data_name(object: &Object) -> String {
    match object {
        Object::Anonymous => "memory without a file".to_owned(),
        Object::Inode { device, inode } => {
            format!("inode {inode} of device {}:{}, never mapped", device >> 20, device & 0xf_ffff)
        }
        Object::Unknown => "memory that no mapping was seen for".to_owned(),
        other => code_name(other),
    }
}
