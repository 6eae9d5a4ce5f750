//! A file that the user names, opened to be read from its beginning to its end.
//!
//! Regular files, pipes and sockets are inputs. Terminals, other devices, directories and the files
//! that the kernel makes up are none: opening or reading one can block, have an effect or never end. So a
//! name is first opened with `O_PATH`, which touches nothing, and looked at; what was looked at is what
//! is opened. `-`, `/dev/stdin`, `/dev/fd/N` and `/proc/self/fd/N` are our own descriptors.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::Errno;

use super::files;

/// What to do about a name that cannot be opened.
fn advice(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::NotFound { "; correct its name" } else { "" }
}

/// Why a name is no input, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It cannot be opened.
    #[error("cannot open {}: {source}{}", name(path), advice(source))]
    Open {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// We may not.
    #[error("{} may not be read by this user: ask its owner, or read it with sudo", name(path))]
    Permission {
        /// Which one.
        path: PathBuf,
    },
    /// It is a directory.
    #[error("{} is a directory: name the files in it", name(path))]
    Directory {
        /// Which one.
        path: PathBuf,
    },
    /// It is a terminal.
    #[error("{} is a terminal: name a file, or send one through a pipe", name(path))]
    Terminal {
        /// Which one.
        path: PathBuf,
    },
    /// It is another device.
    #[error(
        "{} is a {kind} device: copy the part you need into a file, and name that file",
        name(path)
    )]
    Device {
        /// Which one.
        path: PathBuf,
        /// `character` or `block`.
        kind: &'static str,
    },
    /// It has a name, and yet only programs can connect to it.
    #[error(
        "{} is a socket: read it with another program, and send its output through a pipe",
        name(path)
    )]
    Socket {
        /// Which one.
        path: PathBuf,
    },
    /// The kernel makes it up.
    #[error(
        "{} is a file of {system}, which the kernel generates: copy it, and name the copy",
        name(path)
    )]
    Kernel {
        /// Which one.
        path: PathBuf,
        /// The file system.
        system: &'static str,
    },
    /// Nothing was opened under this number.
    #[error("{} is not open: redirect a file to it, or name the file", name(path))]
    NotOpen {
        /// Which one.
        path: PathBuf,
    },
    /// It is open for writing alone.
    #[error("{} is open for writing only: name the file itself", name(path))]
    WriteOnly {
        /// Which one.
        path: PathBuf,
    },
}

impl Refused {
    /// Whether there is nothing by this name.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Open { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    fn of(path: &Path, error: Errno) -> Self {
        let path = path.to_owned();
        match error {
            Errno::ACCESS | Errno::PERM => Self::Permission { path },
            error => Self::Open { path, source: error.into() },
        }
    }
}

/// Opens an input to be read.
pub(crate) fn open(path: &Path) -> Result<File, Refused> {
    let refused = |error| Refused::of(path, error);
    if let Some(number) = descriptor(path) {
        let own =
            files::duplicate(number).map_err(|_| Refused::NotOpen { path: path.to_owned() })?;
        judge(path, own.as_fd(), true)?;
        let flags = fcntl_getfl(&own).map_err(refused)?;
        if flags & OFlags::RWMODE == OFlags::WRONLY {
            return Err(Refused::WriteOnly { path: path.to_owned() });
        }
        return Ok(own);
    }
    let failed = |error: io::Error| match error.raw_os_error() {
        Some(number) => Refused::of(path, Errno::from_raw_os_error(number)),
        None => Refused::Open { path: path.to_owned(), source: error },
    };
    let seen = files::open_path(path, OFlags::PATH).map_err(failed)?;
    judge(path, seen.as_fd(), false)?;
    Ok(files::reopen(seen, OFlags::RDONLY).map_err(failed)?.into())
}

/// Whether an input can be read a second time from its beginning: a regular file by its name.
pub(crate) fn comes_again(path: &Path) -> bool {
    descriptor(path).is_none() && std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// What an input is called: `-` is standard input.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The number of our own descriptor that a name means.
fn descriptor(path: &Path) -> Option<RawFd> {
    if path == Path::new("-") { Some(0) } else { files::descriptor(path) }
}

/// Refuses what is no input. A socket is one where it is `connected` already.
fn judge(path: &Path, file: BorrowedFd<'_>, connected: bool) -> Result<(), Refused> {
    let refused = |error| Refused::of(path, error);
    let path = || path.to_owned();
    let status = fstat(file).map_err(refused)?;
    match FileType::from_raw_mode(status.st_mode) {
        FileType::Directory => return Err(Refused::Directory { path: path() }),
        FileType::CharacterDevice if is_terminal(status.st_rdev) => {
            return Err(Refused::Terminal { path: path() });
        }
        FileType::CharacterDevice => {
            return Err(Refused::Device { path: path(), kind: "character" });
        }
        FileType::BlockDevice => return Err(Refused::Device { path: path(), kind: "block" }),
        FileType::Socket if !connected => return Err(Refused::Socket { path: path() }),
        FileType::Fifo | FileType::Socket => return Ok(()),
        _ => {}
    }
    match files::made_up_by(file) {
        Ok(Some(system)) => Err(Refused::Kernel { path: path(), system }),
        Ok(None) => Ok(()),
        Err(source) => Err(Refused::Open { path: path(), source }),
    }
}

/// Whether a number of a character device is one of a terminal: `/dev/tty*`, its aliases and
/// pseudo-terminals. Asking the device would mean to open it.
fn is_terminal(device: u64) -> bool {
    matches!(rustix::fs::major(device), 4 | 5 | 136..=143 | 204)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn refusal(path: impl AsRef<Path>) -> String {
        open(path.as_ref()).expect_err("no input").to_string()
    }

    #[test]
    fn a_regular_file_is_an_input_by_any_name() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&file, "some").unwrap();
        symlink(&file, &link).unwrap();
        for path in [&file, &link] {
            let mut text = String::new();
            open(path).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!((text.as_str(), comes_again(path)), ("some", true));
        }
        assert!(open(&place.path().join("none")).unwrap_err().is_absent());
    }

    #[test]
    fn what_is_no_input_is_refused_in_one_line() {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("link");
        symlink("/dev/zero", &link).unwrap();
        let socket = place.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let cases = [
            (place.path().to_owned(), " is a directory: "),
            (link, " is a character device: "),
            ("/dev/zero".into(), " is a character device: "),
            ("/dev/ptmx".into(), " is a terminal: "),
            ("/dev/tty".into(), " is a terminal: "),
            ("/proc/self/mem".into(), " is a file of proc, "),
            ("/proc/kmsg".into(), " is a file of proc, "),
            ("/sys/kernel/uevent_seqnum".into(), " is a file of sysfs, "),
            (socket, " is a socket: "),
            ("/dev/fd/987654".into(), " is not open: "),
        ];
        for (path, want) in cases {
            let said = refusal(&path);
            assert!(said.contains(want) && !said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn a_number_means_our_descriptor() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"flows").unwrap();
        let write_only = refusal(format!("/dev/fd/{}", writer.as_raw_fd()));
        assert!(write_only.contains(" is open for writing only"), "{write_only}");
        for folder in ["/dev/fd", "/proc/self/fd"] {
            let path = PathBuf::from(format!("{folder}/{}", reader.as_raw_fd()));
            assert!(open(&path).is_ok() && !comes_again(&path));
        }
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "flows");
        let zero = File::open("/dev/zero").unwrap();
        let said = refusal(format!("/dev/fd/{}", zero.as_raw_fd()));
        assert!(said.contains(" is a character device: "), "{said}");
    }
}
