//! The files that `nbuf size` was asked for: none is overwritten, and one that cannot be written is
//! told of without costing the rest.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use nbuf::experiment::result::SizeReport;
use nbuf::experiment::size::Analysis;
use nbuf::sys::files;
use nbuf::sys::publish::Readers;
use nbuf::units::Bytes;

use super::Args;
use super::workload::Workload;
use crate::output::{must_be_possible, write_new};
use crate::shell;
use crate::show::{html, picture};
use crate::voice::{detail, note};

/// Refuses names that cannot be taken, before anything is run.
pub(super) fn check(args: &Args) -> Result<()> {
    let files = [(&args.output, "-o"), (&args.svg, "--svg"), (&args.html, "--html")];
    let mut taken: Vec<&Path> = Vec::new();
    for (file, option) in files {
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
    if files::descriptor(file).is_some() {
        return Ok(());
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = canonical(parent.unwrap_or(Path::new(".")))?;
    // What is wrong with --data is told by who uses it.
    if canonical(data).is_ok_and(|data| parent.starts_with(data)) {
        bail!(
            "{} would be on the private disc and go with it; give a place outside of {} with {option}",
            file.display(),
            data.display()
        );
    }
    Ok(())
}

/// Where a directory really is, as far as the caller may see.
fn canonical(directory: &Path) -> Result<PathBuf> {
    let open = files::directory(directory)?;
    Ok(std::fs::read_link(format!("/proc/self/fd/{}", open.as_raw_fd()))?)
}

/// Writes the picture and the page.
pub(super) fn write(
    args: &Args,
    analysis: &Analysis,
    report: &SizeReport,
    workload: &Workload<'_>,
) {
    if let Some(path) = &args.svg {
        put(path, "--svg", &svg(analysis, report), workload);
    }
    if let Some(path) = &args.html
        && put(path, "--html", &html::page(report, &analysis.detail()), workload)
    {
        note(format_args!("the page is {}", path.display()));
    }
}

fn put(path: &Path, option: &str, text: &str, workload: &Workload<'_>) -> bool {
    let written =
        write_new(path, option, Readers::Owner, |mut file| Ok(file.write_all(text.as_bytes())?));
    if let Err(error) = written {
        let name = path.display();
        workload.broke(&error.context(format!("there is no {name} (another place: {option})")));
        return false;
    }
    detail(format_args!("{} has {} bytes", path.display(), text.len()));
    true
}

fn svg(analysis: &Analysis, report: &SizeReport) -> String {
    let finished = report.verify.iter().filter(|run| run.held.is_some());
    let measured: Vec<(Bytes, u64)> =
        finished.map(|run| (run.cache_bytes, run.measured_fills)).collect();
    let title = shell::line(&report.command);
    picture::svg(&title, &analysis.curve, report.recommend.as_ref(), &measured)
}
