//! Measures how long reads of a file take, and prints the document that `measured:DOCUMENT` is made of.
//!
//! `cargo run --release -p nbuf-core --example latencies -- FILE > DOCUMENT`: a third of a second of reads, one at a time,
//! past the page cache. The file should be large and not in use.

#![expect(clippy::print_stdout, reason = "a measurement: it prints")]

use nbuf::internal::disc::measured;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("which file? latencies FILE > DOCUMENT")?;
    println!("{}", serde_json::to_string_pretty(&measured::sample(&file)?)?);
    Ok(())
}
