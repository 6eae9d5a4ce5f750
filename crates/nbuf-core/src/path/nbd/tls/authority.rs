//! Certificates of tests.

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

/// Signs the certificates of others.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(super) certificate: String,
}

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub(super) struct Signed {
    pub(super) certificate: String,
    pub(super) key: String,
}

impl Authority {
    pub(super) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let certificate = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    /// Signs a certificate that ends with this year.
    pub(super) fn sign(&self, purpose: ExtendedKeyUsagePurpose, last_year: i32) -> Signed {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.extended_key_usages = vec![purpose];
        params.not_after = date_time_ymd(last_year, 12, 31);
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Signed { certificate, key: key.serialize_pem() }
    }

    pub(super) fn server(&self) -> Signed {
        self.sign(ExtendedKeyUsagePurpose::ServerAuth, 2999)
    }

    pub(super) fn client(&self) -> Signed {
        self.sign(ExtendedKeyUsagePurpose::ClientAuth, 2999)
    }
}
