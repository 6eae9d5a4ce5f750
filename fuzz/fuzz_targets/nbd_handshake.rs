//! Any bytes as the handshake of a client of NBD, in two parts: the same answer as in one, and a bounded one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::internal::path::nbd::{Export, Handshake, Secrecy, Step};

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (secrecy, cut, bytes) = input;
    let secrecy = match secrecy % 4 {
        0 => Secrecy::Absent,
        1 => Secrecy::Offered,
        2 => Secrecy::Required,
        _ => Secrecy::Agreed,
    };
    let exports = [("disc", true), ("tape", false)].map(|(name, is_default)| Export {
        name: name.to_owned(),
        is_default,
        size_bytes: 1 << 30,
        is_read_only: false,
        page_bytes: 4096,
        request_bytes_max: 32 << 20,
    });
    let mut whole = Vec::new();
    let (taken, step) = Handshake::new(secrecy).take(&exports, bytes, &mut whole);
    assert!(taken <= bytes.len() && whole.len() <= 256 * (bytes.len() + 1));
    assert!(secrecy != Secrecy::Required || step != Step::Ready, "served in plain");
    assert!(step != Step::Secure || taken == bytes.len(), "bytes behind STARTTLS are kept");
    let (first, _) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let (mut handshake, mut parts) = (Handshake::new(secrecy), Vec::new());
    let (early, early_step) = handshake.take(&exports, first, &mut parts);
    if early_step == Step::More {
        let (late, late_step) = handshake.take(&exports, &bytes[early..], &mut parts);
        assert_eq!((early + late, late_step), (taken, step));
        assert_eq!(parts, whole);
    }
});
