//! The pages of the display of a server.

use nbuf::units::{Bytes, date, grouped, whole};
use ratatui::text::Line;

use super::super::super::figures;
use super::super::super::page::{Answer, Mood, Page, Part};
use super::super::super::table::{Table, number, text as words};
use super::super::super::watch::clock;
use super::super::super::watch::screen::View;
use super::super::super::watch::screen::parts::{FIGURES, NAMES, bar, histogram, strip, written};
use super::{Served, band, lines, percent};

/// Rows of the table of a page.
const ROWS: usize = 60;

const WORDS: &str = "\
never seen: the page was never in the cache, or so long ago that it is forgotten
evicted: the policy had evicted the page
saved: a mean read of the disc for each read that hit, less the cost of the cache";

impl View for Served {
    const PAGES: &'static [&'static str] = &["Cache", "Disc", "Sizes", "Figures", "Exports"];
    const WORDS: &'static [&'static str] = &[
        "never seen    the page was never in the cache, or is forgotten",
        "evicted       the policy had evicted the page",
        "written       the page had been written around the cache",
        "saved         a mean read of the disc for each hit, less the cost of the cache",
        "twice, half   of the size: by small caches that follow a sample, with a band of 95 %",
    ];

    fn head(&self) -> String {
        let disc = super::tail(&super::clean(&self.seen.disc), 30);
        format!("{} UTC  {:.2} s of {disc}", clock(self.unix_seconds), self.seen.seconds)
    }

    fn cost(&self) -> String {
        format!("hits {}", self.seen.hit_ratio.map_or_else(|| "-".to_owned(), percent))
    }

    fn lines(seen: &[&Self], page: usize, width: usize, _: bool) -> Vec<Line<'static>> {
        let Some(now) = seen.last() else { return Vec::new() };
        match page {
            0 => cache(seen, now, width),
            1 => disc(seen, now, width),
            2 => of_each(now, |now| sizes(now, width)),
            3 => of_each(now, |now| six(now, width)),
            _ => exports(now),
        }
    }

    fn stamp(&self) -> String {
        date(whole(self.unix_seconds))
    }

    fn html(seen: &[&Self]) -> String {
        let Some(now) = seen.last() else { return String::new() };
        let hits = now.hit_ratio_ever.map_or_else(|| "no page yet".to_owned(), percent);
        let answer = Answer::new(Mood::Good, format!("Hits since the start: {hits}."));
        let six = now.seen.figures.as_ref().into_iter();
        Page::new("watch", format!("A server at {} UTC", clock(now.unix_seconds)), WORDS)
            .title(format!("nbuf watch: {}", now.stamp()))
            .answers([answer])
            .section("This interval", [Part::Lines(super::text(now))])
            .section("Intervals up to it", [Part::Table(table(seen))])
            .sections(six.flat_map(|six| figures::sections(six, figures::Of::Server)))
            .html()
    }
}

fn cache(seen: &[&Served], now: &Served, width: usize) -> Vec<Line<'static>> {
    let hits = |served: &Served| served.seen.hit_ratio.unwrap_or(0.0);
    let dirty = |served: &Served| served.seen.owed_bytes as f64 / f64::from(1 << 20);
    let mut all = vec![
        strip("reads a second", seen, width, None, |served| served.per_second(served.seen.reads)),
        strip("hit ratio", seen, width, Some(1.0), hits),
        strip("dirty MiB", seen, width, None, dirty),
    ];
    all.extend(written(lines(now)));
    all
}

fn disc(seen: &[&Served], now: &Served, width: usize) -> Vec<Line<'static>> {
    let requests =
        |served: &Served| served.per_second(served.seen.disc_reads + served.seen.disc_writes);
    let milliseconds =
        |served: &Served| 1e3 * served.seen.costs.disc_read.mean_seconds.unwrap_or(0.0);
    let mut all = vec![
        strip("requests a second", seen, width, None, requests),
        strip("mean read in ms", seen, width, None, milliseconds),
    ];
    let costs = &now.seen.costs;
    for (title, times) in [
        ("reads of the disc, from submission to completion", &costs.disc_read),
        ("writes of the disc", &costs.disc_write),
        ("flushes of the disc", &costs.disc_flush),
    ] {
        let steps: Vec<_> = times.steps.iter().filter(|step| step.count > 0).copied().collect();
        if !steps.is_empty() {
            all.push(Line::default());
            all.push(Line::from(title));
            all.extend(histogram(&steps, width));
        }
    }
    all
}

/// The same for each export, if there are several.
fn of_each(now: &Served, of: impl Fn(&Served) -> Vec<Line<'static>>) -> Vec<Line<'static>> {
    if now.exports().is_empty() {
        return of(now);
    }
    let mut all = Vec::new();
    for export in now.exports() {
        all.push(Line::from(format!("export {}", export.name())));
        all.extend(of(&export));
        all.push(Line::default());
    }
    all
}

/// A line for each export, and one for their sum.
fn exports(now: &Served) -> Vec<Line<'static>> {
    let row = |served: &Served, name: String| {
        let d = &served.seen;
        let hits = d.hit_ratio.map_or_else(|| "-".to_owned(), percent);
        let (reads, writes) = (served.rate(d.reads), served.rate(d.writes));
        let (cache, dirty) = (Bytes(d.cache_bytes).to_string(), Bytes(d.owed_bytes).to_string());
        let disc = served.rate(d.disc_reads);
        Line::from(format!(
            "{name:<20}{cache:>10}{reads:>10}{writes:>10}{hits:>8}{disc:>10}{dirty:>10}"
        ))
    };
    let columns = ["cache", "reads", "writes", "hits", "disc", "dirty"];
    let [cache, reads, writes, hits, disc, dirty] = columns;
    let mut all = vec![Line::from(format!(
        "{:<20}{cache:>10}{reads:>10}{writes:>10}{hits:>8}{disc:>10}{dirty:>10}",
        "export"
    ))];
    all.extend(now.exports().iter().map(|export| row(export, export.name())));
    let name = if now.exports().is_empty() { now.name() } else { "all".to_owned() };
    all.push(row(now, name));
    all
}

/// Hit ratios of other sizes and policies, next to the one of this cache.
fn sizes(now: &Served, width: usize) -> Vec<Line<'static>> {
    let room = width.saturating_sub(NAMES + FIGURES + 1 + BAND);
    let row = |name: String, ratio: f64, band: String| {
        let figure = percent(ratio);
        let bar = bar(ratio, room);
        Line::from(format!("{name:<NAMES$}{figure:>FIGURES$}{band:<BAND$} {bar}"))
    };
    let d = &now.seen;
    let name = |policy: &str, bytes: u64| format!("{policy} {}", Bytes(bytes));
    let mut all =
        vec![Line::from("hit ratios since the start, or since the last change of size or policy")];
    let ours = d.compared_hit_ratio.unwrap_or(0.0);
    all.push(row(name(&d.policy, d.cache_bytes), ours, " now".to_owned()));
    all.extend(
        d.other_sizes
            .iter()
            .map(|other| row(name(&other.policy, other.cache_bytes), other.hit_ratio, band(other))),
    );
    if d.other_sizes.is_empty() {
        all.push(Line::from("nothing was read yet"));
    }
    all
}

/// Columns of a band.
const BAND: usize = 18;

fn six(now: &Served, width: usize) -> Vec<Line<'static>> {
    let Some(six) = &now.seen.figures else { return Vec::new() };
    let text = figures::text(six, figures::Of::Server, width);
    let none = "This cache has no hash lists, so two of the six figures of 1982 are missing.";
    text.lines().chain(["", none]).map(|line| Line::from(line.to_owned())).collect()
}

fn table(seen: &[&Served]) -> Table {
    let hits = |served: &Served| served.seen.hit_ratio.map_or_else(|| "-".to_owned(), percent);
    Table::of("The newest first", seen.iter().copied().rev().take(ROWS))
        .column(words("time"), |served| clock(served.unix_seconds))
        .column(number("reads a second"), |served| served.rate(served.seen.reads))
        .column(number("hits"), hits)
        .column(number("evicted"), |served| served.rate(served.seen.misses.evicted))
        .column(number("disc reads a second"), |served| served.rate(served.seen.disc_reads))
        .column(number("dirty bytes"), |served| grouped(served.seen.owed_bytes))
        .done()
}
