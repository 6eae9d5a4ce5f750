//! Opens a disc in a store: one object (`https://HOST/PATH`, `s3://BUCKET/KEY`), or chunks (`s3+chunks://BUCKET/PREFIX`).

use super::{ChunksSpec, Error};
use crate::clock::Stopwatch;
use crate::disc::object::{ObjectDisc, ObjectDiscError};
#[cfg(feature = "object-stores")]
use clients as here;
#[cfg(not(feature = "object-stores"))]
use none as here;

/// Opens the object of this address.
pub(super) fn open(address: &str, clock: Stopwatch) -> Result<ObjectDisc, Error> {
    here::open(address, clock)
}

/// Opens a disc of chunks, and makes it if it has a size and is not there. Only a disc that is written has a lease.
pub(super) fn open_chunks(
    chunks: &ChunksSpec,
    is_read_only: bool,
    clock: Stopwatch,
) -> Result<ObjectDisc, Error> {
    here::open_chunks(chunks, is_read_only, clock)
}

/// Whether this build has clients; asks no server.
pub(super) fn check(address: &str) -> Result<(), Error> {
    if cfg!(feature = "object-stores") { Ok(()) } else { Err(not_built(address)) }
}

fn not_built(address: &str) -> Error {
    ObjectDiscError::NotBuilt(address.split('?').next().unwrap_or_default().to_owned()).into()
}

/// A build without clients.
#[cfg(not(feature = "object-stores"))]
mod none {
    use super::{ChunksSpec, Error, ObjectDisc, Stopwatch, not_built};

    pub(super) fn open(address: &str, _: Stopwatch) -> Result<ObjectDisc, Error> {
        Err(not_built(address))
    }

    pub(super) fn open_chunks(
        chunks: &ChunksSpec,
        _: bool,
        _: Stopwatch,
    ) -> Result<ObjectDisc, Error> {
        Err(not_built(&chunks.address()))
    }
}

#[cfg(feature = "object-stores")]
mod clients {
    use std::fs::File;
    use std::hash::{BuildHasher as _, RandomState};
    use std::io::{self, Read as _};
    use std::path::Path;
    use std::time::Duration;

    use rustix::fs::OFlags;

    use super::{ChunksSpec, Error, ObjectDisc, ObjectDiscError, Stopwatch};
    use crate::disc::object::{Chunks, GIVE_UP, Http, Opening, Origin, Stored, Version, is_web};
    use crate::path::nbd::ServerError;
    use crate::sys::files;
    use crate::workload::source::object::{Reached, connect, reach};

    /// How long a store may take to describe an object, with its credentials and all tries.
    const LOOK: Duration = Duration::from_secs(30);

    /// Where the kernel has the name of the host.
    const HOST_NAME: &str = "/proc/sys/kernel/hostname";

    pub(super) fn open(address: &str, clock: Stopwatch) -> Result<ObjectDisc, Error> {
        ObjectDisc::open(origin(address.to_owned()), GIVE_UP, clock, no_thread)
    }

    pub(super) fn open_chunks(
        chunks: &ChunksSpec,
        is_read_only: bool,
        clock: Stopwatch,
    ) -> Result<ObjectDisc, Error> {
        let (prefix, address) = (chunks.prefix(), chunks.address());
        let size_bytes = chunks.size.map(|size| size.0);
        let opening = Opening::new(address.clone(), owner(), size_bytes, is_read_only);
        let origin = async move {
            let place = in_time(&address, connect(&prefix)).await??;
            Ok(Origin::Chunks(Chunks::open(place, &opening).await?))
        };
        ObjectDisc::open(origin, GIVE_UP, clock, no_thread)
    }

    fn no_thread(error: io::Error) -> Error {
        Error::Server(ServerError::Wait(error))
    }

    /// Asks the server or the store about the object.
    async fn origin(address: String) -> Result<Origin, Error> {
        if is_web(&address) {
            return Ok(Origin::Web(Http::open(&address).await?));
        }
        let Reached { client, object } = in_time(&address, reach(&address)).await??;
        let version = Version { tag: object.tag, modified: Some(object.modified_ns.to_string()) };
        Ok(Origin::Store(Stored::new(client, address, object.bytes, version)?))
    }

    async fn in_time<T>(address: &str, ask: impl Future<Output = T>) -> Result<T, Error> {
        tokio::time::timeout(LOOK, ask).await.map_err(|_| {
            let why = format!("no answer in {} s", LOOK.as_secs());
            ObjectDiscError::Unreachable { address: address.to_owned(), why }.into()
        })
    }

    /// A text that no other process has, and that says where this one runs.
    fn owner() -> String {
        let mut host = String::new();
        // Without a name of the host, the number tells it from others.
        if let Ok(file) = files::open_path(Path::new(HOST_NAME), OFlags::RDONLY) {
            let _ = File::from(file).read_to_string(&mut host);
        }
        let process = std::process::id();
        let number = RandomState::new().hash_one(process);
        format!("{}, process {process}, {number:016x}", host.trim())
    }
}
