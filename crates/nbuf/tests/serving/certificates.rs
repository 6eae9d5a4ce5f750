//! Certificates of tests, in the files that clients of NBD look for.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

/// An authority that signs for a server and its clients.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    /// Writes a certificate and its key that end with this year: `WHO-cert.pem`, `WHO-key.pem`, with `ca-cert.pem`.
    pub(crate) fn sign(&self, folder: &Path, who: &str, last_year: i32) -> PathBuf {
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, who);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let is_server = who == "server";
        params.extended_key_usages = vec![if is_server {
            ExtendedKeyUsagePurpose::ServerAuth
        } else {
            ExtendedKeyUsagePurpose::ClientAuth
        }];
        params.not_after = date_time_ymd(last_year, 12, 31);
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("ca-cert.pem"), &self.certificate).unwrap();
        fs::write(folder.join(format!("{who}-cert.pem")), certificate).unwrap();
        fs::write(folder.join(format!("{who}-key.pem")), key.serialize_pem()).unwrap();
        folder.to_owned()
    }
}
