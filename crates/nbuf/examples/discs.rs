//! The model of a disc against five drives that were measured, as the table of docs/experiments/discs.md.
//!
//! `cargo run -p nbuf --example discs`, with the files `NAME.model`, `NAME.seek` and `NAME.trace` of `DiskSim` in
//! the folder that `NBUF_DISCS` names, or in `../shared/discs` beside the repository.

#![expect(clippy::print_stdout, reason = "a measurement: it prints")]

#[path = "../tests/discs/blocks.rs"]
mod blocks;
#[path = "../tests/discs/compare.rs"]
mod compare;
#[path = "../tests/discs/drives.rs"]
mod drives;
#[path = "../tests/discs/replay.rs"]
mod replay;

fn main() -> std::io::Result<()> {
    println!("| drive | requests | mean | model's mean | rms | DiskSim's rms | ratio |");
    println!("|---|---|---|---|---|---|---|");
    for row in compare::compare(&compare::folder())? {
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
    Ok(())
}
