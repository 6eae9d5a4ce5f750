//! Any bytes as a description of a drive, in our own words or `DiskSim`'s: the files that it names are made of the same
//! bytes. What is a drive serves a request at its beginning and one at its end, and says the same in our words.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::internal::disc::model::Model;
use nbuf::disc::{Disc, wait_for};
use nbuf::internal::disc::description;
use nbuf::trace::request::{Op, Request};
use nbuf::units::Nanos;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut read = |_: &str| Ok(text.to_owned());
    let Ok(document) = description::parse(text, &mut read) else { return };
    let Ok(drive) = document.drive() else { return };
    let ours = document.text().expect("a drive can be written down");
    let again = description::parse(&ours, &mut read).and_then(|again| again.drive());
    let again = again.expect("what we write we read");
    assert!(again == drive, "{ours}");
    let mut disc = Model::new(drive);
    for offset in [0, disc.size_bytes().saturating_sub(4_096)] {
        let read = Request::new(Op::Read, offset, 512);
        assert!(wait_for(&mut disc, Nanos::ZERO, read, Vec::new()).is_some());
    }
});
