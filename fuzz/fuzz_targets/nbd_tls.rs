//! Any bytes as a client of TLS, in pieces, before keys are agreed on or after: none is opened, none is served, and
//! what the server keeps and answers is bounded.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use nbuf::internal::path::nbd::{Credentials, Layer, RECORD_BYTES_MAX};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

static ENDS: LazyLock<(Credentials, Arc<ClientConfig>)> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let credentials = Credentials::new(certificate.as_bytes(), key.as_bytes(), None).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(made.cert.der().to_vec())).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.unwrap().with_root_certificates(roots).with_no_client_auth();
    (credentials, Arc::new(config))
});

/// Has a real client agree on keys.
fn agree(layer: &mut Layer) {
    let name = "localhost".try_into().unwrap();
    let mut client = ClientConnection::new(ENDS.1.clone(), name).unwrap();
    for _ in 0..4 {
        let (mut out, mut plain) = (Vec::new(), vec![0; 2 * RECORD_BYTES_MAX]);
        while client.wants_write() {
            client.write_tls(&mut out).unwrap();
        }
        assert_eq!(layer.open(&out, &mut plain).unwrap(), 0);
        let mut answer = Vec::new();
        layer.send_to(&mut answer).unwrap();
        let mut rest = answer.as_slice();
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets().unwrap();
        }
    }
    assert!(layer.is_agreed());
}

fuzz_target!(|input: (bool, Vec<&[u8]>)| {
    let (is_agreed, pieces) = input;
    let mut layer = ENDS.0.layer().unwrap();
    if is_agreed {
        agree(&mut layer);
    }
    for piece in pieces {
        let mut plain = vec![0; piece.len() + RECORD_BYTES_MAX];
        let opened = layer.open(piece, &mut plain);
        let mut out = Vec::new();
        layer.send_to(&mut out).unwrap();
        assert!(out.len() < 1 << 14 && layer.bytes() < 1 << 17);
        assert_eq!(layer.is_agreed(), is_agreed, "no noise agrees");
        match opened {
            Ok(count) => assert_eq!(count, 0, "no noise is opened"),
            Err(_) => return,
        }
    }
});
