//! Where a tier's file has what, how it is found and made.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::super::state::{ListError, StateError, StateErrorKind};
use super::super::{Error, ExportSpec};
use super::TierSpec;
use super::header::{HEADER_BYTES, Header, MAGIC};
use crate::cache::tiered::{ENTRY_BYTES, Geometry};
use crate::sys::files::{self, Place};
use crate::sys::publish::{Readers, Unfinished};

/// Where the first block begins.
const FIRST_BYTE: u64 = 64 << 10;
/// The largest part of a block: a page of the kernel.
pub(super) const PART_BYTES: u32 = 4096;
/// The most blocks.
const SLOTS_MAX: u64 = 1 << 30;

/// The shape of a tier of this size.
pub(super) fn geometry(spec: &TierSpec, export: &ExportSpec, size_bytes: u64) -> Geometry {
    // A page is filled as a whole, so that no part may be larger.
    let part_bytes = export.page_bytes.min(PART_BYTES);
    let shape = Geometry { size_bytes, part_bytes, slots: 1, first_byte: FIRST_BYTE };
    let room = spec.size.0.saturating_sub(FIRST_BYTE + u64::from(PART_BYTES));
    let slots = room / (shape.block_bytes() + ENTRY_BYTES as u64);
    // More than the disc has would never be used.
    let disc_blocks = size_bytes.div_ceil(shape.block_bytes());
    let slots = slots.min(disc_blocks).clamp(1, SLOTS_MAX);
    Geometry { slots: u32::try_from(slots).unwrap_or(1), ..shape }
}

/// Where the index begins.
pub(super) fn index_byte(geometry: &Geometry) -> u64 {
    geometry.first_byte + u64::from(geometry.slots) * geometry.block_bytes()
}

/// The length of the file, in whole pages.
pub(super) fn length(geometry: &Geometry) -> u64 {
    let index_bytes = u64::from(geometry.slots) * ENTRY_BYTES as u64;
    (index_byte(geometry) + index_bytes).next_multiple_of(PART_BYTES.into())
}

/// What is at a path: a file of nbuf, or nothing.
pub(super) fn look(path: &Path) -> Result<Option<File>, Error> {
    let wrong = |why| Error::Tier(StateError { path: path.to_owned(), why });
    let kernel = |error| wrong(StateErrorKind::Read(error));
    let file = match files::regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(kernel)?,
    };
    let mut bytes = Vec::new();
    (&file).take(MAGIC.len() as u64).read_to_end(&mut bytes).map_err(kernel)?;
    if bytes == MAGIC { Ok(Some(file)) } else { Err(wrong(StateErrorKind::Foreign)) }
}

/// Reads the first page.
pub(super) fn first_page(file: &File) -> io::Result<Result<Header, ListError>> {
    let mut bytes = [0; HEADER_BYTES];
    match file.read_exact_at(&mut bytes, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Err(ListError::Damaged)),
        other => other.map(|()| Header::of_bytes(&bytes)),
    }
}

/// Makes the file, with a first page that has no blocks. It is locked before it has its name.
///
/// # Errors
/// `AlreadyExists` if another server has just made it.
pub(super) fn create(place: &Place, geometry: &Geometry) -> io::Result<File> {
    let unfinished = Unfinished::create_at(place.try_clone()?, Readers::Owner)?;
    let _ = flock(unfinished.file(), FlockOperation::NonBlockingLockExclusive);
    let (part_bytes, slots) = (geometry.part_bytes, geometry.slots);
    let header = Header { part_bytes, slots, ..Header::default() };
    unfinished.file().write_all_at(&header.to_bytes().unwrap_or_default(), 0)?;
    let file = unfinished.file().try_clone()?;
    unfinished.publish()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Nanos};

    #[test]
    fn a_file_fits_into_the_size_that_was_given() {
        for size in [1 << 20, (1 << 20) + 12_345, 4 << 30, 16 << 40] {
            let (path, timeout) = ("tier".into(), Nanos(5_000_000_000));
            let spec = TierSpec { path, size: Bytes(size), trusts: false, durable: false, timeout };
            for page_bytes in [512, 4096, 32_768] {
                let disc = "file:disc.img".parse().unwrap();
                let export = ExportSpec { page_bytes, ..ExportSpec::new(disc, Bytes(1 << 20)) };
                let geometry = geometry(&spec, &export, 1 << 50);
                assert!(length(&geometry) <= size, "{size} {geometry:?}");
                let more = geometry.block_bytes() + ENTRY_BYTES as u64 + 8192;
                let is_full = length(&geometry) + more > size;
                assert!(is_full || u64::from(geometry.slots) == SLOTS_MAX, "{size}");
                let small = super::geometry(&spec, &export, 100_000);
                assert_eq!(u64::from(small.slots), 100_000_u64.div_ceil(small.block_bytes()));
            }
        }
    }
}
