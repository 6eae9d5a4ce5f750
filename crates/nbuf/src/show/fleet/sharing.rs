//! The cache that the volumes of a host share, against partitions of it.

use nbuf::experiment::result::{
    FleetBy, FleetDocument, FleetSharing, FleetSharingHost, FleetSharingVerdict,
};
use nbuf::units::count;

use super::super::table::{Table, number, text};
use super::{hits, memory, percent, short};

/// The answer, a sentence.
pub(super) fn answer(document: &FleetDocument) -> Option<String> {
    let sharing = document.sharing.as_ref()?;
    let with = |misses| percent(hits(sharing.accesses, misses));
    let hosts = |verdict| {
        let of = sharing.hosts.iter().filter(|host| host.verdict == verdict).count();
        count(of as u64, "host hits", "hosts hit")
    };
    let misses = [sharing.shared_misses, sharing.partitioned_misses, sharing.equal_misses];
    let ([shared, best, equal], by) = (misses.map(with), by(sharing.by));
    let [less, more] = [FleetSharingVerdict::Shared, FleetSharingVerdict::Partitions].map(hosts);
    Some(format!(
        "shared caches give {shared} % hits, the best partitions by {by} {best} %, equal ones {equal} %: {less} more by \
         sharing, {more} more with partitions"
    ))
}

fn by(by: FleetBy) -> &'static str {
    match by {
        FleetBy::File => "file",
        FleetBy::Directory => "directory",
        FleetBy::Volume => "volume",
        FleetBy::Host => "host",
    }
}

/// The first hosts; a terminal has no room for all.
pub(super) fn table(document: &FleetDocument, sharing: &FleetSharing, most: usize) -> Table {
    let with = |host: &FleetSharingHost, misses| percent(hits(host.accesses, misses));
    let better = |host: &FleetSharingHost| match host.verdict {
        FleetSharingVerdict::Either => "",
        FleetSharingVerdict::Shared => "shared",
        FleetSharingVerdict::Partitions => "partitions",
    };
    let caption = format!("Hits shared and partitioned by {}", by(sharing.by));
    Table::of(caption, sharing.hosts.iter().take(most))
        .column(text("host"), |host| short(&host.host))
        .column(number("memory").rank(1), |host| memory(document, host.pages))
        .column(number("volumes").rank(2), |host| host.partitions.len().to_string())
        .column(number("shared, %"), |host| with(host, host.shared_misses))
        .column(number("partitions, %"), |host| with(host, host.partitioned_misses))
        .column(number("equal, %").rank(3), |host| with(host, host.equal_misses))
        .column(text("hits more"), better)
        .done()
}
