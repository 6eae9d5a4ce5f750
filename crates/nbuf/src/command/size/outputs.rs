//! The files that the user requests from `nbuf size`: it overwrites none, and reports one that it
//! cannot write without losing the rest.

use std::io::Write;
use std::path::Path;

use anyhow::{Error, Result, bail};
use nbuf::experiment::output::{Readers, is_descriptor, real_directory, write_trace};
use nbuf::experiment::result::SizeReport;
use nbuf::experiment::session::Trace;

use super::Args;
use crate::fail::{chain, say};
use crate::output::{must_be_possible, unwrapped, write_new};
use crate::shell;
use crate::show::report as shown;
use crate::verbosity::{detail, note};

/// Refuses names that cannot be taken, before anything is run.
pub(super) fn check(args: &Args) -> Result<()> {
    let report = args.output.as_ref().filter(|path| path.as_os_str() != "-").cloned();
    let files = [
        (&args.trace_out, "--trace-out"),
        (&report, "-o"),
        (&args.svg, "--svg"),
        (&args.html, "--html"),
    ];
    let mut taken: Vec<&Path> = Vec::new();
    for (file, option) in &files {
        let Some(file) = file else { continue };
        must_be_possible(file, option)?;
        must_outlive(file, option, args)?;
        if taken.contains(&file.as_path()) {
            bail!("{} cannot be two files; give another name with {option}", file.display());
        }
        taken.push(file);
    }
    Ok(())
}

/// Refuses files on the private disc, which goes with us.
fn must_outlive(file: &Path, option: &str, args: &Args) -> Result<()> {
    let (Some(data), Some(_)) = (&args.data, args.loop_size) else { return Ok(()) };
    if is_descriptor(file) {
        return Ok(());
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = real_directory(parent.unwrap_or(Path::new(".")))?;
    // The code that uses --data reports its errors.
    if real_directory(data).is_ok_and(|data| parent.starts_with(data)) {
        bail!(
            "{} would be on the private disc, which nbuf removes; give a place outside of {} with {option}",
            file.display(),
            data.display()
        );
    }
    Ok(())
}

/// Writes the trace where it is wanted. Whether that worked: a failure does not cost the report.
pub(super) fn keep(args: &Args, trace: &Trace) -> bool {
    let Some(path) = &args.trace_out else { return true };
    match write_trace(trace, path, "--trace-out") {
        Ok(()) => note(format_args!("the trace is {}", path.display())),
        Err(error) => return missing(&unwrapped(error), path),
    }
    true
}

/// Writes the picture and the page. Whether both are there.
pub(super) fn write(args: &Args, report: &SizeReport) -> bool {
    let mut whole = true;
    if let Some(path) = &args.svg {
        whole &= put(path, "--svg", &svg(report));
    }
    if let Some(path) = &args.html {
        let written = put(path, "--html", &shown::page(report, &report.detail()));
        if written {
            note(format_args!("the page is {}", path.display()));
        }
        whole &= written;
    }
    whole
}

fn put(path: &Path, option: &'static str, text: &str) -> bool {
    let written =
        write_new(path, option, Readers::Owner, |mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => detail(format_args!("{} has {} bytes", path.display(), text.len())),
        Err(error) => return missing(&error, path),
    }
    true
}

/// The error names the option that gives another place.
fn missing(error: &Error, path: &Path) -> bool {
    say(format!("there is no {}: {}", path.display(), chain(error)));
    false
}

fn svg(report: &SizeReport) -> String {
    shown::picture(&shell::line(&report.command), report)
}
