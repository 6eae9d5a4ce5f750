//! Any text as a size: an error, or a size that is read again from its bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::units::Size;

fuzz_target!(|text: &str| {
    match text.parse::<Size>() {
        Ok(Size::Absolute(bytes)) => {
            let _ = bytes.to_string();
            // Above 2^53 a number passes through floating point and is rounded.
            if bytes.0 < 1 << 53 {
                assert_eq!(bytes.0.to_string().parse(), Ok(Size::Absolute(bytes)));
            }
        }
        Ok(Size::Percent(share)) => assert!(share >= 0.0),
        Err(error) => assert!(error.to_string().contains(text)),
    }
});
