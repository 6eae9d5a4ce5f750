//! The measured drives and the model, drive by drive.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nbuf::units::Nanos;

use super::drives::DRIVES;
use super::replay::{Measured, parse, replay, rms_ms};

/// What came out for a drive.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) drive: &'static str,
    pub(crate) requests: usize,
    pub(crate) mean_ms: f64,
    pub(crate) model_mean_ms: f64,
    pub(crate) rms_ms: f64,
    pub(crate) disksim_rms_ms: f64,
}

/// Where the measurements are: the folder that `NBUF_DISCS` names, or `shared/discs` beside the repository.
pub(crate) fn folder() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/discs");
    std::env::var_os("NBUF_DISCS").map_or(beside, PathBuf::from)
}

/// Every drive whose files are in the folder.
pub(crate) fn compare(folder: &Path) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for published in &DRIVES {
        let read = |ending| fs::read_to_string(folder.join(format!("{}.{ending}", published.name)));
        let (model, seek, trace) = (read("model")?, read("seek")?, read("trace")?);
        let Some(drive) = published.drive(&model, &seek) else {
            return Err(io::Error::other(format!("{}.model is not understood", published.name)));
        };
        let measured = parse(&trace);
        let modelled = replay(&drive, &measured);
        let took: Vec<Nanos> = measured.iter().map(|Measured { took, .. }| *took).collect();
        rows.push(Row {
            drive: published.drive,
            requests: measured.len(),
            mean_ms: mean_ms(&took),
            model_mean_ms: mean_ms(&modelled),
            rms_ms: rms_ms(&modelled, &took),
            disksim_rms_ms: published.disksim_rms_ms,
        });
    }
    Ok(rows)
}

fn mean_ms(times: &[Nanos]) -> f64 {
    times.iter().map(|time| time.millis()).sum::<f64>() / times.len() as f64
}
