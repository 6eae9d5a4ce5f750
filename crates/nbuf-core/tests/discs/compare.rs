//! The measured drives and the model, drive by drive.

use std::path::{Path, PathBuf};

use nbuf::internal::disc::model::Model;
use nbuf::internal::disc::model::drive::Drive;
use nbuf::units::Nanos;

use super::replay::{Measured, parse, replay, rms_ms};

/// What came out for a drive.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) drive: String,
    pub(crate) requests: usize,
    pub(crate) mean_ms: f64,
    pub(crate) model_mean_ms: f64,
    pub(crate) rms_ms: f64,
    pub(crate) disksim_rms_ms: f64,
}

/// A drive that was measured: the name of its files, its row of the table of discs, and what `DiskSim` is off by its
/// own `runvalid`, in milliseconds.
pub(crate) struct Validated {
    pub(crate) files: &'static str,
    pub(crate) row: &'static str,
    pub(crate) disksim_rms_ms: f64,
}

/// Those whose measurements are looked for.
pub(crate) const VALIDATED: [Validated; 5] = [
    Validated { files: "cheetah9LP", row: "seagate-st39102lw", disksim_rms_ms: 0.107 },
    Validated { files: "barracuda", row: "seagate-st32171w", disksim_rms_ms: 0.349 },
    Validated { files: "dec_rz26", row: "dec-rz26", disksim_rms_ms: 0.340 },
    Validated { files: "hp_c2490a", row: "hp-c2490a", disksim_rms_ms: 0.254 },
    Validated { files: "hp_c3323a", row: "hp-c3323a", disksim_rms_ms: 0.306 },
];

/// Where the measurements are: the folder that `NBUF_DISCS` names, or `shared/discs` next to the repository.
pub(crate) fn folder() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/discs");
    std::env::var_os("NBUF_DISCS").map_or(beside, PathBuf::from)
}

/// A drive against the requests of a trace.
pub(crate) fn against(name: &str, drive: &Drive, trace: &str, disksim_rms_ms: f64) -> Row {
    let measured = parse(trace);
    let modelled = replay(Model::new(drive.clone()), &measured);
    let took: Vec<Nanos> = measured.iter().map(|Measured { took, .. }| *took).collect();
    Row {
        drive: name.to_owned(),
        requests: measured.len(),
        mean_ms: mean_ms(&took),
        model_mean_ms: mean_ms(&modelled),
        rms_ms: rms_ms(&modelled, &took),
        disksim_rms_ms,
    }
}

fn mean_ms(times: &[Nanos]) -> f64 {
    times.iter().map(|time| time.millis()).sum::<f64>() / times.len() as f64
}
