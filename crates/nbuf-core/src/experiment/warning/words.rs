//! The words of every warning.

use std::fmt::{self, Display, Formatter};

use super::Warning;
use crate::trace::Peer;
use crate::units::{Bytes, Nanos, count, listed};

const MULTI_GENERATIONAL: &str = "this kernel evicts by the multi-generational LRU: nbuf models its rules as read in \
    Linux 6.12, 6.16 and 7.3, and has compared them with few runs of a kernel";
const UNTIMED: &str = "the recording stopped the command at each of its system calls: its time is not estimated, \
    only measured in the runs that verify";
const NOTHING_TOUCHED: &str = "the command touched no pages of files in the page cache";
const NOT_REPEATABLE: &str = "the command is not repeatable: without a limit, it filled another number of pages than \
    in the recording (--prepare may reset what it changes)";
const TARGET_LEFT_OUT: &str = "--target is ignored: it needs the exact curve, without --sample";
const SAMPLE_TOO_THIN: &str = "the sample is too thin for any of the sizes: raise --sample";

impl Display for Warning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Bench(warning) => warning.fmt(f),
            Self::Curve(warning) => warning.fmt(f),
            Self::Fleet(warning) => warning.fmt(f),
            Self::Live(warning) => warning.fmt(f),
            Self::Load(warning) => warning.fmt(f),
            Self::Ping(warning) => warning.fmt(f),
            Self::Replay(warning) => warning.fmt(f),
            Self::Run(warning) => warning.fmt(f),
            Self::Trace(warning) => warning.fmt(f),
            Self::Watch(warning) => warning.fmt(f),
            Self::Uncached(files) => files.fmt(f),
            Self::WorkElsewhere { peer, others, cpu } => elsewhere(f, peer, *others, *cpu),
            Self::MultiGenerational => f.write_str(MULTI_GENERATIONAL),
            Self::Mapped { share, is_forced } => mapped(f, *share, *is_forced),
            Self::Written { share } => write!(
                f,
                "{:.0} % of the pages were written to: a limit makes the kernel write them back sooner and \
                 more often. nbuf predicts fills, but neither these writes nor their time",
                share * 100.0
            ),
            Self::Untimed => f.write_str(UNTIMED),
            Self::NothingTouched => f.write_str(NOTHING_TOUCHED),
            Self::OtherMemoryVaries { low_bytes, high_bytes, raised_bytes } => {
                varies(f, [*low_bytes, *high_bytes], *raised_bytes)
            }
            Self::SizesItself { program, setting } => sizes_itself(f, program, setting),
            Self::Unreachable { share } => unopened(f, *share),
            Self::MemoryShort { total_bytes, needed_bytes } => write!(
                f,
                "the machine, or a group around the command, has only {total_bytes} of memory, and the \
                 command touches {needed_bytes}: a run without a limit has that limit, and larger ones are \
                 predicted, not verified"
            ),
            Self::NotRepeatable => f.write_str(NOT_REPEATABLE),
            Self::RunsMissing { signal } => {
                write!(f, "interrupted by signal {signal} before every run was made")
            }
            other => other.of_trace(f),
        }
    }
}

impl Warning {
    /// The words of a warning about a trace that was read.
    fn of_trace(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::CountCut { allowed_bytes, remedy } => write!(
                f,
                "{allowed_bytes} of memory is too little to tell all distinct pages or keys apart: there \
                 are more than is said; {remedy}"
            ),
            Self::ReadingEnded { is_again, requests } => {
                let what = if *is_again { "reading the trace again" } else { "reading" };
                write!(
                    f,
                    "{what} was interrupted after {}",
                    count(*requests, "request", "requests")
                )
            }
            Self::PoliciesLeftOut { policies, changed } => left_out(f, policies, *changed),
            Self::PoliciesOfPages { policies } => of_pages(f, policies),
            Self::TargetLeftOut => f.write_str(TARGET_LEFT_OUT),
            Self::SampleTooThin => f.write_str(SAMPLE_TOO_THIN),
            Self::Unplaced { requests } => write!(
                f,
                "ignored: {} past the largest address, or longer than 4 Mi pages",
                count(*requests, "request", "requests")
            ),
            other => other.of_comparison(f),
        }
    }

    /// The words of a warning about two documents of `size`.
    fn of_comparison(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandsDiffer { a, b } => write!(f, "the commands differ: `{a}` and `{b}`"),
            Self::ReadaheadDiffers { a, b } => write!(
                f,
                "the devices differ in readahead, {a} and {b}: this alone changes the fills"
            ),
            Self::CapturesDiffer { a, b } => {
                write!(f, "the captures differ, {a} and {b}: this alone changes the fills")
            }
            Self::BothFailed { status } => write!(f, "both commands ended with status {status}"),
            Self::EventsLost { which, lost } => {
                write!(f, "{which} lost {lost} events: its figures are too low")
            }
            Self::LowerBound { which } => {
                write!(f, "the curve of {which} is a lower bound of the need")
            }
            Self::OutOfBand { which } => write!(f, "the fills of {which} were out of band"),
            // The others have words above.
            _ => Ok(()),
        }
    }
}

fn elsewhere(f: &mut Formatter<'_>, peer: &Peer, others: usize, own: Nanos) -> fmt::Result {
    let Peer { pid, name, address, cpu_ns } = peer;
    let server = if name.is_empty() { "SERVER" } else { name.as_str() };
    let is_most = cpu_ns.is_some_and(|cpu_ns| cpu_ns > own.0);
    f.write_str(if is_most { "most work was done by " } else { "work was done by " })?;
    match pid {
        Some(pid) => write!(f, "{server} (process {pid})")?,
        None => f.write_str("a server that nbuf may not look at")?,
    }
    if others > 0 {
        write!(f, " and {}", count(others as u64, "other server", "other servers"))?;
    }
    if !address.is_empty() {
        write!(f, ", to which the command was connected at {address}")?;
    }
    if let Some(cpu_ns) = *cpu_ns {
        write!(f, ": {} of processor time, and {own} by the command", Nanos(cpu_ns))?;
    }
    write!(
        f,
        "; no server that ran before is recorded, or held by a limit on the command. To size it, let nbuf \
         start it with this command as its load: `nbuf size -- {server} ...`, or a script that starts both"
    )
}

fn sizes_itself(f: &mut Formatter<'_>, program: &str, setting: &str) -> fmt::Result {
    write!(
        f,
        "{program} chooses its memory by the limit that it sees: fix it ({setting}) before you take a size \
         from here"
    )
}

fn varies(f: &mut Formatter<'_>, [low, high]: [Bytes; 2], raised: Bytes) -> fmt::Result {
    write!(
        f,
        "other memory was {low} in one run and {high} in another: the limit is {raised} higher than the one \
         that was run"
    )
}

fn mapped(f: &mut Formatter<'_>, share: f64, is_forced: bool) -> fmt::Result {
    let advice = if is_forced { "" } else { ": the recording alone gives no size" };
    write!(
        f,
        "{:.0} % of the pages were touched through mappings, where nbuf sees only the first touch: the \
         curve is a lower bound of the need{advice}",
        share * 100.0
    )
}

fn unopened(f: &mut Formatter<'_>, share: f64) -> fmt::Result {
    write!(
        f,
        "{:.0} % of the pages belong to files that nbuf cannot open by name, such as files of a \
         container. Before a run they stay in the page cache, and the run fills fewer pages than \
         predicted (inside, --capture calls has their names; outside, --prepare can drop them)",
        share * 100.0
    )
}

/// Policies that have no rule for objects.
fn of_pages(f: &mut Formatter<'_>, policies: &[String]) -> fmt::Result {
    let policies = policies.join(", ");
    write!(f, "left out: {policies}, which divide their caches by a number of pages")
}

fn left_out(
    f: &mut Formatter<'_>,
    policies: &[String],
    changed: Option<(u64, u64)>,
) -> fmt::Result {
    let verb = if policies.len() == 1 { "is" } else { "are" };
    write!(f, "{} {verb} left out: ", listed(policies))?;
    let Some((first, last)) = changed else {
        return f.write_str("the second reading was interrupted");
    };
    write!(
        f,
        "the trace changed while it was read; it had {} at first, and {} later",
        count(first, "request", "requests"),
        count(last, "request", "requests")
    )
}
