//! Whether a server could start, without starting it.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::{Address, BehindSpec, Error, Spec};
use crate::path::nbd;

/// Checks that the discs are there and that sockets have a directory. A file is opened to be read, and not locked, so
/// that a running server is not disturbed; of another NBD server only the socket is looked at. The size of each
/// disc that is a file.
pub fn check(spec: &Spec) -> Result<Vec<Option<u64>>, Error> {
    spec.check()?;
    for address in &spec.listen {
        if let Address::Unix(path) = address {
            has_folder(path)?;
        }
    }
    spec.control.as_deref().map_or(Ok(()), has_folder)?;
    spec.exports.iter().map(|export| look(&export.disc)).collect()
}

fn look(disc: &BehindSpec) -> Result<Option<u64>, Error> {
    match disc {
        BehindSpec::File(path) => Ok(Some(nbd::look(path)?)),
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
