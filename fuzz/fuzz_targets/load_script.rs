//! Any text as a script of users: it is read, or refused with a place in it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::experiment::load::Script;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Script::parse(text) {
        Ok(script) => assert!(!script.classes.is_empty()),
        Err(error) => assert!(error.line <= text.matches('\n').count() + 1, "{error}"),
    }
});
