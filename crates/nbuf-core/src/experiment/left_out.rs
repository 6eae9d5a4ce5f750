//! The warnings of a trace that was read: its own, and those about records that nbuf left out.

use super::warning::{TraceWarning, Warning};
use crate::workload::format::{ProblemKind, Problems};
use crate::workload::source::Source;

/// What a reader of any later report must know of a recorded trace, in its own words.
pub(super) fn recorded(source: &Source) -> impl Iterator<Item = Warning> {
    source.warnings().iter().cloned().map(Warning::Text)
}

/// All warnings, where there is no room for each record: the first record that was left out, the
/// number of the others, and where an input breaks off.
pub(super) fn warnings(source: &Source) -> Vec<Warning> {
    let problems = source.problems();
    let mut kept = problems.kept.iter();
    let first = kept.next().map(|first| TraceWarning::LeftOut {
        first: source.describe(first),
        others: problems.count.saturating_sub(1),
    });
    let broken = kept.filter(|problem| problem.kind == ProblemKind::CutOff);
    let broken = broken.map(|problem| TraceWarning::CutOff { problem: source.describe(problem) });
    let left_out = first.into_iter().chain(broken).map(Warning::Trace);
    recorded(source).chain(left_out).chain(doubts_of_sizes(problems)).collect()
}

/// Doubts of sizes: the requests for keys without a size, and the answers whose sizes count headers.
pub(super) fn doubts_of_sizes(problems: &Problems) -> impl Iterator<Item = Warning> {
    let (requests, answers) = (problems.unsized_requests, problems.headers_counted);
    let missing = (requests > 0).then_some(TraceWarning::SizesMissing { requests });
    let too_large = (answers > 0).then_some(TraceWarning::HeadersCounted { answers });
    missing.into_iter().chain(too_large).map(Warning::Trace)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workload::format::{Batch, Parameters};
    use crate::workload::source::Options;

    #[test]
    fn the_first_record_is_described_and_the_others_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("blocks.lirs");
        fs::write(&path, "1\nfive\n2\nsix\nseven\n3\n").unwrap();
        let format = Parameters { format: "lirs".to_owned(), pairs: Vec::new() };
        let options = Options { format: Some(format), ..Options::default() };
        let mut source = Source::open(&[path], &options).unwrap();
        let mut batch = Batch::default();
        while source.next(&mut batch).unwrap() {}
        assert_eq!(source.problems().count, 3);
        let found = warnings(&source);
        let [Warning::Trace(warning)] = &found[..] else { panic!("{found:?}") };
        let TraceWarning::LeftOut { first, others } = warning else { panic!("{warning:?}") };
        assert_eq!((first, *others), (&source.describe(&source.problems().kept[0]), 2));
        assert!(warning.to_string().ends_with(", and 2 more"), "{warning}");
    }

    #[test]
    fn sizes_that_are_in_doubt_are_counted() {
        assert_eq!(doubts_of_sizes(&Problems::default()).count(), 0);
        let (unsized_requests, headers_counted) = (3, 4);
        let problems = Problems { unsized_requests, headers_counted, ..Problems::default() };
        let words: Vec<String> = doubts_of_sizes(&problems).map(|it| it.to_string()).collect();
        assert!(words[0].starts_with("3 requests are for keys"), "{words:?}");
        assert!(words[1].starts_with("4 answers without a body have bytes"), "{words:?}");
    }
}
