//! Opens a snapshot of a store, packed or not: a file, a stream or an object.

use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use super::cancellation::CancellationToken;
use super::error::{SourceError, is_of_object};
use super::input::{Input, Packing};
use super::progress::Counter;
use crate::units::Bound;
use crate::workload::format::snapshot::{Broken, Snapshot, SnapshotError};

/// Bytes that are read at a time.
const BLOCK_BYTES: usize = 1 << 16;

/// What follows the head. Where unpacking fails, the file is damaged, and the bytes before are good.
struct Rest {
    from: Box<dyn Read + Send>,
    /// How unpacking ended in the head.
    broken: Option<io::Error>,
    is_packed: bool,
}

impl Read for Rest {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = match self.broken.take() {
            Some(error) => Err(error),
            None => self.from.read(into),
        };
        read.map_err(|error| {
            if self.is_packed && is_damage(&error) {
                return io::Error::new(io::ErrorKind::InvalidData, error);
            }
            error
        })
    }
}

/// Whether an error is of the bytes, and not of what they are read from. A cut file has a kind of its own.
fn is_damage(error: &io::Error) -> bool {
    let is_other =
        matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof);
    error.raw_os_error().is_none() && !is_of_object(error) && !is_other
}

/// Refuses a trace and a snapshot that would both come from standard input.
pub(crate) fn must_be_apart(
    traces: &[PathBuf],
    snapshot: Option<&Path>,
) -> Result<(), SourceError> {
    let standard = Path::new("-");
    if snapshot == Some(standard) && traces.iter().any(|path| path == standard) {
        return Err(SourceError::OneStandardInput);
    }
    Ok(())
}

/// Reads a snapshot that has keys. A cancellation ends it, with what was read by then.
pub(crate) fn open_snapshot(
    path: &Path,
    memory: Bound,
    token: &CancellationToken,
) -> Result<Snapshot, SourceError> {
    let input = Input::open(path, memory, 1, &mut Counter::default(), token)?;
    let Input { head, rest: from, broken, packing, .. } = input;
    let rest = Rest { from, broken, is_packed: packing != Packing::None };
    let from = BufReader::with_capacity(BLOCK_BYTES, Cursor::new(head).chain(rest));
    let mut refused = None;
    let snapshot = Snapshot::read(from, &mut |bytes| {
        refused = memory.allow("the keys of the snapshot", bytes).err();
        refused.is_none() && !token.is_cancelled()
    });
    if let Some(refused) = refused {
        return Err(refused.into());
    }
    let snapshot = snapshot.map_err(|error| match error {
        SnapshotError::Unknown => SourceError::Snapshot { path: path.to_owned(), source: error },
        SnapshotError::Read(source) => SourceError::of_reading(path, source),
    })?;
    if snapshot.keys() == 0 && !token.is_cancelled() {
        let path = path.to_owned();
        return Err(match snapshot.broken() {
            Some(Broken { at_bytes, wanted }) => {
                SourceError::SnapshotBroken { path, at_bytes, wanted }
            }
            None => SourceError::SnapshotEmpty { path },
        });
    }
    Ok(snapshot)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::units::Bytes;

    #[test]
    fn a_snapshot_is_unpacked_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let line = |n: u32| format!("key=k{n} exp=-1 la=1 cas=1 fetch=no cls=1 size=99\n");
        let dump: String = (0..9000).map(line).collect::<String>() + "END\r\n";
        let token = CancellationToken::default();
        for (name, bytes) in [
            ("dump.txt", dump.clone().into_bytes()),
            ("dump.zst", zstd::encode_all(dump.as_bytes(), 1).unwrap()),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            let snapshot = open_snapshot(&path, Bound::NONE, &token).unwrap();
            assert_eq!((snapshot.keys(), snapshot.broken()), (9000, None), "{name}");
            let small = Bound { allowed: Bytes(1 << 16), ..Bound::NONE };
            let refused = open_snapshot(&path, small, &token).unwrap_err().to_string();
            assert!(refused.contains("--memory"), "{name}: {refused}");
        }
        for lines in [20, 9000] {
            // A frame of keys, and no frame behind it.
            let keys: String = (0..lines).map(line).collect();
            let packed = zstd::encode_all(keys.as_bytes(), 1).unwrap();
            let path = folder.path().join("damaged.zst");
            fs::write(&path, [&packed[..], b"this is no frame"].concat()).unwrap();
            let snapshot = open_snapshot(&path, Bound::NONE, &token).unwrap();
            let wanted = snapshot.broken().unwrap().wanted;
            assert_eq!(snapshot.keys(), u64::from(lines), "{wanted}");
            assert!(wanted.contains("copy the file again"), "{wanted}");
        }
        let path = folder.path().join("other.txt");
        fs::write(&path, "1\n2\n").unwrap();
        let refused = open_snapshot(&path, Bound::NONE, &token).unwrap_err().to_string();
        assert!(refused.contains("other.txt is no snapshot"), "{refused}");
    }

    #[test]
    fn a_snapshot_without_keys_is_refused_by_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let token = CancellationToken::default();
        let path = folder.path().join("few.rdb");
        let cases: [(&[u8], &str); 7] = [
            (b"REDIS", "cannot be read behind byte 5 (expected more bytes"),
            (b"REDIS0099\x63\x01a", "write the snapshot again"),
            (b"ERROR\r\n", "is no snapshot"),
            (b"key of nothing\n", "is no snapshot"),
            (b"key", "cannot be read behind byte 3 (expected a whole line)"),
            (b"END\r\n", "has no keys"),
            (b"REDIS0011\xff", "has no keys"),
        ];
        for (bytes, want) in cases {
            fs::write(&path, bytes).unwrap();
            let refused = open_snapshot(&path, Bound::NONE, &token).unwrap_err().to_string();
            assert!(refused.contains("few.rdb") && refused.contains(want), "{refused}");
        }
    }
}
