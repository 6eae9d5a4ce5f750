//! What a cache costs and saves, in lines.

use nbuf::experiment::result::{ServeCosts, ServeWork, WatchTimes};

use super::super::watch::{time, times};

/// Names and texts of lines, some of which are about what did not happen yet.
pub(crate) fn lines(costs: &ServeCosts) -> Vec<(&'static str, String)> {
    let mean = |work: &ServeWork| work.times.mean_seconds.map_or_else(|| "-".to_owned(), time);
    let work = [("look-up", &costs.lookup), ("copy", &costs.copy), ("fill", &costs.fill)];
    let work = work.map(|(name, work)| format!("{name} {}", mean(work))).join(", ");
    let disc = [
        ("disc reads", &costs.disc_read),
        ("disc writes", &costs.disc_write),
        ("disc flushes", &costs.disc_flush),
    ];
    let all = time(costs.work_seconds);
    let mut lines = vec![("cost", format!("{work} a page; {all} of processor time in all"))];
    let seen = |(name, times): &(&'static str, &WatchTimes)| {
        (times.count > 0).then(|| ("time", format!("{name} {}", self::times(times))))
    };
    lines.extend(disc.iter().filter_map(seen));
    lines.push(("saved", saved(costs)));
    lines
}

/// What reads did not wait.
pub(crate) fn saved(costs: &ServeCosts) -> String {
    match costs.saved_seconds {
        None => "not known before the first read of the disc".to_owned(),
        Some(saved) if saved < 0.0 => {
            format!("nothing: the cache took {} more than its hits saved", time(-saved))
        }
        Some(saved) => format!("{} that reads did not wait for the disc", time(saved)),
    }
}
