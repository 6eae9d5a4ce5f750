//! The model of a disc against five real ones, about ten thousand measured requests each.
//!
//! The measurements are not part of the repository: they are looked for in `../shared/discs` next to it, or
//! in the folder that `NBUF_DISCS` names, and the test says aloud when they are absent.

mod compare;
mod replay;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;

use compare::{Row, VALIDATED, against, folder};
use nbuf::disc::described;
use nbuf::disc::{UnknownDisc, named};
use nbuf::internal::disc::model::drive::Drive;
use support::skip;

/// How much farther off than `DiskSim` the model may be, on each of the drives.
const WORSE_MAX: f64 = 1.5;

#[test]
fn the_model_is_right_about_real_drives() {
    let folder = folder();
    if !folder.is_dir() {
        return skip("no measured drives beside the repository, nor where NBUF_DISCS says");
    }
    for validated in &VALIDATED {
        let row = against_trace(&folder, validated.files, validated.row, validated.disksim_rms_ms);
        assert!(row.rms_ms <= WORSE_MAX * row.disksim_rms_ms, "{row:#?}");
        let off = row.model_mean_ms / row.mean_ms - 1.0;
        assert!(row.requests > 7_000 && off.abs() < 0.05, "{}: {off}", row.drive);
    }
}

fn against_trace(folder: &Path, files: &str, row: &str, disksim_rms_ms: f64) -> Row {
    let trace = std::fs::read_to_string(folder.join(format!("{files}.trace"))).unwrap();
    against(row, named(row).unwrap().drive().unwrap(), &trace, disksim_rms_ms)
}

/// The rows say what the files of `DiskSim` do of where sectors lie and how the arm moves.
#[test]
fn a_model_file_has_the_mechanism_of_its_row() {
    let folder = folder();
    if !folder.is_dir() {
        return skip("no measured drives beside the repository, nor where NBUF_DISCS says");
    }
    for validated in &VALIDATED {
        let path = folder.join(format!("{}.model", validated.files));
        let drive = described(&path).unwrap().drive().unwrap();
        let row = named(validated.row).unwrap();
        let row = row.drive().unwrap();
        assert_eq!((&drive.geometry, &drive.seek), (&row.geometry, &row.seek), "{}", validated.row);
        let moves = |drive: &Drive| (drive.rotation, drive.head_switch, drive.write_settle_ns);
        assert_eq!(moves(&drive), moves(row), "{}", validated.row);
        let asked = named(&format!("{}:mean", path.display())).unwrap();
        assert_eq!(asked.size_bytes(), named(validated.row).unwrap().size_bytes());
    }
}

/// A file that is named and not there is said, with the line that names it.
#[test]
fn a_file_beside_a_file_is_read_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let model = "dm_disk D {\n Number of data surfaces = 1,\n Layout Model = dm_layout_g1 {\n LBN-to-PBN \
                 mapping scheme = 0, Sparing scheme used = 0, Zones = [ z { First cylinder number = 0, Last \
                 cylinder number = 9, Blocks per track = 8 } ] },\n Mechanical Model = dm_mech_g1 {\n Seek type = \
                 extracted,\n Full seek curve = other.seek, Rotation speed (in rpms) = 5400 } }";
    let path = folder.path().join("mine.model");
    std::fs::write(&path, model).unwrap();
    let asked = path.to_str().unwrap();
    let said = named(asked).unwrap_err();
    assert!(matches!(said, UnknownDisc::Described { .. }), "{said}");
    let said = said.to_string();
    assert!(said.contains("line 7: cannot open") && said.contains("other.seek"), "{said}");
    std::fs::write(folder.path().join("mine.seek"), "Seek distances measured: 2\n1, 2.0\n9, 4.0\n")
        .unwrap();
    let choice = named(asked).unwrap();
    assert_eq!((choice.name(), choice.size_bytes()), (asked, 10 * 8 * 512));
    std::fs::write(folder.path().join("mine.seek"), "1, 2.0\nnine\n").unwrap();
    let said = named(asked).unwrap_err().to_string();
    assert!(said.contains("other.seek, line 2: this is no seek"), "{said}");
    let said = named(&format!("{asked}:best")).unwrap_err().to_string();
    assert!(said.contains("takes no option `best`"), "{said}");
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

/// The example of the document is a drive, and says what its file says.
#[test]
fn the_example_of_the_document_is_a_drive() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/discs.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, from) = document.split_once("```toml\n").unwrap();
    let (example, _) = from.split_once("```").unwrap();
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::fs::write(file.path(), example).unwrap();
    let choice = named(file.path().to_str().unwrap()).unwrap();
    assert_eq!(choice.size_bytes(), 1_000 * 2 * 64 * 512);
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
