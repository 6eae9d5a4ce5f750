//! An object for a runtime of the caller, such as the one of a disc.

use std::sync::Arc;

use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _};

use super::client::{Client, client};
use super::failed::{Unanswered, failed};
use super::parts::Name;
use super::store::object;
use super::{Object, ObjectError};

/// An object that can be read.
pub(crate) struct Reached {
    /// The client of its store, and its key there.
    pub(crate) client: (Arc<dyn ObjectStore>, Key),
    /// Its description.
    pub(crate) object: Object,
}

/// Looks at an object, with a client that [`connect`] makes.
pub(crate) async fn reach(full: &str) -> Result<Reached, ObjectError> {
    let name = Name::of(full)?;
    if name.is_folder {
        let why = "it is the name of a folder";
        return Err(ObjectError::Name { name: full.to_owned(), why });
    }
    let (store, key) = connect(full).await?;
    let meta = store.head(&key).await.map_err(|error| failed(full, &error))?;
    Ok(Reached { client: (store, key), object: object(&name, meta) })
}

/// The client of the store of a name, and the key there, which may be a prefix. Asks for credentials first, where the
/// environment has none. The client belongs to the runtime of this call.
pub(crate) async fn connect(full: &str) -> Result<(Arc<dyn ObjectStore>, Key), ObjectError> {
    let name = Name::of(full)?;
    let settings = |error| ObjectError::Settings { name: full.to_owned(), source: Box::new(error) };
    let Client { store, cloud } = client(&name).map_err(settings)?;
    if let Some(cloud) = cloud {
        let asked = cloud.ask().await.map_err(Unanswered::from);
        asked.map_err(|unanswered| unanswered.of_credentials(full, cloud.remedy()))?;
    }
    let key = Key::parse(&name.key).map_err(|error| failed(full, &error.into()))?;
    Ok((store, key))
}
