//! Discs by files: descriptions of drives, documents of latencies, and large files measured now.

use std::io::Read as _;
use std::path::Path;

use super::super::description::{self, Document};
use super::super::measured::{self, Measured};
use super::{Choice, MEASURED, UnknownDisc, described_as, parse_options};
use crate::sys::input::{self, Refused};

/// Finds a disc by `measured:FILE`, or by the name of a file that describes a drive.
pub(super) fn by_file(text: &str) -> Result<Choice, UnknownDisc> {
    match text.split_once(':') {
        Some((MEASURED, file)) if !file.is_empty() => read_measured(file).map(Choice::measured),
        _ => drive(text),
    }
}

/// Parses the name of a file that describes a drive, and the options after it.
fn drive(text: &str) -> Result<Choice, UnknownDisc> {
    let unknown = |name: &str| UnknownDisc::Name { name: name.to_owned() };
    let is_file = |name: &str| name.contains(['/', '.']);
    let (name, options) = match text.rsplit_once(':') {
        Some((name, options)) if is_file(name) && !is_file(options) => (name, options),
        Some((name, _)) if !is_file(text) => return Err(unknown(name)),
        _ if is_file(text) => (text, ""),
        _ => return Err(unknown(text)),
    };
    let options = parse_options(name, options, true)?;
    let wrong = |error| UnknownDisc::Described { file: name.to_owned(), error };
    let drive = described(Path::new(name))?.drive().map_err(wrong)?;
    Ok(described_as(name, drive, options))
}

/// Reads the description in a file. A file that it names is in the same folder. If that one is
/// missing, the name of `path` with the missing file's extension is tried.
pub fn described(path: &Path) -> Result<Document, UnknownDisc> {
    let text = read_text(path).map_err(|error| UnknownDisc::Refused(error.to_string()))?;
    let mut read = |name: &str| {
        let near = path.with_file_name(name);
        match (read_text(&near), Path::new(name).extension()) {
            (Err(error), Some(ending)) if error.is_absent() => {
                read_text(&path.with_extension(ending)).map_err(|_| error.to_string())
            }
            (text, _) => text.map_err(|error| error.to_string()),
        }
    };
    description::parse(&text, &mut read)
        .map_err(|error| UnknownDisc::Described { file: input::name(path), error })
}

fn read_text(path: &Path) -> Result<String, Refused> {
    let mut text = String::new();
    let failed = |source| Refused::Open { path: path.to_owned(), source };
    input::open(path)?.take(DESCRIPTION_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// No real description of a drive is longer.
const DESCRIPTION_BYTES_MAX: u64 = 16 << 20;

/// Reads a saved document, or measures the file now.
fn read_measured(file: &str) -> Result<Measured, UnknownDisc> {
    let failed =
        |what: std::io::Error| UnknownDisc::File { file: file.to_owned(), what: what.to_string() };
    let mut begin = Vec::new();
    let opened = std::fs::File::open(file).map_err(failed)?;
    opened.take(DOCUMENT_BYTES_MAX).read_to_end(&mut begin).map_err(failed)?;
    let document = String::from_utf8(begin).ok().filter(|text| text.trim_start().starts_with('{'));
    let measured = match document {
        Some(text) => Measured::parse(&text),
        None => measured::sample(file),
    };
    measured.map_err(|error| UnknownDisc::Measured { file: file.to_owned(), error })
}

/// No real document of latencies is longer.
const DOCUMENT_BYTES_MAX: u64 = 1 << 20;
