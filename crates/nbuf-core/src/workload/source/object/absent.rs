//! What stands in for the clients of object stores in a build without them.

use std::fs::File;
use std::io::Read;

use super::{Listing, Object, ObjectError};

fn none<T>(name: &str) -> Result<T, ObjectError> {
    Err(ObjectError::NotBuilt(name.to_owned()))
}

pub(super) fn look(name: &str) -> Result<Object, ObjectError> {
    none(name)
}

pub(super) fn list(name: &str) -> Result<Listing, ObjectError> {
    none(name)
}

pub(super) fn read(name: &str, _: usize) -> Result<(Object, Box<dyn Read + Send>), ObjectError> {
    none(name)
}

pub(super) fn fetch(object: &Object) -> Result<File, ObjectError> {
    none(&object.name)
}

pub(super) fn footer(name: &str) -> Result<File, ObjectError> {
    none(name)
}
