//! Opens a disc that is one object: `https://HOST/PATH`, `s3://BUCKET/KEY`.

use super::Error;
use crate::clock::Stopwatch;
use crate::disc::object::{ObjectDisc, ObjectDiscError};

/// Opens the object of this address.
#[cfg(feature = "object-stores")]
pub(super) fn open(address: &str, clock: Stopwatch) -> Result<ObjectDisc, Error> {
    use crate::disc::object::GIVE_UP;
    use crate::path::nbd::ServerError;

    let no_thread = |error| Error::Server(ServerError::Wait(error));
    ObjectDisc::open(clients::origin(address.to_owned()), GIVE_UP, clock, no_thread)
}

/// Opens no object: this build has no clients.
#[cfg(not(feature = "object-stores"))]
pub(super) fn open(address: &str, _: Stopwatch) -> Result<ObjectDisc, Error> {
    Err(not_built(address))
}

/// Whether this build has clients; asks no server.
pub(super) fn check(address: &str) -> Result<(), Error> {
    if cfg!(feature = "object-stores") { Ok(()) } else { Err(not_built(address)) }
}

fn not_built(address: &str) -> Error {
    ObjectDiscError::NotBuilt(address.split('?').next().unwrap_or_default().to_owned()).into()
}

#[cfg(feature = "object-stores")]
mod clients {
    use std::time::Duration;

    use super::super::Error;
    use crate::disc::object::{Http, ObjectDiscError, Origin, Stored, Version, is_web};
    use crate::workload::source::object::{Reached, reach};

    /// How long a store may take to describe an object, with its credentials and all tries.
    const LOOK: Duration = Duration::from_secs(30);

    /// Asks the server or the store about the object.
    pub(super) async fn origin(address: String) -> Result<Origin, Error> {
        if is_web(&address) {
            return Ok(Origin::Web(Http::open(&address).await?));
        }
        let Ok(reached) = tokio::time::timeout(LOOK, reach(&address)).await else {
            let why = format!("no answer in {} s", LOOK.as_secs());
            return Err(ObjectDiscError::Unreachable { address, why }.into());
        };
        let Reached { client, object } = reached?;
        let version = Version { tag: object.tag, modified: Some(object.modified_ns.to_string()) };
        Ok(Origin::Store(Stored::new(client, address, object.bytes, version)?))
    }
}
