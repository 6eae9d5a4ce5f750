//! Names of functions that a process's own compiler made, from the list that it writes: `/tmp/perf-PID.map`.
//!
//! Each line has an address, a length, and the name (`tools/perf/Documentation/jit-interface.txt` of Linux). Java,
//! Node and others write it when asked to. The list has what there was at some time: where code was moved
//! since, a name may be wrong.
//! Cost: the list is read once, whole.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::symbols::Table;
use crate::sys::files;

/// Longer lists give no names.
const LIST_BYTES_MAX: u64 = 1 << 28;

/// When a profile began, and the account that its processes have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// In seconds since 1970.
    pub(super) unix_seconds: i64,
    /// The number of the user.
    pub(super) user: u32,
}

/// The function at each of these addresses, which have the form of [`super::symbols::of_file`].
///
/// # Errors
/// In words: why the process's code has no names.
pub(super) fn functions(
    process: u32,
    begun: Begun,
    addresses: &[u64],
) -> Result<Vec<Vec<String>>, String> {
    let path = format!("/tmp/perf-{process}.map");
    let list = read(&path, begun).map_err(|reason| format!("{path} {reason}"))?;
    let table = Table::of(list.lines().filter_map(function).collect());
    let name = |&address: &u64| {
        vec![table.find(address).map_or_else(|| "[generated code]".to_owned(), str::to_owned)]
    };
    Ok(addresses.iter().map(name).collect())
}

/// `3ef414c0 398 RegExp:[{(]`, with numbers to the base of 16.
fn function(line: &str) -> Option<(u64, u64, &str)> {
    let (address, line) = line.split_once(' ')?;
    let (bytes, name) = line.split_once(' ')?;
    let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok();
    let (address, bytes) = (number(address)?, number(bytes)?);
    (bytes > 0 && !name.is_empty()).then(|| (address, address.saturating_add(bytes), name))
}

/// Everybody may write to `/tmp`: only lists of the command's own user, or of root, are believed.
fn read(path: &str, begun: Begun) -> Result<String, String> {
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            "is missing (node writes it with --perf-basic-prof, java with -XX:+DumpPerfMapAtExit, \
             python with -X perf)"
                .to_owned()
        }
        _ => format!("cannot be read: {error}"),
    };
    let file = files::regular(Path::new(path)).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    if ![0, begun.user].contains(&metadata.uid()) {
        return Err("belongs to another user".to_owned());
    }
    if metadata.mtime() < begun.unix_seconds {
        return Err("is older than the command".to_owned());
    }
    if metadata.len() > LIST_BYTES_MAX {
        return Err("is larger than 256 MiB".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(LIST_BYTES_MAX).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_an_address_a_length_and_a_name_with_spaces() {
        assert_eq!(function("1f 10 a b"), Some((0x1f, 0x2f, "a b")));
        assert_eq!(function("0x1f 0x10 a"), Some((0x1f, 0x2f, "a")));
        let none = ["", "1f", "1f 10", "1f 10 ", "1f 0 a", "x 10 a", "1f -1 a"];
        assert!(none.into_iter().all(|line| function(line).is_none()));
    }

    #[test]
    fn lists_of_others_and_of_earlier_commands_are_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("perf-1.map");
        std::fs::write(&path, "1f 10 a\n").unwrap();
        let user = std::fs::metadata(&path).unwrap().uid();
        let read = |user, unix_seconds| read(path.to_str().unwrap(), Begun { unix_seconds, user });
        assert_eq!(read(user, 0).unwrap(), "1f 10 a\n");
        assert_eq!(read(user, i64::MAX).unwrap_err(), "is older than the command");
        if user != 0 {
            assert_eq!(read(user + 1, 0).unwrap_err(), "belongs to another user");
        } else {
            std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
            assert_eq!(read(1, 0).unwrap_err(), "belongs to another user");
        }
    }
}
