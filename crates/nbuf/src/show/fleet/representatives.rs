//! Volumes that stand for the others of a fleet.

use nbuf::experiment::result::{FleetDocument, FleetRepresentatives};
use nbuf::units::count;

use super::super::table::{Table, number, text};
use super::{percent, short};

/// The answer, a sentence.
pub(super) fn answer(document: &FleetDocument) -> Option<String> {
    let found = document.representatives.as_ref()?;
    let stand = count(found.volumes.len() as u64, "volume stands", "volumes stand");
    Some(format!(
        "{stand} for all {}: at each share of their pages, the miss ratios of a volume and its representative differ by \
         at most {} points",
        document.volumes.len(),
        percent(found.farthest)
    ))
}

/// The first representatives; a terminal has no room for all.
pub(super) fn table(found: &FleetRepresentatives, most: usize) -> Table {
    Table::of("Volumes that stand for others", found.volumes.iter().take(most))
        .column(text("representative"), |of| short(&of.volume))
        .column(number("volumes"), |of| of.volumes.to_string())
        .column(number("accesses, %"), |of| percent(of.accesses_share))
        .column(number("differ, points").rank(1), |of| percent(of.farthest))
        .done()
}
