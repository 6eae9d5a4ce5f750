//! The inputs of a fleet that are in object stores.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use super::inputs::must_go_on;
use crate::experiment::result::FleetInput;
use crate::experiment::session::Session;
use crate::workload::source::object::{self, Listing, Object};
use crate::workload::source::{CancellationToken, ObjectError, is_known};

/// The objects that these names stand for, in the order of their names. Those that are found below a folder and of no
/// known format go to `unknown`.
pub(super) fn find(
    names: &[&String],
    must_be_known: bool,
    unknown: &mut Vec<PathBuf>,
    session: &Session<'_>,
) -> Result<BTreeMap<PathBuf, FleetInput>, Error> {
    let (mut found, token) = (BTreeMap::new(), session.cancellation.token());
    for name in names {
        let Listing { objects, is_folder } = object::list(name, &token)?;
        let mut steps = session.steps("recognising (objects)", objects.len());
        for object in objects {
            must_go_on(&token)?;
            steps.next();
            // Consoles mark a folder by an empty object `folder/`, which a listing has as `folder`.
            if object.bytes == 0
                && matches!(object::look(&object.name, &token), Err(ObjectError::Absent(_)))
            {
                continue;
            }
            let path = PathBuf::from(&object.name);
            if must_be_known && is_folder && !is_known(&path, &token) {
                unknown.push(path);
            } else {
                found.insert(path, identity(object));
            }
        }
    }
    Ok(found)
}

/// An object as it is now. Some listings have tags without the quotes of an answer for one object.
fn identity(object: Object) -> FleetInput {
    let seconds = object.modified_ns.div_euclid(1_000_000_000);
    let nanoseconds = object.modified_ns.rem_euclid(1_000_000_000);
    FleetInput {
        path: object.name,
        bytes: object.bytes,
        modified_seconds: i64::try_from(seconds).unwrap_or_default(),
        modified_nanoseconds: u32::try_from(nanoseconds).unwrap_or_default(),
        tag: object.tag.map(|tag| tag.trim_matches('"').to_owned()),
    }
}

/// Whether an object is as it was when the plan was made. A listing has the time to the millisecond, and the answer
/// for one object to the second.
pub(super) fn is_unchanged(input: &FleetInput, token: &CancellationToken) -> Result<bool, Error> {
    let now = identity(object::look(&input.path, token)?);
    Ok(FleetInput { modified_nanoseconds: input.modified_nanoseconds, ..now } == *input)
}

/// The footer of a native trace; nothing where it cannot be had.
pub(super) fn footer(path: &Path, token: &CancellationToken) -> Option<std::fs::File> {
    object::footer(path, token).ok()
}
