//! The model of a disc against drives that were measured, as the table of docs/experiments/discs.md.
//!
//! `cargo run -p nbuf-core --example discs`, with the files `NAME.trace` of `DiskSim` in the folder that
//! `NBUF_DISCS` names, or in `../shared/discs` next to the repository. `-- DRIVE TRACE RMS`
//! compares one drive instead: a file of parameters, the requests that were measured, and the
//! rms of `DiskSim` in milliseconds. `-- --toml DRIVE` writes a file of parameters as a document of
//! ours.

#![expect(clippy::print_stdout, reason = "a measurement: it prints")]

#[path = "../tests/discs/compare.rs"]
mod compare;
#[path = "../tests/discs/replay.rs"]
mod replay;

use std::io;
use std::path::Path;

use compare::{Row, VALIDATED, against, folder};
use nbuf::disc::described;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--toml", drive] => {
            let document = described(Path::new(drive)).map_err(io::Error::other)?;
            print!("{}", document.text().map_err(io::Error::other)?);
        }
        [drive, trace, rms] => {
            let drive = described(Path::new(drive)).map_err(io::Error::other)?;
            let drive = drive.drive().map_err(io::Error::other)?;
            let rms = rms.parse().map_err(io::Error::other)?;
            show(&against(words[0], &drive, &std::fs::read_to_string(trace)?, rms));
        }
        _ => {
            println!("| drive | requests | mean | model's mean | rms | DiskSim's rms | ratio |");
            println!("|---|---|---|---|---|---|---|");
            for validated in &VALIDATED {
                let trace = folder().join(format!("{}.trace", validated.files));
                let row = nbuf::disc::named(validated.row).map_err(io::Error::other)?;
                let Some(drive) = row.drive() else { continue };
                let trace = std::fs::read_to_string(trace)?;
                show(&against(
                    &format!("`{}`", validated.row),
                    drive,
                    &trace,
                    validated.disksim_rms_ms,
                ));
            }
        }
    }
    Ok(())
}

fn show(row: &Row) {
    println!(
        "| {} | {} | {:.2} | {:.2} | {:.3} | {:.3} | {:.2} |",
        row.drive,
        row.requests,
        row.mean_ms,
        row.model_mean_ms,
        row.rms_ms,
        row.disksim_rms_ms,
        row.rms_ms / row.disksim_rms_ms,
    );
}
