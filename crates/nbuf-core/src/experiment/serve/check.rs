//! Whether a server could start, without starting it.

use std::ffi::{OsStr, OsString};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::journal::JournalFile;
use super::state::State;
use super::tier::TierFile;
use super::{
    Address, BackendSpec, Error, ExportSpec, RemotePlace, Spec, TierSpec, TlsSpec, TrustSpec,
    object,
};
use crate::path::nbd;

/// Checks that discs are there, sockets have a directory, certificates and keys go together, and journals fit the marks
/// of discs. A file is opened to be read, and not locked, so that a running server is not disturbed. Another NBD server
/// is not asked; its Unix socket is looked at. The size of each disc that is a file.
pub fn check(spec: &Spec) -> Result<Vec<Option<u64>>, Error> {
    spec.check()?;
    for address in &spec.listen {
        if let Address::Unix(path) = address {
            has_folder(path)?;
        }
    }
    spec.control.as_deref().map_or(Ok(()), has_folder)?;
    spec.tls.as_ref().map(TlsSpec::load).transpose()?;
    spec.trust.as_ref().map(TrustSpec::load).transpose()?;
    spec.state.as_deref().map(State::check).transpose()?;
    let mut tiers = spec.exports.iter().filter_map(|export| export.tier.as_ref());
    tiers.try_for_each(|tier| {
        TierFile::check(&tier.path)?;
        JournalFile::look(&tier.journal())
    })?;
    let sizes: Result<_, Error> = spec.exports.iter().map(|export| look(&export.disc)).collect();
    are_distinct(&spec.exports)?;
    let sizes = sizes?;
    spec.exports.iter().try_for_each(JournalFile::check)?;
    Ok(sizes)
}

/// What is behind an export: a file, a device or a socket by its numbers, or a host.
#[derive(Debug)]
enum Identity {
    File(u64, u64),
    /// By all its addresses; by its name if it has none now.
    Host(Vec<SocketAddr>, String, u16),
    /// Objects that a server can write.
    Chunks(String),
}

impl Identity {
    /// Whether both may be the same. A host has many names.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(device, number), Self::File(of, other)) => (device, number) == (of, other),
            (Self::Host(one, name, port), Self::Host(two, other, of)) => {
                (name, port) == (other, of) || one.iter().any(|address| two.contains(address))
            }
            (Self::Chunks(address), Self::Chunks(other)) => address == other,
            _ => false,
        }
    }
}

/// Refuses a disc under two names that one of them writes to, as each cache would keep what the other has changed; and
/// a tier of two exports.
pub(super) fn are_distinct(exports: &[ExportSpec]) -> Result<(), Error> {
    let of_path = |path: &Path| {
        // What is not there is refused where it is opened. A device may have several names.
        let found = std::fs::metadata(path).ok()?;
        let is_device = found.file_type().is_block_device();
        let (first, second) =
            if is_device { (found.rdev(), u64::MAX) } else { (found.dev(), found.ino()) };
        Some(Identity::File(first, second))
    };
    let identity = |export: &ExportSpec| match &export.disc {
        BackendSpec::File(path) | BackendSpec::Direct(path) => of_path(path),
        BackendSpec::Nbd(remote) => match &remote.place {
            RemotePlace::Unix(path) => of_path(path),
            RemotePlace::Tcp { host, port } => {
                let found = (host.as_str(), *port).to_socket_addrs();
                let addresses = found.map(Iterator::collect).unwrap_or_default();
                Some(Identity::Host(addresses, host.to_ascii_lowercase(), *port))
            }
        },
        // Nothing writes to it through a cache.
        BackendSpec::Object(_) => None,
        BackendSpec::Chunks(chunks) => Some(Identity::Chunks(chunks.address())),
    };
    let may_be = |one: &ExportSpec, other: &ExportSpec| match (&one.disc, &other.disc) {
        (BackendSpec::Nbd(one), BackendSpec::Nbd(other)) => one.may_be(other),
        _ => true,
    };
    let mut seen: Vec<(&ExportSpec, Identity)> = Vec::new();
    for export in exports {
        let Some(id) = identity(export) else { continue };
        let same =
            seen.iter().filter(|(other, other_id)| other_id.is(&id) && may_be(other, export));
        let both_read = |other: &ExportSpec| other.is_read_only && export.is_read_only;
        if let Some(other) = same.map(|(other, _)| other).find(|other| !both_read(other)) {
            return Err(Error::SameDisc(other.name.clone(), export.name.clone()));
        }
        seen.push((export, id));
    }
    have_own_tiers(exports)
}

/// Refuses a file that two exports have for a tier or its journal: each would overwrite what the other has there.
fn have_own_tiers(exports: &[ExportSpec]) -> Result<(), Error> {
    let mut seen: Vec<(&ExportSpec, TierPlace)> = Vec::new();
    for export in exports {
        for path in export.tier.iter().flat_map(TierSpec::files) {
            let place = TierPlace::of(&path);
            if let Some((other, _)) = seen.iter().find(|(_, known)| *known == place) {
                let (first, second) = (other.name.clone(), export.name.clone());
                return Err(Error::SameTier(first, second, path));
            }
            seen.push((export, place));
        }
    }
    Ok(())
}

/// A file by its device and number. One that is not there yet: by its directory, and its name there.
#[derive(Debug, PartialEq, Eq)]
struct TierPlace(u64, u64, Option<OsString>);

impl TierPlace {
    fn of(path: &Path) -> Self {
        if let Ok(found) = std::fs::metadata(path) {
            return Self(found.dev(), found.ino(), None);
        }
        match path.parent().map(std::fs::metadata) {
            Some(Ok(folder)) => {
                Self(folder.dev(), folder.ino(), path.file_name().map(OsStr::to_owned))
            }
            _ => Self(0, 0, Some(path.as_os_str().to_owned())),
        }
    }
}

fn look(disc: &BackendSpec) -> Result<Option<u64>, Error> {
    match disc {
        BackendSpec::File(path) | BackendSpec::Direct(path) => Ok(Some(nbd::look(path)?.1)),
        BackendSpec::Nbd(remote) => {
            let RemotePlace::Unix(socket) = &remote.place else { return Ok(None) };
            let failed = |error| Error::Backend { address: remote.to_string(), error };
            let found = std::fs::metadata(socket).map_err(failed)?;
            if found.file_type().is_socket() {
                return Ok(None);
            }
            Err(failed(std::io::Error::other("no socket")))
        }
        BackendSpec::Object(address) => object::check(address).map(|()| None),
        BackendSpec::Chunks(chunks) => object::check(&chunks.address()).map(|()| None),
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
