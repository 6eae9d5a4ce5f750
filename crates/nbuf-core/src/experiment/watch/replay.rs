//! Intervals that were recorded, one JSON document a line.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::experiment::document::{self, DocumentError};
use crate::experiment::result::WatchDocument;
use crate::sys::input::{self, Refused};

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It cannot be opened.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be read.
    #[error("cannot read {} ({cause})", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        cause: io::Error,
    },
    /// A line is no interval.
    #[error("{}: line {line} {why}: give a file that `nbuf watch --record` wrote", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        why: DocumentError,
    },
    /// There is no interval in it.
    #[error("{} is empty: give a file that `nbuf watch --record` wrote", .0.display())]
    Empty(PathBuf),
}

/// Reads the intervals of a recording. A last line that was cut off is left out; whether one was.
pub fn replay(path: &Path) -> Result<(Vec<WatchDocument>, bool), ReplayError> {
    let file = input::open(path)?;
    let (documents, is_cut) = read(BufReader::new(file), path)?;
    if documents.is_empty() {
        return Err(ReplayError::Empty(path.to_owned()));
    }
    Ok((documents, is_cut))
}

fn read(mut input: impl BufRead, path: &Path) -> Result<(Vec<WatchDocument>, bool), ReplayError> {
    let mut documents = Vec::new();
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let failed = |cause| ReplayError::Read { path: path.to_owned(), cause };
        if input.read_until(b'\n', &mut text).map_err(failed)? == 0 {
            break;
        }
        let is_whole = text.ends_with(b"\n");
        match document::read::<WatchDocument>(&text) {
            Ok(document) => documents.push(document),
            // What was killed while it wrote.
            Err(_) if !is_whole && !documents.is_empty() => return Ok((documents, true)),
            Err(why) => return Err(ReplayError::Line { path: path.to_owned(), line, why }),
        }
    }
    Ok((documents, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_one_that_was_cut_off_is_left_out() {
        let interval = |number| WatchDocument {
            schema: WatchDocument::SCHEMA.to_owned(),
            number,
            ..WatchDocument::default()
        };
        let line = |number| document::write_line(&interval(number)).unwrap();
        let path = Path::new("x");
        let two = line(1) + &line(2);
        assert_eq!(read(two.as_bytes(), path).unwrap(), (vec![interval(1), interval(2)], false));
        let cut = &two.as_bytes()[..two.len() - 9];
        assert_eq!(read(cut, path).unwrap(), (vec![interval(1)], true));
        let error = read("{\"schema\":\"nbuf.run/1\"}\n".as_bytes(), path).unwrap_err().to_string();
        assert!(
            error.starts_with("x: line 1 has the schema nbuf.run/1, not nbuf.watch/1"),
            "{error}"
        );
    }
}
