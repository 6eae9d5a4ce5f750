//! The window of the lost wakeup: the assembly at other speeds of the pack's controller.

use std::path::PathBuf;

use nbuf::experiment::session::Session;
use serde::{Deserialize, Serialize};

use super::guest::Images;
use super::images;
use super::result::{ScanDocument, ScanRow};
use super::stages::{self, StageError};
use super::sweep::{ALL, Error, Step, with_steps};
use crate::timing::{HOST_MIPS, Timing};

/// The spec of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The folder with the images.
    pub images: PathBuf,
    /// The number of buffers.
    pub buffers: u16,
    /// The million instructions of SIMH's host in a second.
    pub host_mips: u64,
    /// The units of the controller for a command.
    pub rk_units: Vec<u64>,
}

impl Default for Spec {
    fn default() -> Self {
        let images = PathBuf::from(".");
        Self { images, buffers: 1, host_mips: HOST_MIPS, rk_units: Vec::new() }
    }
}

/// Runs the assembly at each speed of the pack's controller, under SIMH's timing. A signal ends it early.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<ScanDocument, Error> {
    let images = images::read(&spec.images)?;
    let rows = with_steps(session, spec.rk_units.len() + 1, |step| scan_all(spec, &images, step))?;
    Ok(ScanDocument { schema: ScanDocument::SCHEMA.to_owned(), nbuf: spec.buffers, rows })
}

fn scan_all(spec: &Spec, images: &Images, step: Step<'_>) -> Result<Vec<ScanRow>, StageError> {
    let nbuf = spec.buffers;
    let mut rows = Vec::new();
    if !step("the guest assembles its kernels") {
        return Ok(rows);
    }
    let installed = stages::install(&stages::build(images, ALL, &mut |_| ())?, nbuf)?;
    for &units in &spec.rk_units {
        if !step(&format!("rk-time {units}")) {
            break;
        }
        let timing = Timing::simh(spec.host_mips, units);
        let sample = stages::assemble(&installed, nbuf, &timing)?;
        let seconds = sample.ticks as f64 / timing.second_ticks as f64;
        let lost_wakeups = sample.buffers.is_ok().then_some(sample.lost_wakeups);
        rows.push(ScanRow { rk_units: units, seconds, lost_wakeups });
    }
    Ok(rows)
}
