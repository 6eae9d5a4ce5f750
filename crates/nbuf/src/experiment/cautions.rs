//! What is to be said before any figure is believed.

use super::result::Traffic;
use super::size::{MAPPED_SHARE_MAX, WRITTEN_SHARE_MAX};
use crate::cache::kernel::Stream;
use crate::units::Bytes;
use crate::workload::trace::Facts;

/// What is to be said of a workload before any figure of it is believed.
pub(super) fn cautions_of(
    stream: &Stream,
    traffic: &Traffic,
    facts: &Facts,
    accesses: u64,
    force: bool,
) -> Vec<String> {
    let mut cautions = Vec::new();
    if facts.multi_generational {
        cautions.push(
            "this kernel evicts by the multi-generational LRU, which is not modelled: the band is that \
             of two other models"
                .into(),
        );
    }
    if stream.mapped_share() > MAPPED_SHARE_MAX {
        cautions.push(format!(
            "{:.0} % of the pages were touched through mappings, where repeated touches are not \
             seen: the curve is a lower bound of the need{}",
            stream.mapped_share() * 100.0,
            if force { "" } else { ", and no size is recommended without --force" }
        ));
    }
    if traffic.written_share() > WRITTEN_SHARE_MAX {
        cautions.push(format!(
            "{:.0} % of the pages were written to: under a limit they are written back sooner, and \
             anew each time they change after that. Fills are predicted, but neither this nor the \
             time it takes",
            traffic.written_share() * 100.0
        ));
    }
    if facts.run_ns().is_none() && accesses > 0 {
        cautions.push(
            "the command was stopped at each of its calls while it was recorded: how long it takes \
             otherwise is not estimated, but measured where a run verifies"
                .into(),
        );
    }
    if accesses == 0 {
        cautions.push("the command touched no file pages that the page cache holds".into());
    }
    cautions
}

/// Above this share of pages that cannot be dropped, runs may begin with what they should fill.
pub(super) const UNREACHED_SHARE_MAX: f64 = 0.05;

/// What is to be said of files that cannot be opened by their names, with this share of the pages.
pub(super) fn told_unreached(share: f64) -> Option<String> {
    (share > UNREACHED_SHARE_MAX).then(|| {
        format!(
            "{:.0} % of the pages are of files that cannot be opened by their names from here, as those \
             of a container: they are not dropped from the page cache before a run, which fills fewer \
             than predicted where they are still there (inside, --capture calls has their names; \
             outside, --prepare can drop them)",
            share * 100.0
        )
    })
}

/// What is to be said where there is less memory than the command can make use of.
pub(super) fn told_short(all: Bytes, total: Bytes) -> Option<String> {
    (total > Bytes(0) && all > total).then(|| {
        format!(
            "there is no more than {total} of memory here, by the machine or a group around the command, \
             and {all} holds all it touches: a run without a limit has that one, and what a larger one \
             would do is predicted and not verified"
        )
    })
}
