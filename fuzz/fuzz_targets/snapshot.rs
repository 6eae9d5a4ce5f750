//! Any bytes as a snapshot of memcached or Redis: it is read or refused, alike in whatever pieces it comes.

#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use nbuf::workload::format::snapshot::Snapshot;

fuzz_target!(|bytes: &[u8]| {
    let whole = Snapshot::read(bytes, &mut |_| true);
    let pieces = Snapshot::read(BufReader::with_capacity(3, bytes), &mut |_| true);
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert_eq!((whole.keys(), whole.broken()), (pieces.keys(), pieces.broken()));
        }
        (Err(_), Err(_)) => {}
        (whole, pieces) => panic!("{whole:?} {pieces:?}"),
    }
});
