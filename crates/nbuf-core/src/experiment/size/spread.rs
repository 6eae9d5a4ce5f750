//! Room for other memory that differs between runs: the limit covers the highest peak and the spread.
//!
//! Each run has its own peak of other memory, and a limit below it means the OOM killer. The highest peak
//! is taken of all runs; the lowest of those that ended, with the recommended limit or a higher one, since in
//! a smaller one a program may make do with less. A program that chooses its memory by the limit that it
//! sees does not count where the limit was higher, or none.

use crate::experiment::result::{SearchOutcome, SizeReport};
use crate::experiment::warning::Warning;
use crate::units::Bytes;

/// Other memory of a run at its peak.
struct Peak {
    limit: Option<Bytes>,
    other: Bytes,
    /// Whether the run came to its end.
    ended: bool,
}

impl SizeReport {
    /// The report with a limit that covers the other memory of every run.
    pub(in crate::experiment) fn covering_runs(mut self) -> Self {
        let Some((low, high)) = self.other_range() else { return self };
        let is_searched = self.search.is_some();
        let shared = self.memory.shared_text_bytes;
        let Some(recommend) = &mut self.recommend else { return self };
        // A measured limit was found as one sum: its cache is what other memory left.
        let cache = if is_searched { Bytes(0) } else { recommend.cache_bytes };
        let needed = high + high.saturating_sub(low) + shared + cache;
        let limit = Bytes(needed.0.next_multiple_of(1 << 20));
        let raised = limit.saturating_sub(recommend.limit_bytes);
        if raised == Bytes(0) {
            return self;
        }
        recommend.limit_bytes = limit;
        recommend.slack_bytes += raised;
        recommend.spread_bytes = raised;
        self.warnings.push(Warning::OtherMemoryVaries {
            low_bytes: low,
            high_bytes: high,
            raised_bytes: raised,
        });
        self.judged()
    }

    /// The lowest and the highest peak of other memory, of the runs that count; none without a run.
    fn other_range(&self) -> Option<(Bytes, Bytes)> {
        let tried = self.recommend.as_ref()?.limit_bytes;
        let sizes_itself =
            self.warnings.iter().any(|warning| matches!(warning, Warning::SizesItself { .. }));
        let counts = |peak: &Peak| {
            let is_larger = peak.limit.is_none_or(|limit| limit > tried);
            peak.other > Bytes(0) && !(sizes_itself && is_larger)
        };
        let peaks: Vec<Peak> = self.peaks().into_iter().filter(counts).collect();
        let memory = &self.memory;
        let recorded = memory.other_bytes().saturating_sub(memory.shared_text_bytes);
        let recorded = (!sizes_itself).then_some(recorded);
        let is_whole = |peak: &&Peak| peak.ended && peak.limit.is_none_or(|limit| limit >= tried);
        let low = peaks.iter().filter(is_whole).map(|peak| peak.other).chain(recorded).min();
        let high = peaks.iter().map(|peak| peak.other).max()?.max(recorded.unwrap_or_default());
        Some((low.unwrap_or(high), high))
    }

    fn peaks(&self) -> Vec<Peak> {
        let verified = self.verify.iter().map(|run| Peak {
            limit: run.limit_bytes,
            other: run.other_bytes,
            ended: !run.killed && !run.timed_out,
        });
        let runs = self.search.iter().flat_map(|search| &search.runs);
        let searched = runs.map(|run| Peak {
            limit: run.limit_bytes,
            other: run.other_bytes,
            ended: matches!(run.outcome, SearchOutcome::Enough | SearchOutcome::TooManyFills),
        });
        verified.chain(searched).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::{Advice, Recommend, Verified};
    use crate::trace::Memory;

    const MIB: u64 = 1 << 20;

    /// Runs with their limits and other memory, whether the program sizes itself, and the limit.
    type Case<'a> = (&'a [(Option<u64>, u64)], bool, u64);

    fn report(limit: u64, runs: &[(Option<u64>, u64)], warnings: Vec<Warning>) -> SizeReport {
        let mib = |number: u64| Bytes(number * MIB);
        let verify = runs.iter().map(|&(limit, other)| Verified {
            limit_bytes: limit.map(mib),
            other_bytes: mib(other),
            within_band: Some(true),
            ..Verified::default()
        });
        SizeReport {
            memory: Memory { anonymous_bytes: mib(100), ..Memory::default() },
            recommend: Some(Recommend {
                kind: Advice::Knee,
                limit_bytes: mib(limit),
                cache_bytes: mib(50),
                knee_bytes: mib(50),
                floor_bytes: mib(50),
                ceiling_bytes: mib(50),
                slack_bytes: mib(limit - 150),
                spread_bytes: Bytes(0),
                reason: String::new(),
            }),
            verify: verify.collect(),
            warnings,
            ..SizeReport::default()
        }
    }

    #[test]
    fn the_limit_covers_the_highest_peak_and_the_spread() {
        let sizes_itself = Warning::SizesItself { program: "java", setting: "-Xmx" };
        let cases: [Case<'_>; 8] = [
            (&[], false, 154),
            (&[(None, 101), (Some(154), 100)], false, 154),
            (&[(None, 110), (Some(154), 100)], false, 170),
            (&[(None, 100), (Some(154), 106)], false, 162),
            // Under a smaller limit it made do with less, or thrashed.
            (&[(Some(154), 100), (Some(80), 60)], false, 154),
            // And yet needs more than any run above.
            (&[(Some(154), 100), (Some(80), 120)], false, 190),
            (&[(None, 400), (Some(154), 90)], true, 154),
            (&[(None, 400), (Some(154), 120)], true, 170),
        ];
        for (runs, is_own, want) in cases {
            let warnings = if is_own { vec![sizes_itself.clone()] } else { Vec::new() };
            let report = report(154, runs, warnings).covering_runs();
            let recommend = report.recommend.unwrap();
            assert_eq!(recommend.limit_bytes, Bytes(want * MIB), "{runs:?}");
            assert_eq!(recommend.tried_bytes(), Bytes(154 * MIB), "{runs:?}");
            assert_eq!(recommend.slack_bytes, Bytes((want - 150) * MIB), "{runs:?}");
            let varies = |it: &Warning| matches!(it, Warning::OtherMemoryVaries { .. });
            assert_eq!(report.warnings.iter().any(varies), want > 154, "{runs:?}");
        }
    }
}
