//! Any bytes as a native trace, and a small trace with some of its bytes changed: an error or a
//! trace, and a trace that is read can be written and read again.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use nbuf::workload::format::native;
use nbuf::trace::{FileId, CacheEvent, Record, Trace};
use std::sync::LazyLock;

static SMALL: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let record = |number: u32| Record {
        time_ns: i64::from(number) * 777,
        offset_bytes: u64::from(number * 37 % 11) * 4096,
        file_bytes: 1 << 20,
        length_bytes: 4096,
        file: FileId(number % 3),
        task: number % 2,
        request: number,
        op: CacheEvent::ALL[number as usize % 7],
    };
    let trace = Trace {
        records: (0..40).map(record).collect(),
        files: vec!["/a".to_owned(), "/bc".to_owned(), "/def".to_owned()],
        ..Trace::default()
    };
    let mut out = Vec::new();
    native::write(&trace, &mut out).expect("memory can be written");
    out
});

fuzz_target!(
    // The decoder's own panics are caught by `read`; libFuzzer would end the process at once.
    init: std::panic::set_hook(Box::new(|_| {})),
    |bytes: &[u8]| {
        check(bytes.to_vec());
        // Four bytes a change: where (two), which bits (one), how many bytes (one).
        let mut changed = SMALL.clone();
        for change in bytes.chunks_exact(4) {
            let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % changed.len();
            let end = (place + usize::from(change[3] % 8) + 1).min(changed.len());
            for byte in &mut changed[place..end] {
                *byte ^= change[2];
            }
        }
        check(changed);
    }
);

fn check(bytes: Vec<u8>) {
    let Ok(trace) = native::read(Bytes::from(bytes)) else {
        return;
    };
    if trace.records.len() > 100_000 {
        return;
    }
    let mut out = Vec::new();
    native::write(&trace, &mut out).expect("memory can be written");
    let again = native::read(Bytes::from(out)).expect("what was written can be read");
    assert!(again.records.len() == trace.records.len());
}
