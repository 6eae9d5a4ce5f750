//! The client of a store: its settings, what it lists and what it reads.

use std::cell::RefCell;
use std::fs::File;
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::runtime::{Builder, Runtime};

use super::client::{Client, client};
use super::download::Download;
use super::failed::{Unanswered, failed};
use super::parts::Name;
use super::{CancellationToken, Listing, Object, ObjectError};
use crate::sys::publish::{Readers, Unfinished};

/// Between two looks whether the wait for an answer is cancelled.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes at the end of an object that hold its footer, usually.
const FOOTER_BYTES: u64 = 1 << 16;

/// A bucket, with the connections to it.
pub(super) struct Store {
    runtime: Runtime,
    client: Arc<dyn ObjectStore>,
}

/// What a store is known by: the process, as connections do not survive a fork, the bucket, and the environment.
type Known = (u32, String, u64);

thread_local! {
    /// The last store of this thread.
    static LAST: RefCell<Option<(Known, Arc<Store>)>> = const { RefCell::new(None) };
}

impl Store {
    /// The store of a name.
    fn of(name: &Name, full: &str, token: &CancellationToken) -> Result<Arc<Self>, ObjectError> {
        let key = (std::process::id(), name.store(), environment());
        let last = LAST.take();
        if let Some((known, store)) = last {
            if known == key {
                LAST.set(Some((known, Arc::clone(&store))));
                return Ok(store);
            }
            if known.0 != key.0 {
                // Its threads are the parent's, so its end would wait for ever.
                std::mem::forget(store);
            }
        }
        let failed = |source| ObjectError::Settings { name: full.to_owned(), source };
        let Client { store, cloud } = client(name).map_err(|error| failed(Box::new(error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(Box::new(error)))?;
        let store = Arc::new(Self { runtime, client: store });
        if let Some(cloud) = cloud {
            let asked = store.wait(token, cloud.ask());
            asked.map_err(|unanswered| unanswered.of_credentials(full, cloud.remedy()))?;
        }
        LAST.set(Some((key, Arc::clone(&store))));
        Ok(store)
    }

    /// Waits for an answer until it comes or the wait is cancelled.
    fn wait<T>(
        &self,
        token: &CancellationToken,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Unanswered> {
        let mut answer = pin!(answer);
        self.runtime.block_on(async {
            while !token.is_cancelled() {
                if let Ok(done) = tokio::time::timeout(LOOK, answer.as_mut()).await {
                    return done.map_err(Unanswered::from);
                }
            }
            Err(Unanswered::Cancelled)
        })
    }

    fn look(&self, key: &str, token: &CancellationToken) -> Result<ObjectMeta, Unanswered> {
        let key = Key::parse(key).map_err(Error::from)?;
        self.wait(token, self.client.head(&key))
    }

    fn below(
        &self,
        folder: &str,
        token: &CancellationToken,
    ) -> Result<Vec<ObjectMeta>, Unanswered> {
        let folder = Key::parse(folder).map_err(Error::from)?;
        let folder = Some(&folder).filter(|folder| !folder.as_ref().is_empty());
        self.wait(token, self.client.list(folder).try_collect())
    }

    /// Ranges of one version of an object, asked for at once.
    pub(super) fn ranges(
        &self,
        key: &Key,
        tag: Option<&str>,
        ranges: impl Iterator<Item = Range<u64>>,
        token: &CancellationToken,
    ) -> Result<Vec<bytes::Bytes>, Unanswered> {
        let one = |range: Range<u64>| async move {
            let if_match = tag.map(str::to_owned);
            let options =
                GetOptions { range: Some(range.into()), if_match, ..GetOptions::default() };
            self.client.get_opts(key, options).await?.bytes().await
        };
        self.wait(token, futures_util::future::try_join_all(ranges.map(one)))
    }
}

/// A hash of the variables with settings and credentials, which may change between two calls.
fn environment() -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    let is_ours = |name: &str| {
        ["AWS_", "AZURE_", "AZURITE_", "GOOGLE_", "SERVICE_"]
            .iter()
            .any(|one| name.starts_with(one))
    };
    let mut variables: Vec<_> =
        std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_ours)).collect();
    variables.sort();
    variables.hash(&mut hasher);
    hasher.finish()
}

pub(super) fn object(name: &Name, meta: ObjectMeta) -> Object {
    let modified_ns = i128::from(meta.last_modified.timestamp()) * 1_000_000_000
        + i128::from(meta.last_modified.timestamp_subsec_nanos());
    let tag = meta.e_tag;
    Object { name: name.sibling(meta.location.as_ref()), bytes: meta.size, modified_ns, tag }
}

pub(super) fn look(full: &str, token: &CancellationToken) -> Result<Object, ObjectError> {
    let name = Name::of(full)?;
    let meta = Store::of(&name, full, token)?.look(&name.key, token);
    Ok(object(&name, meta.map_err(|unanswered| unanswered.of(full))?))
}

pub(super) fn list(full: &str, token: &CancellationToken) -> Result<Listing, ObjectError> {
    let name = Name::of(full)?;
    let store = Store::of(&name, full, token)?;
    let wrong = |unanswered: Unanswered| unanswered.of(full);
    let mut is_folder = false;
    let found = if let Some(folder) = name.before_pattern() {
        let why = "its pattern cannot be read";
        let pattern = glob::Pattern::new(&name.key);
        let pattern = pattern.map_err(|_| ObjectError::Name { name: full.to_owned(), why })?;
        let options = glob::MatchOptions {
            require_literal_separator: true,
            require_literal_leading_dot: true,
            ..glob::MatchOptions::default()
        };
        let mut found = store.below(folder, token).map_err(wrong)?;
        found.retain(|meta| pattern.matches_with(meta.location.as_ref(), options));
        found
    } else {
        match if name.is_folder { None } else { Some(store.look(&name.key, token)) } {
            Some(Ok(meta)) => vec![meta],
            // A folder exists only as a part of names.
            None | Some(Err(Unanswered::Failed(Error::NotFound { .. }))) => {
                is_folder = true;
                let mut found = store.below(&name.key, token).map_err(wrong)?;
                let hidden = |meta: &ObjectMeta| {
                    let below = &meta.location.as_ref()[name.key.len()..];
                    below.split('/').any(|part| part.starts_with('.'))
                };
                found.retain(|meta| !hidden(meta));
                found
            }
            Some(Err(unanswered)) => return Err(wrong(unanswered)),
        }
    };
    if found.is_empty() {
        return Err(ObjectError::Absent(full.to_owned()));
    }
    let mut objects: Vec<Object> = found.into_iter().map(|meta| object(&name, meta)).collect();
    objects.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Listing { objects, is_folder })
}

pub(super) fn read(
    full: &str,
    merged: usize,
    token: &CancellationToken,
) -> Result<(Object, Box<dyn Read + Send>), ObjectError> {
    let object = look(full, token)?;
    let mut download = download(&object, token)?;
    download.is_one_of(merged);
    Ok((object, Box::new(download)))
}

fn download(object: &Object, token: &CancellationToken) -> Result<Download, ObjectError> {
    let name = Name::of(&object.name)?;
    let store = Store::of(&name, &object.name, token)?;
    let key = Key::parse(&name.key).map_err(|error| failed(&object.name, &error.into()))?;
    Ok(Download::new(store, key, object.clone(), token.clone()))
}

pub(super) fn fetch(
    object: &Object,
    token: &CancellationToken,
    copied: &dyn Fn(u64),
) -> Result<File, ObjectError> {
    copy(object, download(object, token)?, copied)
}

/// The bytes of an object in a file; `copied` gets how many there are so far.
fn copy(
    object: &Object,
    mut download: Download,
    copied: &dyn Fn(u64),
) -> Result<File, ObjectError> {
    let kept = |source| ObjectError::Temporary { name: object.name.clone(), source };
    let (mut file, mut done) = (unnamed().map_err(kept)?, 0);
    copied(done);
    while let Some(chunk) = download.chunk()? {
        file.write_all(&chunk).map_err(kept)?;
        done += chunk.len() as u64;
        copied(done);
    }
    file.seek(SeekFrom::Start(0)).map_err(kept)?;
    Ok(file)
}

pub(super) fn footer(full: &str, token: &CancellationToken) -> Result<File, ObjectError> {
    let object = look(full, token)?;
    let kept = |source| ObjectError::Temporary { name: full.to_owned(), source };
    let mut file = unnamed().map_err(kept)?;
    file.set_len(object.bytes).map_err(kept)?;
    let mut wanted = FOOTER_BYTES.min(object.bytes);
    loop {
        let from = object.bytes - wanted;
        let mut download = download(&object, token)?;
        download.skip_to(from);
        file.seek(SeekFrom::Start(from)).map_err(kept)?;
        while let Some(chunk) = download.chunk()? {
            file.write_all(&chunk).map_err(kept)?;
        }
        let mut tail = [0; 8];
        if object.bytes >= tail.len() as u64 {
            file.seek(SeekFrom::End(-8)).and_then(|_| file.read_exact(&mut tail)).map_err(kept)?;
        }
        // Behind a footer there are its length and a mark.
        let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
        let needed = (length + tail.len() as u64).min(object.bytes);
        if needed <= wanted || !tail.ends_with(b"PAR1") {
            return Ok(file);
        }
        wanted = needed;
    }
}

/// A temporary file without a name, so that a killed process leaves nothing.
fn unnamed() -> io::Result<File> {
    let place = std::env::temp_dir().join("nbuf-object");
    // Where there are none without a name, it has one until this function ends.
    Unfinished::create(Path::new(&place), Readers::Owner)?.file().try_clone()
}

#[cfg(test)]
mod tests;
