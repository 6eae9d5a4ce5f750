//! Unpacking, by the libraries of the feature `compression`.

use std::io::{self, Read};

use super::input::Packing;
use crate::units::Bound;

/// The largest window of zstd, as a power of two, and the least in use.
#[cfg(feature = "compression")]
const WINDOW_LOG_MAX: u32 = 27;
#[cfg(feature = "compression")]
const WINDOW_BYTES_MIN: u64 = 1 << 20;

/// The bytes that `packed` unpacks to.
#[cfg(feature = "compression")]
pub(super) fn unpack(
    packing: Packing,
    packed: impl Read + Send + 'static,
    bound: Bound,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match packing {
        Packing::None => Box::new(packed),
        Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
        Packing::Xz => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(bound.allowed.0, flags)?;
            Box::new(liblzma::read::XzDecoder::new_stream(packed, stream))
        }
        Packing::Zstd => {
            let mut unpacks = zstd::Decoder::new(packed)?;
            // The decoder keeps what it looks back to: at most this much.
            let window = bound.allowed.0.max(WINDOW_BYTES_MIN).ilog2().min(WINDOW_LOG_MAX);
            unpacks.window_log_max(window)?;
            Box::new(unpacks)
        }
    })
}

/// Refuses what is packed: this build has no library for it.
#[cfg(not(feature = "compression"))]
pub(super) fn unpack(
    packing: Packing,
    packed: impl Read + Send + 'static,
    _bound: Bound,
) -> io::Result<Box<dyn Read + Send>> {
    match packing {
        Packing::None => Ok(Box::new(packed)),
        Packing::Gzip | Packing::Xz | Packing::Zstd => {
            Err(io::Error::other("this build unpacks nothing: unpack it first"))
        }
    }
}
