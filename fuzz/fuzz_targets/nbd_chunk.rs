//! Any bytes as a chunk of a reply to a read, from a backend server: it is refused, or changes bytes of the read alone.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::internal::disc::nbd::chunk_of_read;

fuzz_target!(|input: (u16, u64, u16, &[u8])| {
    let (kind, offset, length, payload) = input;
    if let Some(data) = chunk_of_read(kind, payload, offset, length) {
        assert_eq!(data.len(), usize::from(length));
        let is_error = kind & 0x8000 != 0;
        assert!(is_error || kind <= 2, "taken: {kind}");
        if kind == 1 {
            // The bytes are where the chunk says.
            let at = u64::from_be_bytes(payload[..8].try_into().unwrap()) - offset;
            let at = usize::try_from(at).unwrap();
            assert_eq!(&data[at..at + payload.len() - 8], &payload[8..]);
        }
    }
});
