//! What policies miss on a trace, and how long that takes.
//!
//! `cargo run --release -p nbuf-core --example policies -- FILE POLICY[,POLICY] SIZE[,SIZE]`, where the
//! file is `oracleGeneral` (24 bytes a request) and a policy may be `all`. Without arguments it
//! makes up a small trace. Prints a line `policy,size,accesses,misses` for each, and the time on
//! standard error.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a measurement: it prints, and times real work"
)]

use std::fs::File;
use std::io::Read;
use std::time::Instant;

use nbuf::cache::policy::{POLICIES, Row, find};
use nbuf::internal::cache::engine::{Accesses, Count, engine};
use nbuf::internal::cache::interner::Interner;
use nbuf::internal::clock::Random;

/// Bytes of a record: a time, a key, a size, the next use.
const RECORD_BYTES: usize = 24;

/// Requests that go through at once.
const BATCH: usize = 1 << 14;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let names = arguments.get(1).map_or("all", String::as_str);
    let sizes = arguments.get(2).map_or("100,1000", String::as_str);
    let sizes: Vec<u64> = sizes.split(',').map(|size| size.parse().expect("a size")).collect();
    let all = POLICIES.iter().filter(|_| names == "all");
    let chosen = names.split(',').filter_map(find);
    for row in all.chain(chosen) {
        let start = Instant::now();
        let counts = match arguments.first() {
            Some(path) => run(row, &sizes, &mut File::open(path)?)?,
            None => run(row, &sizes, &mut made_up().as_slice())?,
        };
        eprintln!("{}: {:.3} s", row.name, start.elapsed().as_secs_f64());
        for count in counts {
            println!("{},{},{},{}", row.name, count.pages, count.accesses, count.misses);
        }
    }
    Ok(())
}

fn run(row: &Row, sizes: &[u64], input: &mut impl Read) -> std::io::Result<Vec<Count>> {
    let mut engine = engine(row, sizes, 42);
    let mut interner = Interner::new();
    let (mut keys, mut pages) = (Vec::new(), Vec::new());
    let mut bytes = vec![0; BATCH * RECORD_BYTES];
    let mut filled = 0;
    loop {
        let read = input.read(&mut bytes[filled..])?;
        filled += read;
        if filled < bytes.len() && read > 0 {
            continue;
        }
        let (records, _) = bytes[..filled].as_chunks::<RECORD_BYTES>();
        keys.clear();
        keys.extend(records.iter().map(|record| {
            let key = record[4..].first_chunk().expect("a whole record");
            u64::from_le_bytes(*key)
        }));
        pages.clear();
        interner.intern(&keys, &mut pages);
        engine.access(&Accesses { pages: &pages, request_ends: None });
        filled = 0;
        if read == 0 {
            return Ok(engine.finish());
        }
    }
}

/// Records of keys of which the lower ones are wanted more often.
fn made_up() -> Vec<u8> {
    let mut random = Random::new(1);
    let records = (0..100_000).flat_map(|_| {
        let most = random.below(5000) + 1;
        let key = random.below(most);
        let mut record = [0; RECORD_BYTES];
        record[4..12].copy_from_slice(&key.to_le_bytes());
        record
    });
    records.collect()
}
