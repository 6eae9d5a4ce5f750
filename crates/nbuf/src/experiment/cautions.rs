//! What is to be said before any figure is believed.

use super::result::Traffic;
use super::size::{MAPPED_SHARE_MAX, WRITTEN_SHARE_MAX};
use crate::cache::kernel::Stream;
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
