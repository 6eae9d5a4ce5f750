//! What is to be said before any figure is believed.

use super::result::Traffic;
use super::size::{MAPPED_SHARE_MAX, WRITTEN_SHARE_MAX};
use crate::cache::kernel::Stream;

/// What is to be said of a workload before any figure of it is believed.
pub(super) fn cautions_of(
    stream: &Stream,
    traffic: &Traffic,
    accesses: u64,
    force: bool,
) -> Vec<String> {
    let mut cautions = Vec::new();
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
    if accesses == 0 {
        cautions.push("the command touched no file pages that the page cache holds".into());
    }
    cautions
}
