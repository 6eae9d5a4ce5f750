//! Whether a server could start, without starting it.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::{Address, BehindSpec, Error, ExportSpec, Spec, TlsSpec};
use crate::path::nbd;

/// Checks that the discs are there, that sockets have a directory, and that certificates and keys go together. A file
/// is opened to be read, and not locked, so that a running server is not disturbed; of another NBD server only the
/// socket is looked at. The size of each disc that is a file.
pub fn check(spec: &Spec) -> Result<Vec<Option<u64>>, Error> {
    spec.check()?;
    for address in &spec.listen {
        if let Address::Unix(path) = address {
            has_folder(path)?;
        }
    }
    spec.control.as_deref().map_or(Ok(()), has_folder)?;
    spec.tls.as_ref().map(TlsSpec::load).transpose()?;
    let sizes = spec.exports.iter().map(|export| look(&export.disc)).collect();
    are_distinct(&spec.exports)?;
    sizes
}

/// Refuses a disc under two names that one of them writes to: each cache would keep what the other has changed.
pub(super) fn are_distinct(exports: &[ExportSpec]) -> Result<(), Error> {
    let identity = |export: &ExportSpec| {
        let (BehindSpec::File(path) | BehindSpec::Direct(path) | BehindSpec::Nbd(path)) =
            &export.disc;
        // What is not there is refused where it is opened. A device may have several names.
        let found = std::fs::metadata(path).ok()?;
        let is_device = found.file_type().is_block_device();
        Some(if is_device { (found.rdev(), u64::MAX) } else { (found.dev(), found.ino()) })
    };
    let mut seen: Vec<(&ExportSpec, (u64, u64))> = Vec::new();
    for export in exports {
        let Some(id) = identity(export) else { continue };
        let same = seen.iter().filter(|(_, other)| *other == id);
        let both_read = |other: &ExportSpec| other.is_read_only && export.is_read_only;
        if let Some((other, _)) = same.copied().find(|(other, _)| !both_read(other)) {
            return Err(Error::SameDisc(other.name.clone(), export.name.clone()));
        }
        seen.push((export, id));
    }
    Ok(())
}

fn look(disc: &BehindSpec) -> Result<Option<u64>, Error> {
    match disc {
        BehindSpec::File(path) | BehindSpec::Direct(path) => Ok(Some(nbd::look(path)?)),
        BehindSpec::Nbd(socket) => {
            let failed = |error| Error::Behind { socket: socket.display().to_string(), error };
            let found = std::fs::metadata(socket).map_err(failed)?;
            if found.file_type().is_socket() {
                return Ok(None);
            }
            Err(failed(std::io::Error::other("no socket")))
        }
    }
}

/// Whether a socket could be made there.
fn has_folder(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let found = std::fs::metadata(folder);
    let is_folder = found.map(|found| found.is_dir());
    match is_folder {
        Ok(true) => Ok(()),
        Ok(false) => {
            let error = std::io::ErrorKind::NotADirectory.into();
            Err(Error::Path { path: folder.to_owned(), error })
        }
        Err(error) => Err(Error::Path { path: folder.to_owned(), error }),
    }
}
