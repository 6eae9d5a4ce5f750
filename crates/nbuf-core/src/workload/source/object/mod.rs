//! Inputs in object stores: S3 and what speaks its protocol, Azure Blob Storage, Google Cloud Storage.
//!
//! A name such as `s3://bucket/traces/a.csv` is an input like a path. Texts and packed inputs flow through memory;
//! a native trace, whose index is at its end, goes into a temporary file without a name. Credentials come from
//! the environment of the process that reads. Invariant: all bytes of an input are of one
//! version of its object, if the store has tags. A cancellation ends every wait for a store.
//! Cost: a request for the object, and one for each MiB of it, four at a time. Not to be called in a task of tokio: use
//! `spawn_blocking`.
//!
//! Without the feature `object-stores`, such names are refused.

#[cfg(not(feature = "object-stores"))]
mod absent;
#[cfg(feature = "object-stores")]
mod client;
#[cfg(feature = "object-stores")]
mod download;
mod error;
#[cfg(feature = "object-stores")]
mod failed;
mod name;
#[cfg(feature = "object-stores")]
mod parts;
#[cfg(all(feature = "object-stores", feature = "paths"))]
mod reach;
#[cfg(feature = "object-stores")]
mod store;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::cancellation::CancellationToken;
use super::opening::Opening;
use super::progress::Progress;
#[cfg(not(feature = "object-stores"))]
use absent as here;
pub use error::ObjectError;
pub(crate) use name::is_object;
#[cfg(all(feature = "object-stores", feature = "paths"))]
pub(crate) use reach::{Reached, connect, reach};
#[cfg(feature = "object-stores")]
use store as here;

/// An object, as its store describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// Its whole name: `s3://bucket/key`.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// When it was written: nanoseconds since 1970.
    pub(crate) modified_ns: i128,
    /// What changes with each version of it, where the store has such a thing.
    pub(crate) tag: Option<String>,
}

/// What a store has of an object.
pub(crate) fn look(name: &str, token: &CancellationToken) -> Result<Object, ObjectError> {
    here::look(name, token)
}

/// What a name stands for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// By their names.
    pub(crate) objects: Vec<Object>,
    /// Whether they were found below a folder.
    pub(crate) is_folder: bool,
}

/// The objects that a name stands for: one, all below a folder, or those that match a pattern. Names that begin with a
/// dot are of no trace.
pub(crate) fn list(name: &str, token: &CancellationToken) -> Result<Listing, ObjectError> {
    here::list(name, token)
}

/// The names of objects that a name with `*`, `?` or `[` matches, or this name alone; nothing for a path. Asks a store
/// only for a pattern.
///
/// # Errors
/// Those of the store, that nothing matches, and a cancellation.
pub(crate) fn expand(
    name: &str,
    token: &CancellationToken,
) -> Result<Option<Vec<String>>, ObjectError> {
    if !is_object(Path::new(name)) {
        return Ok(None);
    }
    if !name.contains(['*', '?', '[']) {
        return Ok(Some(vec![name.to_owned()]));
    }
    Ok(Some(list(name, token)?.objects.into_iter().map(|object| object.name).collect()))
}

/// The bytes of an object, from its beginning. `merged` objects are read at the same time.
pub(crate) fn read(
    path: &Path,
    merged: usize,
    token: &CancellationToken,
) -> Result<(Object, Box<dyn Read + Send>), ObjectError> {
    here::read(&text(path)?, merged, token)
}

/// The object in a temporary file without a name. An end before its time leaves none.
pub(crate) fn fetch(object: &Object, opening: &Opening<'_>) -> Result<File, ObjectError> {
    let total_bytes = object.bytes;
    let copied = |done_bytes| (opening.copying)(Progress { done_bytes, total_bytes });
    here::fetch(object, &opening.token, &copied)
}

/// A temporary file of the object's length that has the last bytes of it, and holes before them.
pub(crate) fn footer(path: &Path, token: &CancellationToken) -> Result<File, ObjectError> {
    here::footer(&text(path)?, token)
}

fn text(path: &Path) -> Result<String, ObjectError> {
    let wrong = || ObjectError::Name { name: path.display().to_string(), why: "it is not UTF-8" };
    path.to_str().map(str::to_owned).ok_or_else(wrong)
}
