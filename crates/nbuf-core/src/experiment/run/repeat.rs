//! The same command several times, so that the noise of its figures is known.

use std::os::fd::OwnedFd;

use super::{Error, Spec, once};
use crate::experiment::result::{RunDocument, Warning};
use crate::experiment::session::Session;
use crate::experiment::warning::RunWarning;
use crate::workload::command::Input;

/// Runs the command as often as the spec says, and gives the run in the middle by real time with the
/// figures of all. A signal ends it early: whole runs are in the document.
pub(super) fn repeat(spec: &Spec, session: &Session<'_>) -> Result<RunDocument, Error> {
    let input = Input::ours();
    let mut ran: Vec<RunDocument> = Vec::new();
    let mut interrupted = None;
    for run in 1..=spec.runs {
        // Every run has the same input, the first among them.
        let again: OwnedFd = input.again().map_err(Error::Input)?;
        let timeline = spec.timeline && run == 1;
        let one = once(&Spec { timeline, ..spec.clone() }, session, Some(again))?;
        if let Some(signal) = one.interrupted {
            session.cancellation.note(signal);
            interrupted = Some((signal, one));
            break;
        }
        let first = ran.first().map_or(one.exit_status, |first| first.exit_status);
        if one.exit_status != first {
            let (status, run) = (one.exit_status, usize::from(run));
            return Err(Error::Status { first, status, run });
        }
        ran.push(one);
    }
    let samples = ran.iter().map(RunDocument::sample).collect();
    let mut document = match (middle(ran), &interrupted) {
        (Some(middle), _) => middle,
        (None, Some((_, cut))) => cut.clone(),
        (None, None) => RunDocument::default(),
    };
    document.runs = samples;
    if let Some((signal, cut)) = interrupted {
        document.interrupted = Some(signal);
        document.signal = cut.signal;
        let (whole, runs) = (document.runs.len() as u64, spec.runs.into());
        document.notes.push(Warning::Run(RunWarning::RunsMissing { whole, runs }));
    }
    if input == Input::Stream {
        document.notes.push(Warning::Run(RunWarning::InputOnce));
    }
    Ok(document)
}

fn middle(mut ran: Vec<RunDocument>) -> Option<RunDocument> {
    ran.sort_by(|a, b| a.real_seconds.total_cmp(&b.real_seconds));
    let middle = ran.len().checked_sub(1)? / 2;
    Some(ran.swap_remove(middle))
}
