//! What stands in for the clients of object stores in a build without them.

use std::fs::File;
use std::io::Read;

use super::{CancellationToken, Listing, Object, ObjectError};

fn none<T>(name: &str) -> Result<T, ObjectError> {
    Err(ObjectError::NotBuilt(name.to_owned()))
}

pub(super) fn look(name: &str, _: &CancellationToken) -> Result<Object, ObjectError> {
    none(name)
}

pub(super) fn list(name: &str, _: &CancellationToken) -> Result<Listing, ObjectError> {
    none(name)
}

pub(super) fn read(
    name: &str,
    _: usize,
    _: &CancellationToken,
) -> Result<(Object, Box<dyn Read + Send>), ObjectError> {
    none(name)
}

pub(super) fn fetch(
    object: &Object,
    _: &CancellationToken,
    _: &dyn Fn(u64),
) -> Result<File, ObjectError> {
    none(&object.name)
}

pub(super) fn footer(name: &str, _: &CancellationToken) -> Result<File, ObjectError> {
    none(name)
}
