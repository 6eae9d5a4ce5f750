//! What running programs need, for people: the answer, what to paste, the rates.

pub(crate) mod follow;
mod machine;
mod marks;
mod note;
mod page;
mod paste;
mod probe;

use nbuf::experiment::result::{LiveDocument, LivePoint, LiveService};
use nbuf::units::Bytes;

pub(crate) use machine::machine;
pub(crate) use page::page;

use super::table::{Table, number};
use super::text::{field, rate, wrap, wrap_behind, wrap_each};
use note::Note;
use paste::paste;

/// Caches that hit less are not worth a row.
const HIT_RATIO_MIN: f64 = 0.01;
/// A longer window is worth it if it shows sizes that are larger by this factor.
const WORTH: f64 = 1.05;

/// The answer, in a sentence or two.
fn answer(live: &LiveDocument) -> String {
    let seconds = live.seconds;
    let wanted = match (live.fills_target, live.stall_target) {
        (_, Some(stall)) => {
            format!("reads are to be waited for {} of the time at most", share(stall))
        }
        (Some(fills), _) => format!("{} pages a second are to miss at most", rate(fills)),
        _ => format!("{:.0} % of the page accesses are to hit", live.hit_target * 100.0),
    };
    let known = live.points.last().map(|point| point.cache_bytes);
    match (&live.answer, known) {
        (Some(point), _) => format!(
            "{}. Modelled from {seconds:.0} s, not verified: {} of cache hits {:.1} % of the page \
             accesses, and {} pages a second miss{}.",
            limit(point),
            point.cache_bytes,
            point.hit_ratio * 100.0,
            rate(point.misses_per_second),
            point.stall.map_or_else(String::new, |stall| {
                format!("; programs wait for them {} of the time at most", share(stall))
            }),
        ),
        _ if live.stall_target.is_some() && live.service.is_none() => {
            "The time of a read is not known: the discs of this machine have had no 100 reads. Ask for less misses with \
             --target fills=100/s."
                .to_owned()
        }
        (None, Some(known)) => format!(
            "More than {known} of cache, if {wanted}: no more is known after {seconds:.0} s. Watch longer, or \
             ask for less with --target hit=0.9 or --target fills=100/s."
        ),
        (None, None) => format!(
            "Cache buys nothing that {seconds:.0} s could show: the programs made {} page accesses a \
             second. They have {} of other memory.",
            rate(live.accesses_per_second),
            live.memory.other_bytes(),
        ),
    }
}

/// A share of the time; more than all of it if several tasks wait at once.
fn share(stall: f64) -> String {
    let percent = stall * 100.0;
    let digits = if percent >= 10.0 { 0 } else { 2 };
    format!("{percent:.digits$} %")
}

/// The number to set, in whole MiB.
fn limit(point: &LivePoint) -> Bytes {
    Bytes(point.limit_bytes.0.div_ceil(1 << 20) << 20)
}

/// What the number consists of.
fn parts(live: &LiveDocument, point: &LivePoint) -> String {
    let memory = &live.memory;
    let all = [
        (point.cache_bytes, "cache"),
        (memory.anonymous_bytes, "anonymous"),
        (memory.shared_bytes, "shared"),
        (memory.kernel_bytes, "kernel"),
    ];
    let all = all.iter().filter(|(bytes, _)| bytes.0 > 0);
    let all: Vec<String> = all.map(|(bytes, name)| format!("{bytes} {name}")).collect();
    format!("= {}", all.join(" + "))
}

fn sheet(live: &LiveDocument) -> Table {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    Table::of("Misses a second by cache size", rows(live))
        .column(number("cache"), |point| point.cache_bytes.to_string())
        .column(number("limit").rank(1), |point| limit(point).to_string())
        .column(number("hit %"), |point| format!("{:.1}", point.hit_ratio * 100.0))
        .column(number("misses/s"), |point| rate(point.misses_per_second))
        .column(number("from").rank(2), |point| rate(point.misses_per_second_low))
        .column(number("to").rank(2), |point| rate(point.misses_per_second_high))
        .column(number("fills/s").rank(1), |point| or_none(point.fills_per_second.map(rate)))
        .column(number("waits").rank(1), |point| or_none(point.stall.map(share)))
        .done()
}

/// A size for each doubling, the largest, and the answer: the document has all.
fn rows(live: &LiveDocument) -> impl Iterator<Item = &LivePoint> {
    let useful = live.points.iter().filter(|point| point.hit_ratio >= HIT_RATIO_MIN);
    let answer = live.answer.as_ref().map(|point| point.cache_bytes);
    let mut wanted = 0;
    let last = live.points.last();
    useful.filter(move |point| {
        let is_next = point.cache_bytes.0 >= wanted;
        if is_next {
            wanted = point.cache_bytes.0.saturating_mul(19) / 10;
        }
        is_next || Some(point.cache_bytes) == answer || Some(*point) == last
    })
}

/// What the figures rest on, and what spoils them.
fn notes(live: &LiveDocument) -> Vec<Note> {
    let by = match live.backend.as_str() {
        "bpf" => "BPF programs in the kernel",
        "perf" => "perf's events of the kernel's tracepoints",
        _ => "means that are not known",
    };
    let part = if live.sampled_share > 0.0 && live.sampled_share < 1.0 {
        format!("{:.2} % of the pages, and a count of all accesses", live.sampled_share * 100.0)
    } else {
        "all pages".to_owned()
    };
    let cost = live.reader_seconds / live.seconds.max(1e-9) * 100.0;
    let (events, lost) = (live.events, live.lost);
    let mut notes = vec![
        format!(
            "{}: {} page accesses a second to {} of files, {:.0} % of them mapped. With the cache as it is, the \
             kernel brought in {} pages a second.",
            field(&live.command.join(" ")),
            rate(live.accesses_per_second),
            live.touched_bytes,
            live.mapped_share * 100.0,
            rate(live.fills_per_second),
        ),
        format!(
            "Recorded by {by}: {part}. {events} events, {lost} lost; to read them took {cost:.1} % of a processor."
        ),
        "Misses are pages of an LRU with no readahead; from and to are a band of 95 % for the next window. Fills have \
         readahead in them, and the large folios that were cached. Other memory is measured at the end of the window; a \
         peak may exceed it."
            .to_owned(),
    ];
    notes.extend(live.service.map(service));
    notes.extend(live.marks.as_ref().map(marks::note));
    notes.extend(live.snapshot.as_ref().map(marks::cached));
    notes.extend(longer(live));
    notes.extend(held(live));
    notes.into_iter().map(Note::Plain).chain(spoils(live).map(Note::Warning)).collect()
}

/// What spoils the figures.
fn spoils(live: &LiveDocument) -> impl Iterator<Item = String> {
    let halves = "not steady: the two halves of the window differ by more than their bands";
    let halves = (!live.is_steady).then(|| halves.to_owned());
    let (lost, events) = (live.lost, live.events);
    let lost =
        (lost > 0).then(|| format!("{lost} of {events} events were lost: all rates are too low"));
    let warnings = live.warnings.iter().map(ToString::to_string);
    halves.into_iter().chain(lost).chain(warnings)
}

/// What the group holds in vain or lacks, and the knee.
fn held(live: &LiveDocument) -> Option<String> {
    let held = live.memory.cache_bytes;
    let (frees, lacks) = live.frees_or_lacks();
    let mut parts = Vec::new();
    parts.extend(
        frees.map(|bytes| {
            format!("the group holds {held} of cache, and {bytes} of it buys nothing")
        }),
    );
    parts.extend(lacks.map(|bytes| format!("the group holds {held} of cache, and lacks {bytes}")));
    let knee = live.knee_bytes;
    parts.extend(knee.map(|knee| format!("beyond {knee} (the knee) more cache saves little")));
    let mut text = parts.join("; ");
    text.get_mut(..1)?.make_ascii_uppercase();
    text.push('.');
    Some(text)
}

/// What a longer window would show, where there is a curve.
fn longer(live: &LiveDocument) -> Option<String> {
    let (longer, last) = live.longer.as_ref().zip(live.points.last())?;
    let more = longer.known_bytes.0 as f64 > last.cache_bytes.0 as f64 * WORTH;
    Some(if more {
        format!(
            "A window of {:.0} s would show sizes up to about {}, instead of {}, with a band of about seven tenths.",
            longer.seconds, longer.known_bytes, last.cache_bytes
        )
    } else {
        format!(
            "A window of {:.0} s would show no larger sizes, and a band of about seven tenths.",
            longer.seconds
        )
    })
}

/// What the waits rest on.
fn service(service: LiveService) -> String {
    let when = if service.is_of_window { "in the window" } else { "since the machine started" };
    format!(
        "Waits are misses times {}, the mean of {} reads of all discs {when}. It is an upper bound: readahead serves several misses by \
         one read. Above 100 % several tasks wait at once.",
        nbuf::units::Nanos(nbuf::units::whole(service.read_seconds * 1e9)),
        service.reads,
    )
}

/// The whole report.
pub(crate) fn report(live: &LiveDocument, width: usize) -> String {
    let mut out = String::new();
    wrap_behind(&mut out, &answer(live), width, ["", " "]);
    // The answer begins the line.
    let mut out = out.trim_start().to_owned();
    if let Some(point) = &live.answer {
        wrap(&mut out, &parts(live, point), width);
        out += "\n";
        out += &paste(point, width);
    }
    if !live.points.is_empty() {
        out += "\n";
        out += &sheet(live).draw(width);
    }
    if let Some(probe) = &live.probe {
        out += "\n";
        if !probe.steps.is_empty() {
            out += &probe::sheet(probe).draw(width);
            out += "\n";
        }
        wrap_each(&mut out, probe::notes(probe), width);
    }
    out += "\n";
    wrap_each(&mut out, notes(live), width);
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::show::tests::fit;
    use nbuf::experiment::result::{LiveLonger, LiveMemory};

    pub(crate) fn document() -> LiveDocument {
        let point = |mib: u64, hit_ratio: f64| LivePoint {
            cache_bytes: Bytes(mib << 20),
            limit_bytes: Bytes((mib << 20) + (12 << 20) + 1),
            hit_ratio,
            misses_per_second: 2_000.0 * (1.0 - hit_ratio),
            ..LivePoint::default()
        };
        LiveDocument {
            seconds: 60.0,
            hit_target: 0.99,
            is_steady: true,
            accesses_per_second: 2_000.0,
            memory: LiveMemory { anonymous_bytes: Bytes((12 << 20) + 1), ..LiveMemory::default() },
            points: vec![point(10, 0.5), point(40, 0.995)],
            answer: Some(point(40, 0.995)),
            ..LiveDocument::default()
        }
    }

    #[test]
    fn the_answer_comes_first_and_can_be_pasted() {
        let shown = report(&document(), 80);
        assert!(
            shown.starts_with("53.0 MiB. Modelled from 60 s, not verified: 40.0 MiB"),
            "{shown}"
        );
        assert!(shown.contains("\n      memory: 53Mi\n"), "{shown}");
        assert!(!shown.contains("not steady"), "{shown}");
        fit([40, 80, 200], |width| report(&document(), width));
    }

    #[test]
    fn the_report_has_what_a_longer_window_would_show() {
        let with = |mib: u64| {
            let longer = LiveLonger { seconds: 120.0, known_bytes: Bytes(mib << 20) };
            report(&LiveDocument { longer: Some(longer), ..document() }, 200)
        };
        let more = with(60);
        assert!(
            more.contains(
                "A window of 120 s would show sizes up to about 60.0 MiB, instead of 40.0 MiB"
            ),
            "{more}"
        );
        assert!(with(41).contains("A window of 120 s would show no larger sizes"));
        assert!(!report(&document(), 200).contains("would show"));
    }

    #[test]
    fn the_table_has_a_row_for_each_doubling() {
        let points: Vec<LivePoint> = (0..40)
            .map(|step: u32| LivePoint {
                cache_bytes: Bytes(size(step)),
                hit_ratio: f64::from(step) / 40.0,
                ..LivePoint::default()
            })
            .collect();
        let live = LiveDocument { answer: Some(points[33]), points, ..document() };
        let rows: Vec<&LivePoint> = rows(&live).collect();
        assert!((9..=13).contains(&rows.len()), "{rows:?}");
        assert!(rows.contains(&&live.points[33]) && rows.contains(&&live.points[39]));
        assert!(rows.iter().all(|point| point.hit_ratio >= 0.01));
    }

    #[test]
    fn cache_that_buys_nothing_is_named_and_the_knee() {
        let mut live = document();
        assert!(!report(&live, 200).contains("buys nothing"));
        live.processes = 1;
        live.memory.is_charged = true;
        live.memory.cache_bytes = Bytes(100 << 20);
        live.knee_bytes = Some(Bytes(10 << 20));
        let text = report(&live, 200);
        let want = "The group holds 100 MiB of cache, and 60.0 MiB of it buys nothing; beyond 10.0 MiB (the";
        assert!(text.contains(want), "{text}");
    }

    fn size(step: u32) -> u64 {
        (64 << 12 << (step / 4)) * (4 + u64::from(step % 4)) / 4
    }

    #[test]
    fn without_an_answer_the_report_says_what_is_known() {
        let beyond = LiveDocument { answer: None, ..document() };
        assert!(report(&beyond, 80).starts_with("More than 40.0 MiB of cache"));
        let idle = LiveDocument { answer: None, points: vec![], ..document() };
        assert!(report(&idle, 80).starts_with("Cache buys nothing that 60 s could show"));
    }
}
