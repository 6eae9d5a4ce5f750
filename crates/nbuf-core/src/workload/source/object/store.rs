//! The client of a store: its settings, what it lists and what it reads.

use std::cell::RefCell;
use std::fs::File;
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{
    ClientOptions, Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig,
};
use tokio::runtime::{Builder, Runtime};

use super::download::Download;
use super::failed::failed;
use super::parts::Name;
use super::{Listing, Object, ObjectError};
use crate::sys::publish::{Readers, Unfinished};

/// Tries of a request after the first, and how long they may take.
const RETRIES: usize = 5;
const RETRY_SECONDS: u64 = 60;
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
    fn of(name: &Name, full: &str) -> Result<Arc<Self>, ObjectError> {
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
        let client = client(name).map_err(|error| failed(Box::new(error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(Box::new(error)))?;
        let store = Arc::new(Self { runtime, client });
        LAST.set(Some((key, Arc::clone(&store))));
        Ok(store)
    }

    fn look(&self, key: &str) -> Result<ObjectMeta, Error> {
        let key = Key::parse(key)?;
        self.runtime.block_on(self.client.head(&key))
    }

    fn below(&self, folder: &str) -> Result<Vec<ObjectMeta>, Error> {
        let folder = Key::parse(folder)?;
        let folder = Some(&folder).filter(|folder| !folder.as_ref().is_empty());
        self.runtime.block_on(self.client.list(folder).try_collect())
    }

    /// Ranges of one version of an object, asked for at once.
    pub(super) fn ranges(
        &self,
        key: &Key,
        tag: Option<&str>,
        ranges: impl Iterator<Item = Range<u64>>,
    ) -> Result<Vec<bytes::Bytes>, Error> {
        let one = |range: Range<u64>| async move {
            let if_match = tag.map(str::to_owned);
            let options =
                GetOptions { range: Some(range.into()), if_match, ..GetOptions::default() };
            self.client.get_opts(key, options).await?.bytes().await
        };
        self.runtime.block_on(futures_util::future::try_join_all(ranges.map(one)))
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

/// A client with the settings of the environment.
fn client(name: &Name) -> Result<Arc<dyn ObjectStore>, Error> {
    // An earlier call has installed the same, or the host program another one that does.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = name.store();
    let retry = RetryConfig {
        max_retries: RETRIES,
        retry_timeout: std::time::Duration::from_secs(RETRY_SECONDS),
        ..RetryConfig::default()
    };
    // Whether plain HTTP is allowed is a setting of the environment for S3 alone: emulators need it.
    let is_plain = |variable: &str| {
        std::env::var(variable).is_ok_and(|url| url.to_ascii_lowercase().starts_with("http://"))
    };
    let options = |plain| ClientOptions::new().with_allow_http(plain);
    Ok(match name.scheme.as_str() {
        "s3" => {
            let plain = is_plain("AWS_ENDPOINT_URL") || is_plain("AWS_ENDPOINT_URL_S3");
            let builder = AmazonS3Builder::from_env().with_url(url).with_retry(retry);
            let builder = if plain { builder.with_allow_http(true) } else { builder };
            Arc::new(builder.build()?)
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(url).with_retry(retry);
            let plain = is_plain("GOOGLE_BASE_URL");
            let builder = if plain { builder.with_client_options(options(true)) } else { builder };
            Arc::new(builder.build()?)
        }
        _ => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(url).with_retry(retry);
            let plain = is_plain("AZURE_STORAGE_ENDPOINT") || is_plain("AZURITE_BLOB_STORAGE_URL");
            let builder = if plain { builder.with_allow_http(true) } else { builder };
            Arc::new(builder.build()?)
        }
    })
}

fn object(name: &Name, meta: ObjectMeta) -> Object {
    let modified_ns = i128::from(meta.last_modified.timestamp()) * 1_000_000_000
        + i128::from(meta.last_modified.timestamp_subsec_nanos());
    let tag = meta.e_tag;
    Object { name: name.sibling(meta.location.as_ref()), bytes: meta.size, modified_ns, tag }
}

pub(super) fn look(full: &str) -> Result<Object, ObjectError> {
    let name = Name::of(full)?;
    let meta = Store::of(&name, full)?.look(&name.key).map_err(|error| failed(full, &error))?;
    Ok(object(&name, meta))
}

pub(super) fn list(full: &str) -> Result<Listing, ObjectError> {
    let name = Name::of(full)?;
    let store = Store::of(&name, full)?;
    let wrong = |error| failed(full, &error);
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
        let mut found = store.below(folder).map_err(wrong)?;
        found.retain(|meta| pattern.matches_with(meta.location.as_ref(), options));
        found
    } else {
        match if name.is_folder { None } else { Some(store.look(&name.key)) } {
            Some(Ok(meta)) => vec![meta],
            Some(Err(error)) if !matches!(error, Error::NotFound { .. }) => {
                return Err(wrong(error));
            }
            // A folder exists only as a part of names.
            None | Some(Err(_)) => {
                is_folder = true;
                let mut found = store.below(&name.key).map_err(wrong)?;
                let hidden = |meta: &ObjectMeta| {
                    let below = &meta.location.as_ref()[name.key.len()..];
                    below.split('/').any(|part| part.starts_with('.'))
                };
                found.retain(|meta| !hidden(meta));
                found
            }
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
) -> Result<(Object, Box<dyn Read + Send>), ObjectError> {
    let object = look(full)?;
    let mut download = download(&object)?;
    download.is_one_of(merged);
    Ok((object, Box::new(download)))
}

fn download(object: &Object) -> Result<Download, ObjectError> {
    let name = Name::of(&object.name)?;
    let store = Store::of(&name, &object.name)?;
    let key = Key::parse(&name.key).map_err(|error| failed(&object.name, &error.into()))?;
    Ok(Download::new(store, key, object.clone()))
}

pub(super) fn fetch(object: &Object) -> Result<File, ObjectError> {
    let kept = |source| ObjectError::Temporary { name: object.name.clone(), source };
    let (mut file, mut download) = (unnamed().map_err(kept)?, download(object)?);
    while let Some(chunk) = download.chunk()? {
        file.write_all(&chunk).map_err(kept)?;
    }
    file.seek(SeekFrom::Start(0)).map_err(kept)?;
    Ok(file)
}

pub(super) fn footer(full: &str) -> Result<File, ObjectError> {
    let object = look(full)?;
    let kept = |source| ObjectError::Temporary { name: full.to_owned(), source };
    let mut file = unnamed().map_err(kept)?;
    file.set_len(object.bytes).map_err(kept)?;
    let mut wanted = FOOTER_BYTES.min(object.bytes);
    loop {
        let from = object.bytes - wanted;
        let mut download = download(&object)?;
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
