//! The model of a disc against five real ones, about ten thousand measured requests each.
//!
//! The measurements are not part of the repository: they are looked for in `../shared/discs` beside it, or
//! in the folder that `NBUF_DISCS` names, and the test says aloud when they are absent.

mod blocks;
mod compare;
mod drives;
mod replay;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;

use proptest::prelude::*;

use compare::{Row, compare, folder};
use support::skip;

/// How much farther off than `DiskSim` the model may be, and on how many of the drives.
const WORSE_MAX: f64 = 1.5;
const DRIVES_MIN: usize = 4;

#[test]
fn the_model_is_right_about_real_drives() {
    let folder = folder();
    if !folder.is_dir() {
        return skip("no measured drives beside the repository, nor where NBUF_DISCS says");
    }
    let rows = compare(&folder).unwrap();
    assert_eq!(rows.len(), 5);
    let near = |row: &&Row| row.rms_ms <= WORSE_MAX * row.disksim_rms_ms;
    assert!(rows.iter().filter(near).count() >= DRIVES_MIN, "{rows:#?}");
    for row in &rows {
        let off = row.model_mean_ms / row.mean_ms - 1.0;
        assert!(row.requests > 7_000 && off.abs() < 0.05, "{}: {off}", row.drive);
    }
}

/// Each row stands in the document as it is in the table.
#[test]
fn the_document_lists_the_discs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/discs.md");
    let document = std::fs::read_to_string(path).unwrap();
    for row in nbuf::disc::DISCS {
        let mut bytes = row.size_bytes.to_string();
        for at in
            (1..bytes.len()).rev().filter(|at| (row.size_bytes.to_string().len() - at) % 3 == 0)
        {
            bytes.insert(at, ',');
        }
        let line = format!("| `{}` | {} | {bytes} | {} |", row.name, row.summary, row.source);
        assert!(document.contains(&line), "docs/discs.md lacks: {line}");
    }
}

/// The distance between distributions, where it is known without a computer.
#[test]
fn the_demerit_figure_is_the_horizontal_distance() {
    use nbuf::units::Nanos;
    let ms = |times: &[u64]| times.iter().map(|&ms| Nanos(ms * 1_000_000)).collect::<Vec<_>>();
    let check = |one: &[u64], other: &[u64], want: f64| {
        let got = replay::rms_ms(&ms(one), &ms(other));
        assert!((got - want).abs() < 1e-9, "{got} for {want}");
    };
    check(&[1, 2, 3], &[3, 1, 2], 0.0);
    check(&[1, 2, 3], &[2, 3, 4], 1.0);
    check(&[0, 0, 0, 0], &[0, 0, 0, 2], 1.0);
    assert!(replay::rms_ms(&[], &ms(&[1])).is_nan());
}

proptest! {
    /// No file of parameters, seeks or requests panics, however it is cut or written over.
    #[test]
    fn no_input_panics(text in "[ -~\n]{0,300}", cut in 0..400_usize, from in 0..400_usize) {
        let model = "drive D { # a\n Number of data surfaces = 2, Number of cylinders = 9,\n \
            Layout Model = l { Sparing scheme used = 9, Zones = [ z { First cylinder number = 0, \
            Last cylinder number = 8, Blocks per track = 7, Offset of first block = 0.5, Empty space \
            at zone front = 3, Skew for track switch = 1, Skew for cylinder switch = 2, Number of \
            spares = 4, slips = [ 1, 5 ], defects = [] } ] },\n Mechanical Model = m { Head switch \
            time = 1.0, Rotation speed (in rpms) = 5400, Add. write settling delay = -0.5 } }";
        let whole = drives::DRIVES[0].drive(model, "1, 2.0\n8, 9.0").unwrap();
        prop_assert_eq!(whole.geometry.sectors(), 9 * 2 * 7 - 3 - 4);
        let mut broken = model.to_owned();
        broken.truncate(cut);
        let at = from.min(broken.len());
        broken.insert_str(at, &text);
        if let Some(drive) = drives::DRIVES[0].drive(&broken, &text) {
            let _ = replay::replay(&drive, &replay::parse(&format!("{text}\nR Hit 3 4 1.0 2.0")));
        }
    }
}
