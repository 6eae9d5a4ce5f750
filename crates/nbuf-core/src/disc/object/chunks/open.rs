//! Opens a disc of chunks: its manifest, which is made if there is none, its lease, and the list of its chunks.

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use object_store::path::Path as Key;
use object_store::{ObjectStore, PutMode};

use super::super::super::done::lock;
use super::super::origin::{Facts, Version};
use super::super::{CHUNKS_BYTES, GIVE_UP, ObjectDiscError};
use super::layout::{CHUNK_BYTES, Layout};
use super::lease::{Lease, RENEW};
use super::manifest::{MANIFEST, layout, manifest};
use super::objects::{Missed, Objects};
use super::table::{Found, Table};
use super::{Chunks, Shared};

/// Which disc to open, and how.
#[derive(Debug)]
pub(crate) struct Opening {
    /// Its name in errors.
    address: String,
    /// Which process this is. No other one has this text.
    owner: String,
    /// The size that it is to have, and gets if there is no disc.
    size_bytes: Option<u64>,
    is_read_only: bool,
    /// The size of chunks of a new disc.
    pub(super) chunk_bytes: u64,
    /// Bytes of chunks that may be in memory.
    pub(super) held_bytes: u64,
    /// How long a request may take with all its tries.
    give_up: Duration,
}

impl Opening {
    /// A disc at this address, for the process with this text.
    pub(crate) fn new(
        address: String,
        owner: String,
        size_bytes: Option<u64>,
        is_read_only: bool,
    ) -> Self {
        let (chunk_bytes, held_bytes, give_up) = (CHUNK_BYTES, CHUNKS_BYTES, GIVE_UP);
        Self { address, owner, size_bytes, is_read_only, chunk_bytes, held_bytes, give_up }
    }
}

impl Chunks {
    /// Opens the disc below a prefix of a store, within the runtime that serves it.
    pub(crate) async fn open(
        store: (Arc<dyn ObjectStore>, Key),
        opening: &Opening,
    ) -> Result<Self, ObjectDiscError> {
        let address = opening.address.clone();
        let objects = Objects::new(store, address.clone(), opening.give_up);
        let layout = find(&objects, opening).await?;
        let lease = if opening.is_read_only {
            None
        } else {
            Some(Lease::take(&objects, &opening.owner).await?)
        };
        // Only now no other server changes them.
        let listed = listed(&objects, &layout, lease.as_ref()).await;
        if let (Err(_), Some(lease)) = (&listed, &lease) {
            lease.release(&objects).await;
        }
        let found = listed?.into_iter().map(|(chunk, bytes)| (chunk, Found::Listed(bytes)));
        let table = Table::new(layout, found.collect(), opening.held_bytes);
        let (table, keys) = (Mutex::new(table), RandomState::new());
        let shared = Arc::new(Shared { layout, objects, table, lease, keys });
        drop(tokio::spawn(renewals(Arc::downgrade(&shared))));
        let (size_bytes, version) = (layout.size_bytes(), Version::default());
        Ok(Self { facts: Facts { address, size_bytes, version }, shared })
    }
}

/// The chunks of a store that keeps conditions, and their sizes.
async fn listed(
    objects: &Objects,
    layout: &Layout,
    lease: Option<&Lease>,
) -> Result<HashMap<u32, u64>, ObjectDiscError> {
    if let Some(lease) = lease {
        lease.check_conditions(objects, manifest(layout).into()).await?;
    }
    Ok(chunks(layout, &objects.list().await?))
}

/// The layout in the manifest, which is made if there is none and a size is given.
async fn find(objects: &Objects, opening: &Opening) -> Result<Layout, ObjectDiscError> {
    let found = match known(objects).await? {
        Some(found) => found,
        None => make(objects, opening).await?,
    };
    match opening.size_bytes {
        Some(wanted) if wanted != found.size_bytes() => {
            let (address, bytes) = (opening.address.clone(), found.size_bytes());
            Err(ObjectDiscError::OtherSize { address, bytes, wanted })
        }
        _ => Ok(found),
    }
}

/// The layout in the manifest, if there is one.
async fn known(objects: &Objects) -> Result<Option<Layout>, ObjectDiscError> {
    match objects.get(MANIFEST, None, None).await {
        Ok(got) => {
            let address = objects.called(MANIFEST);
            let wrong = |why| ObjectDiscError::NoChunks { address, why };
            layout(&got.bytes).map(Some).map_err(wrong)
        }
        Err(Missed::Failed(error)) => Err(error),
        // There was no condition.
        Err(Missed::Absent | Missed::Other) => Ok(None),
    }
}

async fn make(objects: &Objects, opening: &Opening) -> Result<Layout, ObjectDiscError> {
    let none = || ObjectDiscError::NoDisc(opening.address.clone());
    let bytes = opening.size_bytes.filter(|_| !opening.is_read_only).ok_or_else(none)?;
    let wanted = Layout::new(bytes, opening.chunk_bytes);
    let wanted = wanted.map_err(|why| ObjectDiscError::ChunksSize { bytes, why })?;
    if !chunks(&wanted, &objects.list().await?).is_empty() {
        let why = "it has chunks without a manifest".to_owned();
        return Err(ObjectDiscError::NoChunks { address: opening.address.clone(), why });
    }
    match objects.put(MANIFEST, manifest(&wanted).into(), PutMode::Create).await {
        Ok(_) => Ok(wanted),
        // Another server was quicker, or an answer was lost.
        Err(Missed::Other) => known(objects).await?.ok_or_else(none),
        Err(Missed::Failed(error)) => Err(error),
        Err(Missed::Absent) => Err(ObjectDiscError::Absent(opening.address.clone())),
    }
}

/// The chunks among objects, and their sizes.
fn chunks(layout: &Layout, listed: &HashMap<String, u64>) -> HashMap<u32, u64> {
    let number = |(name, &bytes): (&String, &u64)| Some((layout.number(name)?, bytes));
    listed.iter().filter_map(number).collect()
}

/// Renews a lease until the disc is closed, or the lease is lost.
async fn renewals(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(RENEW).await;
        let Some(shared) = shared.upgrade() else { return };
        let Some(lease) = &shared.lease else { return };
        if lock(&shared.table).over.is_some() {
            return;
        }
        if let Ok(Err(lost)) = tokio::time::timeout(RENEW, lease.renew(&shared.objects)).await {
            shared.lose(lost);
            return;
        }
    }
}
