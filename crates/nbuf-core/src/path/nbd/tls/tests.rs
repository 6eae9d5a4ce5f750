//! Both ends of TLS in memory, with clients that may and may not.

use std::io::{Read, Write};
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use rcgen::ExtendedKeyUsagePurpose;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::authority::{Authority, Signed};
use super::{Credentials, CredentialsError, Layer, RECORD_BYTES_MAX};

/// An authority, a server with and without a check of clients, and a client.
struct Setting {
    authority: Authority,
    server: Signed,
    client: Signed,
    checks: Credentials,
    open: Credentials,
}

static SETTING: LazyLock<Setting> = LazyLock::new(|| {
    let authority = Authority::new();
    let (server, client) = (authority.server(), authority.client());
    let credentials = |authorities| {
        let (certificate, key) = (server.certificate.as_bytes(), server.key.as_bytes());
        Credentials::new(certificate, key, authorities).unwrap()
    };
    let checks = credentials(Some(authority.certificate.as_bytes()));
    let open = credentials(None);
    Setting { authority, server, client, checks, open }
});

/// A client that trusts this authority, with a certificate or without.
fn client(authority: &Authority, own: Option<&Signed>) -> ClientConnection {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.certificate.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        None => config.with_no_client_auth(),
        Some(own) => {
            let chain = vec![CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
            config.with_client_auth_cert(chain, key).unwrap()
        }
    };
    ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
}

/// What the client has for the wire.
fn sealed(client: &mut ClientConnection) -> Vec<u8> {
    let mut out = Vec::new();
    while client.wants_write() {
        client.write_tls(&mut out).unwrap();
    }
    out
}

/// Gives the client what the layer has. What the client opens of it; none if it ends the connection.
fn give(client: &mut ClientConnection, layer: &mut Layer) -> Option<Vec<u8>> {
    let (mut out, mut got) = (Vec::new(), Vec::new());
    layer.send_to(&mut out).unwrap();
    let mut rest = out.as_slice();
    while !rest.is_empty() {
        client.read_tls(&mut rest).unwrap();
        let left = client.process_new_packets().ok()?.plaintext_bytes_to_read();
        let before = got.len();
        got.resize(before + left, 0);
        client.reader().read_exact(&mut got[before..]).unwrap();
    }
    Some(got)
}

/// Opens bytes in pieces of these lengths, in turns.
fn open(
    layer: &mut Layer,
    bytes: &[u8],
    pieces: &[usize],
) -> Result<Vec<u8>, crate::disc::nbd::tls::Broken> {
    let (mut rest, mut all) = (bytes, Vec::new());
    for &length in pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (now, then) = rest.split_at(length.min(rest.len()));
        let mut plain = vec![0; now.len() + RECORD_BYTES_MAX];
        let count = layer.open(now, &mut plain)?;
        all.extend_from_slice(&plain[..count]);
        rest = then;
    }
    Ok(all)
}

/// Has both ends agree; whether they do.
fn agree(client: &mut ClientConnection, layer: &mut Layer, pieces: &[usize]) -> bool {
    for _ in 0..8 {
        let out = sealed(client);
        assert_eq!(layer.seal(b"early"), 0, "nothing is sealed before both ends agree");
        let Ok(opened) = open(layer, &out, pieces) else {
            assert!(layer.has_sealed(), "an alert says why");
            assert_eq!(give(client, layer), None);
            return false;
        };
        assert_eq!(opened, b"");
        if give(client, layer).is_none() {
            return false;
        }
        if layer.is_agreed() && !client.is_handshaking() {
            return true;
        }
    }
    false
}

#[test]
fn only_clients_with_a_certificate_that_is_trusted_are_agreed_with() {
    let setting = &*SETTING;
    let stranger = Authority::new();
    let server = ExtendedKeyUsagePurpose::ServerAuth;
    let expired = setting.authority.sign(ExtendedKeyUsagePurpose::ClientAuth, 2020);
    let other = setting.authority.sign(server, 2999);
    let foreign = stranger.client();
    for (own, agrees) in [
        (Some(&setting.client), true),
        (None, false),
        (Some(&expired), false),
        (Some(&other), false),
        (Some(&foreign), false),
    ] {
        let mut client = client(&setting.authority, own);
        let mut layer = setting.checks.layer().unwrap();
        let is_agreed = agree(&mut client, &mut layer, &[1 << 14]);
        assert_eq!((is_agreed, layer.is_agreed()), (agrees, agrees));
    }
    // Without authorities a client needs none, and still looks at the server's.
    let mut layer = setting.open.layer().unwrap();
    assert!(agree(&mut client(&setting.authority, None), &mut layer, &[1 << 14]));
    let mut layer = setting.open.layer().unwrap();
    assert!(!agree(&mut client(&stranger, None), &mut layer, &[1 << 14]));
}

#[test]
fn files_that_are_not_what_they_should_be_are_named() {
    let Setting { authority, server, client, .. } = &*SETTING;
    let (certificate, key) = (server.certificate.as_bytes(), server.key.as_bytes());
    let new = |certificate, key, authorities| Credentials::new(certificate, key, authorities).err();
    let signer = Some(authority.certificate.as_bytes());
    assert!(matches!(new(b"", key, None), Some(CredentialsError::NoCertificate)));
    assert!(matches!(new(key, key, None), Some(CredentialsError::NoCertificate)));
    assert!(matches!(new(certificate, certificate, None), Some(CredentialsError::NoKey)));
    assert!(matches!(new(certificate, key, Some(b"?")), Some(CredentialsError::NoAuthority)));
    let half = &certificate[..certificate.len() / 2];
    assert!(matches!(new(half, key, signer), Some(CredentialsError::NoCertificate)));
    let other = client.key.as_bytes();
    assert!(matches!(new(certificate, other, signer), Some(CredentialsError::Pair(_))));
    let secret = format!("{:?}", Credentials::new(certificate, key, signer).unwrap());
    assert_eq!(secret, "Credentials { .. }");
}

#[test]
fn a_part_of_a_record_is_waited_for_and_the_end_is_said_once() {
    let setting = &*SETTING;
    let mut client = client(&setting.authority, Some(&setting.client));
    let mut layer = setting.checks.layer().unwrap();
    assert!(agree(&mut client, &mut layer, &[1]));
    assert!(!layer.is_within_record());
    let idle = layer.bytes();
    client.writer().write_all(b"half").unwrap();
    let out = sealed(&mut client);
    let (first, second) = out.split_at(out.len() / 2);
    assert_eq!(open(&mut layer, first, &[99]).unwrap(), b"");
    assert!(layer.is_within_record() && layer.bytes() > idle);
    assert_eq!(open(&mut layer, second, &[99]).unwrap(), b"half");
    assert!(!layer.is_within_record() && layer.bytes() == idle);
    // The client says that it sends no more, and still takes what it asked for.
    client.send_close_notify();
    let out = sealed(&mut client);
    assert!(!layer.has_ended());
    assert_eq!(open(&mut layer, &out, &[99]).unwrap(), b"");
    assert!(layer.has_ended());
    assert_eq!(layer.seal(b"late"), 4);
    layer.say_goodbye();
    layer.say_goodbye();
    assert_eq!(give(&mut client, &mut layer).unwrap(), b"late");
    assert_eq!(client.reader().read(&mut [0; 8]).expect("the end is clean"), 0);
    assert_eq!((layer.seal(b"later"), layer.has_sealed()), (0, false));
}

#[test]
fn a_client_that_takes_nothing_is_not_sealed_for() {
    let setting = &*SETTING;
    let mut client = client(&setting.authority, Some(&setting.client));
    let mut layer = setting.checks.layer().unwrap();
    assert!(agree(&mut client, &mut layer, &[1 << 14]));
    let much = vec![7; 1 << 20];
    let sealed = layer.seal(&much);
    assert!((1 << 14..1 << 17).contains(&sealed), "{sealed}");
    assert_eq!(layer.seal(&much), 0);
    assert_eq!(give(&mut client, &mut layer).unwrap().len(), sealed);
    assert!(layer.seal(&much) > 0);
}

/// Where the version is in the header of each record: behind the byte of its type, and before two of its length.
fn versions(sealed: &[u8]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut begins = 0;
    while let Some([_, _, _, high, low]) = sealed.get(begins..begins + 5) {
        places.extend([begins + 1, begins + 2]);
        begins += 5 + usize::from(u16::from_be_bytes([*high, *low]));
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_sealed_is_opened_whatever_the_pieces(
        pieces in prop::collection::vec(1..40_000_usize, 1..6),
        texts in prop::collection::vec((any::<u8>(), 0..60_000_usize), 1..5),
    ) {
        let setting = &*SETTING;
        let mut client = client(&setting.authority, Some(&setting.client));
        let mut layer = setting.checks.layer().unwrap();
        prop_assert!(agree(&mut client, &mut layer, &pieces));
        for (byte, length) in texts {
            let text = vec![byte; length];
            client.writer().write_all(&text).unwrap();
            let out = sealed(&mut client);
            prop_assert!(open(&mut layer, &out, &pieces).unwrap() == text);
            prop_assert!(!layer.is_within_record());
            let (mut rest, mut got) = (text.as_slice(), Vec::new());
            while !rest.is_empty() {
                rest = &rest[layer.seal(rest)..];
                got.extend(give(&mut client, &mut layer).unwrap());
            }
            prop_assert!(got == text);
        }
    }

    /// One bit that another changed: what is opened is a beginning of what was sent, and then TLS ends.
    #[test]
    fn what_was_changed_is_not_opened(
        at in any::<prop::sample::Index>(), bit in 0..8_u8, piece in 1..9_000_usize,
    ) {
        let setting = &*SETTING;
        let mut client = client(&setting.authority, Some(&setting.client));
        let mut layer = setting.checks.layer().unwrap();
        prop_assert!(agree(&mut client, &mut layer, &[1 << 14]));
        let text: Vec<u8> = (0..20_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        client.writer().write_all(&text).unwrap();
        let mut out = sealed(&mut client);
        let at = at.index(out.len());
        // The version in the header of a record is no part of it: RFC 8446, 5.1, has receivers ignore it.
        prop_assume!(!versions(&out).contains(&at));
        out[at] ^= 1 << bit;
        let (mut rest, mut got, mut is_broken) = (out.as_slice(), Vec::new(), false);
        while !rest.is_empty() && !is_broken {
            let (now, later) = rest.split_at(piece.min(rest.len()));
            match open(&mut layer, now, &[piece]) {
                Ok(plain) => got.extend(plain),
                Err(_) => is_broken = true,
            }
            rest = later;
        }
        prop_assert!(text.starts_with(&got) && got.len() < text.len());
        // A length that became larger is waited for.
        prop_assert!(is_broken || layer.is_within_record());
    }

    /// What the fuzz target checks too.
    #[test]
    fn noise_is_no_client(
        noise in prop::collection::vec(any::<u8>(), 0..400),
        head in prop::sample::select(vec![&b""[..], b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03", b"\x15\x03\x03\x00\x02", b"\x17\x03\x03\x40\x00"]),
        piece in 1..400_usize,
    ) {
        let mut layer = SETTING.open.layer().unwrap();
        let bytes = [head, &noise].concat();
        if let Ok(plain) = open(&mut layer, &bytes, &[piece]) {
            prop_assert!(plain.is_empty());
        }
        let mut out = Vec::new();
        layer.send_to(&mut out).unwrap();
        prop_assert!(!layer.is_agreed() && out.len() < 8192 && layer.seal(b"x") == 0);
    }
}
