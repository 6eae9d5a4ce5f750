//! TLS as bytes: a layer that both ends have, and what a client trusts.
//!
//! `layer` seals and opens bytes, and the server in `path::nbd` has it for its clients; `trust` makes what a client
//! of a backend server checks and shows. Neither has a socket or a file.

mod layer;
mod trust;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

pub(crate) use layer::Broken;
pub use layer::{Layer, RECORD_BYTES_MAX};
pub(crate) use trust::Trust;
pub use trust::TrustError;

/// All certificates of a text: at least one, and none that is broken.
pub(crate) fn all(text: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    all.ok().filter(|all| !all.is_empty())
}
