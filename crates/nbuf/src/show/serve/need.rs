//! How much cache a running server needs, for people.

use std::fmt::Write as _;

use nbuf::experiment::result::{ServeAnswer, ServeNeed, ServeNeedSize, ServeNeeds};
use nbuf::units::Bytes;

use crate::shell;
use crate::show::table::{Table, number, text};
use crate::show::text::{clean, count, flush, rate, wrap_each};

/// The whole report.
pub(crate) fn report(needs: &ServeNeeds, width: usize) -> String {
    let parts = needs.exports.iter().map(|need| {
        let mut out = flush(&sentence(need), width);
        if need.sizes.is_empty() {
            wrap_each(&mut out, refusals(need), width);
        } else {
            out += "\n";
            out += &table(need).draw(width);
            out += "\n";
            wrap_each(&mut out, notes(needs, need), width);
            // In one line, to be pasted.
            if let Some(command) = change(needs, need) {
                let _ = writeln!(out, "\n  {command}");
            }
        }
        out
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// The answer.
fn sentence(need: &ServeNeed) -> String {
    let name = clean(if need.name.is_empty() { &need.disc } else { &need.name });
    let now = Bytes(need.cache_bytes);
    let of = |bytes: u64| need.sizes.iter().find(|size| size.cache_bytes == bytes);
    let hits = |bytes: u64| of(bytes).map_or(0.0, |size| size.hit_ratio * 100.0);
    let has = hits(need.cache_bytes);
    let needed = need.needed_bytes.unwrap_or(0);
    let (size, ratio) = (Bytes(needed), hits(needed));
    match need.answer {
        ServeAnswer::Unknown if !need.sizes.is_empty() => format!(
            "{name}: no page was read in this time, so no rate tells a size. Ask again when it is busy, or with a longer --for."
        ),
        ServeAnswer::NotYet => format!(
            "{name}: so far no cache meets this target, not even of the whole disc, as pages that are read for the first time miss. Ask again later."
        ),
        ServeAnswer::Unknown => format!(
            "{name}: {} read since the start, or since the last change of size or policy. A thousand tell something: ask again later.",
            count(need.pages, "page was", "pages were")
        ),
        ServeAnswer::Enough => format!("{name} needs {size}, as it has: it hits {has:.1} %."),
        ServeAnswer::More => {
            format!("{name} needs {size}: it would hit {ratio:.1} %, and {has:.1} % with {now}.")
        }
        ServeAnswer::Less => format!(
            "{name} needs {size}: it would hit {ratio:.1} % with that, and hits {has:.1} % with {now}."
        ),
        ServeAnswer::AtMost => format!(
            "{name} needs {size} at most, the smallest size that is known: it would hit {ratio:.1} %, and hits {has:.1} % with {now}."
        ),
        ServeAnswer::Beyond => {
            let largest = need.sizes.last().map_or(0, |size| size.cache_bytes);
            let (most, ratio) = (Bytes(largest), hits(largest));
            format!(
                "{name} needs more than {most}, the largest size that is known. With that it would hit {ratio:.1} %, and {has:.1} % with {now}. Resize it, and ask again."
            )
        }
    }
}

fn table(need: &ServeNeed) -> Table {
    Table::of(format!("{} with other sizes", need.policy), &need.sizes)
        .column(number("cache"), |size| Bytes(size.cache_bytes).to_string())
        .column(number("hits"), |size| format!("{:.1} %", size.hit_ratio * 100.0))
        .column(text("95 % band").rank(2), band)
        .column(number("misses/s"), |size| rate(size.misses_per_second))
        .column(number("disc busy").rank(1), |size| {
            size.disc_busy.map_or("-".to_owned(), |busy| format!("{busy:.2}"))
        })
        .column(text(""), |size| mark(need, size))
        .done()
}

fn band(size: &ServeNeedSize) -> String {
    let [low, high] = [size.hit_ratio_low, size.hit_ratio_high].map(|ratio| ratio * 100.0);
    if low < high { format!("{low:.1} to {high:.1}") } else { String::new() }
}

fn mark(need: &ServeNeed, size: &ServeNeedSize) -> String {
    let is_now = size.cache_bytes == need.cache_bytes;
    let is_needed = need.needed_bytes == Some(size.cache_bytes);
    match (is_now, is_needed) {
        (true, true) => "now, and needed",
        (true, false) => "now",
        (false, true) => "needed",
        (false, false) => "",
    }
    .to_owned()
}

fn notes(needs: &ServeNeeds, need: &ServeNeed) -> Vec<String> {
    let mut notes = vec![format!(
        "Rates are the mean of {:.0} s, with {} pages a second. Hit ratios are of {}, since the start or the last change of size or policy.",
        needs.seconds,
        rate(need.pages_per_second),
        count(need.pages, "page", "pages")
    )];
    if let Some(seconds) = need.disc_seconds_per_miss {
        notes.push(format!(
            "The disc took {:.3} ms for each page that was missed. \"Disc busy\" is its work for these, in requests under way.",
            seconds * 1e3
        ));
    }
    notes.extend(refusals(need));
    if need.used_bytes < need.cache_bytes {
        let (used, all) = (Bytes(need.used_bytes), Bytes(need.cache_bytes));
        notes.push(format!("The cache is not full yet: {used} of {all}."));
    }
    for other in &need.others {
        let (policy, ratio) = (&other.policy, other.hit_ratio * 100.0);
        notes.push(format!("With {policy} and the same size it would hit {ratio:.1} %."));
    }
    notes
}

/// Errors of the disc, if there were any.
fn refusals(need: &ServeNeed) -> Option<String> {
    let errors = count(need.disc_errors, "request", "requests");
    (need.disc_errors > 0).then(|| {
        format!(
            "The disc refused {errors} since the start. Look at the disc before you size its cache."
        )
    })
}

/// The command that gives the cache the size that is needed.
fn change(needs: &ServeNeeds, need: &ServeNeed) -> Option<String> {
    let goes = [ServeAnswer::More, ServeAnswer::Less, ServeAnswer::AtMost];
    let bytes = need.needed_bytes.filter(|_| goes.contains(&need.answer))?;
    let size = exact(bytes);
    let mut words = vec!["nbuf", "serve", "resize", &needs.server, &size];
    if !need.name.is_empty() {
        words.extend(["--export", &need.name]);
    }
    Some(shell::line(&words))
}

/// A size as an option takes it, to the byte.
fn exact(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    unit.map_or(bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}
