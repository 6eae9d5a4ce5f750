//! The words of every notice and question.

use std::fmt::{self, Display, Formatter};

use super::probe::Planned;
use super::{NotTimed, Notice, Question, Streams, causes};
use crate::experiment::result::{SearchOutcome, SearchRun};
use crate::units::{count, listed};
use crate::workload::command::Input;
use crate::workload::record::traced;

const LAYERS_HIDDEN: &str = "recording by system calls: the layers of this overlay are hidden, as in a container, \
    and tracepoints would give its files no names (--capture perf)";
const RECORDING_TIMED_OUT: &str = "the time is up: recording stops, and nothing is verified";
const RECORDING_INTERRUPTED: &str = "interrupted: recording stops, and nothing is verified";
const TERMINAL_USED: &str = "not verified: the command used the terminal, which another run cannot; give it a file \
    to read (`< FILE`), which every run gets, or use -y to run it all the same";

impl Display for Notice<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftoverRemoved(path) => {
                write!(f, "removed what a killed nbuf left behind: {}", path.display())
            }
            Self::LayersHidden => f.write_str(LAYERS_HIDDEN),
            Self::TracepointsClosed(error) => {
                write!(f, "recording by system calls, because tracepoints are closed: {error}")
            }
            Self::BlindSpots => f.write_str(traced::BLIND_SPOTS),
            Self::Recorded { records, files } => {
                write!(f, "recorded: {records} records of {files} files")
            }
            Self::StoppedEnded(processes) => write!(
                f,
                "killed {} of the command that stayed stopped after its end: nothing would continue them",
                count((*processes).into(), "process", "processes")
            ),
            Self::Container => f.write_str(
                "sizing the container; its engine runs outside the limit and is not counted",
            ),
            Self::NoGroup(error) => {
                write!(f, "nothing will be verified: {error}; run `nbuf doctor` to see what works")
            }
            Self::RecordingTimedOut => f.write_str(RECORDING_TIMED_OUT),
            Self::RecordingInterrupted => f.write_str(RECORDING_INTERRUPTED),
            Self::NotStarted(status) => write!(
                f,
                "the command ended with status {status}, as if its work never began (a missing program, or \
                 no daemon): nothing is verified"
            ),
            Self::CommandFailed(status) => {
                write!(f, "the command ended with status {status}; nbuf sizes it all the same")
            }
            Self::NotTimed(why) => why.fmt(f),
            Self::TimingFailed(error) => write!(f, "not timed: {}", causes(*error)),
            Self::CurveFirst => f.write_str(
                "interrupted: computing the curve first; interrupt again to end at once",
            ),
            Self::NothingVerified => f.write_str("interrupted: nothing is verified"),
            Self::Left(left) => {
                write!(f, "not verified: {} left the cgroup of the command", left.name)
            }
            Self::TerminalUsed => f.write_str(TERMINAL_USED),
            Self::FillsUncounted(why) => write!(
                f,
                "not verified: {why}; without the kernel's tracepoints only reads into the page cache can \
                 be counted; run `nbuf doctor` to see what would open them"
            ),
            Self::VerificationDeclined => f.write_str("not verified"),
            Self::TimeUp { done, of } => write!(f, "the time is up: {done} of {of} runs made"),
            Self::RunsInterrupted { done, of } => {
                write!(f, "interrupted: {done} of {of} runs made")
            }
            Self::Searched(run) => searched(run, f),
            Self::LimitRefused(error) => write!(f, "{error}; no run under it"),
            Self::RunEnded(run) => {
                match run.limit_bytes {
                    Some(limit) => write!(f, "under {limit}")?,
                    None => f.write_str("without a limit")?,
                }
                let (low, high) = (run.predicted_fills_low, run.predicted_fills_high);
                write!(f, ": {low} to {high} fills predicted, {} measured", run.measured_fills)
            }
            other => other.of_trace(f),
        }
    }
}

/// What a run of a search showed.
fn searched(run: &SearchRun, f: &mut Formatter<'_>) -> fmt::Result {
    match run.limit_bytes {
        Some(limit) => write!(f, "under {limit}: ")?,
        None => f.write_str("without a limit: ")?,
    }
    let fills = run.fills;
    match run.outcome {
        SearchOutcome::Enough if run.limit_bytes.is_none() => write!(f, "{fills} fills"),
        SearchOutcome::Enough => write!(f, "{fills} fills, enough"),
        SearchOutcome::TooManyFills => write!(f, "{fills} fills, too small"),
        SearchOutcome::TooSlow => write!(f, "{:.2} s, too small", run.seconds),
        SearchOutcome::Stalled => {
            write!(
                f,
                "waited for memory in {:.1} % of the time, too small",
                run.stall_share() * 100.0
            )
        }
        SearchOutcome::Stopped => write!(f, "stopped after {fills} fills, too small"),
        SearchOutcome::Killed => f.write_str("OOM-killed, too small"),
        SearchOutcome::Failed => f.write_str("the command failed, too small"),
    }
}

impl Notice<'_> {
    /// The words of a notice about a trace.
    fn of_trace(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detected { input, detected } => write!(f, "{input}: {detected}"),
            Self::MemoryPer { bytes, what, allowed } => write!(
                f,
                "memory: about {bytes} bytes a distinct {what}, none an access; {allowed} at most"
            ),
            Self::Surveying => f.write_str("reading the trace, to find where its files are"),
            Self::DiscCreated { path, bytes } => {
                write!(f, "created {}, of {bytes}; it stays", path.display())
            }
            Self::Replayed { size_units, elapsed } => {
                write!(f, "{size_units} units: {} s", elapsed.seconds())
            }
            Self::ReadingAgain => f.write_str("reading the trace again"),
            Self::Distinct { count: number, what } => f.write_str(&count(
                *number,
                &format!("distinct {what}"),
                &format!("distinct {what}s"),
            )),
            Self::BandWidth { rate, points } => {
                write!(f, "at a rate of {rate} the widest band is ±{points:.2} points")
            }
            Self::Path(notice) => notice.fmt(f),
            Self::Serve(notice) => notice.fmt(f),
            Self::Fleet(notice) => notice.fmt(f),
            Self::Probe(notice) => notice.fmt(f),
            Self::Guest(notice) => notice.fmt(f),
            // The others have words above.
            _ => Ok(()),
        }
    }
}

impl Display for NotTimed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipe => {
                f.write_str("not timed: a pipe cannot be read twice (a file can: `< FILE`)")
            }
            Self::Declined => f.write_str("not timed, and nothing will be verified"),
            Self::Interrupted => f.write_str("interrupted: the time it takes is unknown"),
            Self::TimeUp => f.write_str("not timed: the time was up before it had ended"),
            Self::Status(status) => {
                write!(f, "not timed: it ended with status {status}, unlike the recording")
            }
        }
    }
}

impl Display for Question<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(streams) => write!(
                f,
                "Timing: running the command once more, because recording by system calls made it \
                 slower; {streams}"
            ),
            &Self::Probe { directory, before, limits, hold, back, pressure_max, may_kill } => {
                Planned { directory, before, limits, hold, back, pressure_max, may_kill }.fmt(f)
            }
            Self::Search { runs, streams } => write!(
                f,
                "Measuring: running the command at most {runs} more times, under limits that close in on the \
                 smallest one that is enough. Before each run its files are dropped from the page cache; \
                 {streams}"
            ),
            Self::Verify { runs, samples, limits, run, is_timed, streams } => {
                let limits: Vec<String> = limits
                    .iter()
                    .map(|(limit, has_room)| {
                        format!("{limit}{}", if *has_room { "" } else { " (no room for a cache)" })
                    })
                    .collect();
                let when = if *is_timed { "timed" } else { "recorded" };
                let least = run.saturating_mul(u32::try_from(*runs).unwrap_or(u32::MAX));
                let (each, in_all) = match samples {
                    1 => (String::new(), String::new()),
                    times => (
                        format!(", each {times} times"),
                        format!(", {:.0} s or more in all", least.as_secs_f64()),
                    ),
                };
                let times = if *runs == 1 { "1 more time" } else { &format!("{runs} more times") };
                let limited = match &limits[..] {
                    [] => String::new(),
                    some => format!(", and with its memory limited to {}{each}", listed(some)),
                };
                write!(
                    f,
                    "Verifying: running the command {times} ({:.1} s when {when}{in_all}), in random \
                     order: without a limit{limited}. Before each run its files are dropped from the page \
                     cache; {streams}",
                    run.as_secs_f64(),
                )
            }
        }
    }
}

impl Display for Streams {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let input = match self.input {
            Input::File { .. } => "the same file again",
            Input::Stream => {
                "/dev/null, because a pipe cannot be read twice (a file can: `< FILE`)"
            }
            Input::Terminal if self.used_terminal => "/dev/null instead of the terminal",
            Input::Terminal | Input::Nothing => "/dev/null",
        };
        let output = if self.to_file {
            "goes to an unnamed file next to the first one"
        } else {
            "is discarded"
        };
        write!(f, "its input is {input} and its output {output}")
    }
}
