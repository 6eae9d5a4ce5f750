//! Any bytes as a log: the reader comes to an end, and what it yields is what a writer can write.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::internal::workload::record::log::{Entry, LogReader, LogWriter};

/// What a log begins with, and what a frame begins with.
const HEADER: &[u8] = b"nbuf log\x01\0\0\0\0\0\0\0";
const MAGIC: &[u8] = &[0xb5, b'n', 0x1f, 0xe9];

fuzz_target!(|bytes: &[u8]| {
    let _ = LogReader::new(bytes).map(Iterator::count);
    entries(&[HEADER, bytes].concat());
    // As the payload of a frame whose checksum is right: no mutation would find it.
    let Ok(length) = u32::try_from(bytes.len()) else {
        return;
    };
    let checked = [&[0; 4], &length.to_le_bytes()[..]].concat();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&checked);
    hasher.update(bytes);
    let checksum = hasher.finalize().to_le_bytes();
    let read = entries(&[HEADER, MAGIC, &checked, &checksum, bytes].concat());

    let mut writer = LogWriter::new(Vec::new()).expect("memory can be written");
    for entry in &read {
        writer.push(entry).expect("memory can be written");
    }
    let again = writer.finish().expect("memory can be written");
    assert_eq!(entries(&again), read);
});

fn entries(log: &[u8]) -> Vec<Entry> {
    let mut reader = LogReader::new(log).expect("the header is right");
    let entries = reader
        .by_ref()
        .map(|entry| entry.expect("memory can be read"));
    let entries = entries.collect();
    assert!(reader.ending().is_some());
    entries
}
