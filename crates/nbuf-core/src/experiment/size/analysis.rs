//! A recorded workload becomes a curve, a recommendation, predictions, and, with the runs, a report.

use super::curve::draw;
use crate::cache::kernel::Stream;
use crate::experiment::cliff::{Cliff, cliffs, sides};
use crate::experiment::files::{At, Files};
use crate::experiment::for_target::Targeting;
use crate::experiment::predict::{Overhead, Prediction, UNLIMITED, predict};
use crate::experiment::readahead::windows;
use crate::experiment::recommend::{RecommendError, recommend};
use crate::experiment::result::{
    Advice, Curve, MAPPED_SHARE_MAX, Meter, ReadaheadPoint, Recommend, SharedFile, SizeReport,
    TargetReport, TimePoint, Traffic, Verified,
};
use crate::experiment::survey::Survey;
use crate::experiment::target::Target;
use crate::experiment::time::{Rate, Timing};
use crate::experiment::warning::Warning;
use crate::experiment::warnings::{
    memory_short, recorded, sizing_themselves, unreachable, warnings_of,
};
use crate::meter::residency::Residency;
use crate::meter::service::Sample;
use crate::trace::{Detour, Facts, Memory, Trace, Uncached};
use crate::units::{Bytes, PAGE_BYTES, Size, whole};

/// Above this share of writes the report says what is not predicted of them.
pub const WRITTEN_SHARE_MAX: f64 = 0.05;

/// What may be asked of an analysis.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Recommend from a lower bound too.
    pub force: bool,
    /// Recommend what meets this instead of the knee.
    pub target: Option<Target>,
    /// Another readahead window to tell about.
    pub readahead: Option<Bytes>,
    /// Reads of its files just now, to estimate time by what they took; none if there are none.
    pub probed: Vec<Sample>,
    /// The rate that the runs to come are held to.
    pub rate: Rate,
}

/// A workload, understood.
#[derive(Debug)]
pub struct Analysis {
    /// The facts of the recording.
    pub facts: Facts,
    /// The workload in pages.
    pub stream: Stream,
    /// Memory other than the cache; its kernel part is the one at the recommended size.
    pub memory: Memory,
    /// Memory other than file pages that counts against a limit.
    pub overhead: Overhead,
    /// The curve.
    pub curve: Curve,
    /// Its cliffs.
    pub cliffs: Vec<Cliff>,
    /// The three sizes; none for a lower bound, unless forced, or when nothing was touched.
    pub recommend: Option<Recommend>,
    /// What came of the target, if there was one.
    pub target: Option<TargetReport>,
    /// What other readahead windows would change.
    pub readahead: Vec<ReadaheadPoint>,
    /// Reads and writes, apart.
    pub traffic: Traffic,
    /// The files, and their accesses over time.
    pub files: Files,
    /// How long a run would take at each size; empty where that is not predicted.
    pub time: Vec<TimePoint>,
    /// What they rest on.
    pub timing: Option<Timing>,
    /// Names of all files, to be dropped before a run.
    pub names: Vec<String>,
    /// Pages that stay in memory, charged to other programs.
    pub shared: Bytes,
    /// Share of the pages in files that cannot be dropped before a run.
    pub unreached: f64,
    /// Warnings for the reader.
    pub warnings: Vec<Warning>,
}

impl Analysis {
    /// Draws the curve of a trace and finds its sizes. `left` is what stayed in memory when its
    /// files were dropped; `ask` says what else is wanted.
    pub fn of(
        trace: Trace,
        left: &Residency,
        ask: &Ask,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Self, RecommendError> {
        let traffic = Traffic::of(&trace);
        let survey = Survey::of(&trace);
        let Trace { records, files: names, facts } = trace;
        let mut stream = Stream::of(records, &names, &facts, &left.left);
        let curve = draw(&stream, progress);
        let shared_text_bytes = stream.shared_used().bytes();
        let mut memory = Memory { shared_text_bytes, ..facts.memory };
        let overhead = Overhead::of(&stream, &memory, curve.footprint_bytes);
        let readahead = facts.devices.first().map_or(128 << 10, |d| d.readahead_bytes);
        let mut warnings = recorded(&facts);
        let bound = stream.mapped_share() > MAPPED_SHARE_MAX;
        let advise = |memory: &Memory| recommend(&curve, memory, Bytes(readahead));
        let timing = Timing::of(&stream, &facts, &ask.probed, ask.rate);
        let mut time = timing.as_ref().map_or(vec![], |t| t.points(&stream, &curve, &overhead));
        let mut recommend = if curve.accesses == 0 || bound && !ask.force {
            None
        } else {
            // The knee does not depend on the other memory, but the kernel's part of it depends on
            // the knee.
            let knee = advise(&memory)?.cache_bytes;
            memory.kernel_bytes = overhead.kernel_at(knee, &memory);
            Some(advise(&memory)?)
        };
        let target = ask.target.map(|target| {
            let seconds = |cache: Bytes| {
                timing.map_or((0.0, 0.0), |timing| timing.seconds(&stream, cache.pages_down()))
            };
            let to = Targeting { target, overhead: &overhead, curve: &curve, seconds: &seconds };
            let run_ns = facts.run_ns().unwrap_or(0);
            to.at(&time, run_ns, &mut memory, &mut recommend)
        });
        if let Some((timing, advice)) = timing.as_ref().zip(recommend.as_ref()) {
            timing.add(&mut time, advice, (&stream, &overhead));
        }
        let readahead = recommend
            .as_ref()
            .map_or_else(Vec::new, |advice| windows(&mut stream, advice, &memory, ask.readahead));
        warnings.extend(warnings_of(&stream, &traffic, &facts, curve.accesses, ask.force));
        warnings.extend(sizing_themselves(&names));
        let all = overhead.limit_for(curve.footprint_bytes);
        warnings.extend(memory_short(all, facts.memory_total_bytes));
        let unreached = survey.share_of(&left.unopened);
        warnings.extend(unreachable(unreached));
        let files = Files::of(survey, &names, &stream, sizes_of(recommend.as_ref()));
        Ok(Self {
            cliffs: cliffs(&curve),
            shared: Bytes(left.left.len() as u64 * PAGE_BYTES),
            traffic,
            facts,
            names,
            stream,
            memory,
            overhead,
            curve,
            recommend,
            target,
            readahead,
            files,
            timing,
            time,
            unreached,
            warnings,
        })
    }

    /// Fixes the predictions for the runs to come: without a limit first, then each limit. A
    /// percentage is one of the footprint and becomes the limit that leaves so much cache. A size of
    /// our choice that ends at a cliff becomes two, one on each side: a run there would prove neither.
    pub fn plan(&self, at: &[Size]) -> Vec<Prediction> {
        let mut limits: Vec<Option<Bytes>> = vec![None];
        if at.is_empty()
            && let Some(recommend) = &self.recommend
        {
            limits.push(Some(recommend.limit_bytes));
            let below = [0.9, 0.75].map(|part| scaled(recommend.limit_bytes, part));
            limits.extend(below.into_iter().flat_map(|limit| self.beside_cliff(limit)).map(Some));
        }
        for size in at {
            match size {
                Size::Absolute(limit) => limits.push(Some(*limit)),
                Size::Percent(percent) => {
                    let cache = scaled(self.curve.footprint_bytes, percent / 100.0);
                    let limit = self.overhead.limit_for(cache);
                    limits.extend(self.beside_cliff(limit).into_iter().map(Some));
                }
            }
        }
        let has_active_inactive = !self.facts.multi_generational;
        // Without a limit of ours there may be one of others.
        let outer = self.is_short().then_some(self.facts.memory_total_bytes);
        let predict = |limit: Option<Bytes>| {
            let within = limit.min(outer).or(limit).or(outer);
            let made = predict(&self.stream, &self.overhead, within, has_active_inactive);
            let mut made = Prediction { limit, ..made };
            let seconds = |timing: &Timing| {
                let room = if within.is_some() { made.cache.pages_down() } else { UNLIMITED };
                timing.seconds(&self.stream, room)
            };
            made.seconds = self.timing.as_ref().map(seconds);
            made
        };
        limits.into_iter().map(predict).collect()
    }

    /// The limit, or two where it leaves a cache that ends at a cliff.
    fn beside_cliff(&self, limit: Bytes) -> Vec<Bytes> {
        let cache = self.overhead.cache_under(limit);
        match sides(&self.cliffs, cache) {
            Some(sides) => sides.map(|side| self.overhead.limit_for(side)).to_vec(),
            None => vec![limit],
        }
    }

    /// Whether there is less memory, by the machine or a group around the command, than it can use.
    fn is_short(&self) -> bool {
        let total = self.facts.memory_total_bytes;
        total > Bytes(0) && self.overhead.limit_for(self.curve.footprint_bytes) > total
    }

    /// Why a meter cannot count what is predicted; nothing where it can.
    pub fn is_beyond(&self, meter: Meter) -> Option<String> {
        if meter == Meter::Tracepoint {
            return None;
        }
        let written = self.traffic.written_share();
        if written > WRITTEN_SHARE_MAX {
            return Some(format!("{:.0} % of the pages were written to", written * 100.0));
        }
        let direct = |of: &&Uncached| of.detour == Detour::Direct;
        let past = self.facts.uncached.iter().find(direct)?;
        Some(format!("calls on {} went past the page cache", past.file))
    }

    /// Whether a limit leaves no room for a cache at all.
    pub fn is_below_floor(&self, limit: Bytes) -> bool {
        self.overhead.cache_under(limit) == Bytes(0)
    }

    /// The pages that others keep in memory, by file.
    pub(in crate::experiment) fn shared_files(&self) -> Vec<SharedFile> {
        let mut files: Vec<SharedFile> = Vec::new();
        let mut before = None;
        for &(file, page) in self.stream.shared_pages() {
            if before != Some(file) {
                let name = self.names.get(file as usize).cloned().unwrap_or_default();
                files.push(SharedFile { name, pages: Vec::new() });
                before = Some(file);
            }
            let Some(shared) = files.last_mut() else { continue };
            match shared.pages.last_mut() {
                Some((_, last)) if *last + 1 == page => *last = page,
                _ => shared.pages.push((page, page)),
            }
        }
        files
    }

    /// The report, with the runs made so far.
    pub fn report(&self, verify: Vec<Verified>) -> SizeReport {
        SizeReport::new(self, verify)
    }
}

/// The sizes at which the files are looked at.
fn sizes_of(recommend: Option<&Recommend>) -> At {
    let size = |of: fn(&Recommend) -> Bytes| recommend.map_or(Bytes(0), of);
    let (floor, cache) = (size(|r| r.floor_bytes), size(|r| r.cache_bytes));
    At { floor, cache, recommended: recommend.is_some() }
}

fn scaled(amount: Bytes, part: f64) -> Bytes {
    Bytes(whole(amount.0 as f64 * part) / PAGE_BYTES * PAGE_BYTES)
}

/// Whether floor and ceiling are sizes of their own: neither for the advice that no size helps, nor where
/// runs found the size.
pub fn gains(recommend: &Recommend) -> bool {
    matches!(recommend.kind, Advice::Knee | Advice::Target)
}
