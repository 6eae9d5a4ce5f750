//! The inputs of a fleet: names, directories and patterns become files.
//!
//! Invariant: a file is an input once, however often and by whatever name it is given. A file that is named, also
//! by a pattern, is an input; one that is found in a directory is an input only if its format is known. Names of objects
//! are in [`objects`].

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use super::folder::{TASKS, first_line_is_ours};
use super::{Error, Spec, objects};
use crate::experiment::result::FleetInput;
use crate::experiment::session::Session;
use crate::units::Nanos;
use crate::workload::format::Batch;
use crate::workload::source::object::is_object;
use crate::workload::source::{self, CancellationToken, Options, Source};

/// A file that is an input.
#[derive(Clone)]
pub(super) struct Found {
    /// Its path as it was given, without `./`.
    pub(super) named: PathBuf,
    /// What the plan has of it: its path from the root, so that workers open it from any directory.
    pub(super) input: FleetInput,
}

/// The inputs, in the order of their names, and what is none.
#[derive(Default)]
pub(super) struct Inputs {
    pub(super) files: Vec<Found>,
    pub(super) unknown: Vec<PathBuf>,
    pub(super) doubles: Vec<PathBuf>,
}

/// An error once a signal came: what is looked at from then on may seem to be another thing than it is.
pub(super) fn must_go_on(token: &CancellationToken) -> Result<(), Error> {
    if token.is_cancelled() { Err(Error::Unplanned) } else { Ok(()) }
}

/// The inputs of a spec.
pub(super) fn find(spec: &Spec, session: &Session<'_>) -> Result<Inputs, Error> {
    let (mut inputs, token) = (Inputs::default(), session.cancellation.token());
    let mut named = BTreeSet::new();
    let must_be_known = spec.format.is_none();
    let (objects, paths): (Vec<&String>, Vec<&String>) =
        spec.inputs.iter().partition(|input| is_object(Path::new(input)));
    for input in paths {
        add(input, must_be_known, &mut named, &mut inputs.unknown, session)?;
    }
    let mut known = BTreeSet::new();
    for path in named {
        must_go_on(&token)?;
        let failed = |source| Error::Input { path: path.clone(), source };
        let metadata = fs::metadata(&path).map_err(failed)?;
        if !known.insert((metadata.dev(), metadata.ino())) {
            inputs.doubles.push(path);
            continue;
        }
        let absolute = std::path::absolute(&path).map_err(failed)?;
        let text = absolute.to_str().ok_or_else(|| Error::Name(path.clone()))?;
        let input = identity(text, &metadata);
        inputs.files.push(Found { named: path, input });
    }
    for (named, input) in objects::find(&objects, must_be_known, &mut inputs.unknown, session)? {
        inputs.files.push(Found { named, input });
    }
    must_go_on(&token)?;
    // A file that is named as well has a name to complain about.
    let named: BTreeSet<&PathBuf> = inputs.files.iter().map(|file| &file.named).collect();
    inputs.unknown.retain(|path| !named.contains(path));
    if inputs.files.is_empty() {
        return Err(match inputs.unknown.first() {
            Some(path) => Error::NoTrace { path: path.clone(), files: inputs.unknown.len() },
            None => Error::NoMatch("nothing".to_owned()),
        });
    }
    Ok(inputs)
}

/// Adds the files that one input stands for.
fn add(
    input: &str,
    must_be_known: bool,
    named: &mut BTreeSet<PathBuf>,
    unknown: &mut Vec<PathBuf>,
    session: &Session<'_>,
) -> Result<(), Error> {
    let (path, token) = (Path::new(input), session.cancellation.token());
    if path.is_dir() {
        let mut found = Vec::new();
        walk(path, &token, &mut found)?;
        if found.is_empty() {
            return Err(Error::NoMatch(format!("{}/*", path.display())));
        }
        let mut steps = session.steps("recognising (files)", found.len());
        for path in found {
            must_go_on(&token)?;
            steps.next();
            if must_be_known && !source::is_known(&path, &token) {
                unknown.push(plain(&path));
            } else {
                named.insert(plain(&path));
            }
        }
        return Ok(());
    }
    if path.exists() || !input.contains(['*', '?', '[']) {
        named.insert(plain(path));
        return Ok(());
    }
    let paths = glob::glob(input);
    let paths = paths.map_err(|source| Error::Pattern { pattern: input.to_owned(), source })?;
    let mut has_any = false;
    for found in paths {
        must_go_on(&token)?;
        let found = found.map_err(|error| Error::Input {
            path: error.path().to_owned(),
            source: error.into(),
        })?;
        if found.is_file() {
            has_any = true;
            named.insert(plain(&found));
        }
    }
    if has_any { Ok(()) } else { Err(Error::NoMatch(input.to_owned())) }
}

/// A path without the `./` at its beginning or inside.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// All regular files below a directory but those of fleets; names that begin with a dot are not of a trace.
fn walk(
    directory: &Path,
    token: &CancellationToken,
    found: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    let failed = |source| Error::Input { path: directory.to_owned(), source };
    if first_line_is_ours(&directory.join(TASKS)) {
        return Ok(());
    }
    for entry in fs::read_dir(directory).map_err(failed)? {
        must_go_on(token)?;
        let entry = entry.map_err(failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            walk(&entry.path(), token, found)?;
        } else if entry.path().is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// A moment on the clock of the inputs: this time after the earliest of their first requests. A native trace
/// begins at 0, and so does what cannot be read: its task says why.
pub(super) fn until_us(
    files: &[Found],
    spec: &Spec,
    until: Nanos,
    session: &Session<'_>,
) -> Result<i64, Error> {
    let mut steps = session.steps("first requests (inputs)", files.len());
    let token = session.cancellation.token();
    let is_native = |path: &Path| path.extension().is_some_and(|end| end == "parquet");
    let first_ns = |file: &Found| {
        if is_native(&file.named) {
            return Some(0);
        }
        // An empty file has none, and what is read of a pipe is gone.
        if file.input.bytes == 0 {
            return None;
        }
        let format = spec.format.clone();
        let options = Options { format, problems_max: u64::MAX, ..Options::default() };
        let (paths, opening) = (std::slice::from_ref(&file.named), session.opening_quietly());
        let mut source = Source::open_with(paths, &options, &opening).ok()?;
        let mut batch = Batch::default();
        source.next(&mut batch).ok()?;
        batch.requests.first().map(|request| request.time_ns)
    };
    let mut start = None::<i64>;
    for file in files {
        must_go_on(&token)?;
        steps.next();
        start = start.into_iter().chain(first_ns(file)).min();
    }
    let until = i64::try_from(until.0).unwrap_or(i64::MAX);
    Ok(start.unwrap_or_default().saturating_add(until) / 1000)
}

/// An input as it is now.
fn identity(path: &str, metadata: &fs::Metadata) -> FleetInput {
    FleetInput {
        path: path.to_owned(),
        bytes: metadata.len(),
        modified_seconds: metadata.mtime(),
        modified_nanoseconds: u32::try_from(metadata.mtime_nsec()).unwrap_or_default(),
        tag: None,
    }
}

/// Whether an input is as it was when the plan was made.
pub(super) fn is_unchanged(input: &FleetInput, token: &CancellationToken) -> Result<bool, Error> {
    let path = Path::new(&input.path);
    if is_object(path) {
        return objects::is_unchanged(input, token);
    }
    let metadata = fs::metadata(path);
    let metadata = metadata.map_err(|source| Error::Input { path: path.to_owned(), source })?;
    Ok(identity(&input.path, &metadata) == *input)
}
