//! Any text as the address of a disc: what is read is written as it is read again, and nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::experiment::serve::BackendSpec;

fuzz_target!(|text: &str| {
    if let Ok(disc) = text.parse::<BackendSpec>() {
        assert_eq!(disc.to_string().parse(), Ok(disc));
    }
});
