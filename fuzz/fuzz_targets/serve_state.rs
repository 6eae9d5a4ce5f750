//! Any bytes as the file that keeps what caches held, also with the right sum: what is read is written as it is read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::internal::serve::List;

fuzz_target!(|input: (bool, &[u8])| {
    let (is_summed, bytes) = input;
    let mut bytes = bytes.to_vec();
    if is_summed {
        bytes.splice(0..0, *b"nbuf-serve-state\x01\0\0\0");
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    }
    if let Ok(list) = List::of_bytes(&bytes) {
        assert_eq!(List::of_bytes(&list.to_bytes()), Ok(list));
    }
});
