//! What a file is, found out before it is really opened.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, fstat, fstatfs, openat};

use super::perform::reopen;

/// File systems whose files are the kernel's own: to read one may do something, and to write one
/// certainly does (`include/uapi/linux/magic.h`).
const MADE_UP: [(u32, &str); 17] = [
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x7472_6163, "tracefs"),
    (0x6462_6720, "debugfs"),
    (0x7363_6673, "securityfs"),
    (0xcafe_4a11, "bpf"),
    (0x6265_6570, "configfs"),
    (0x1cd1, "devpts"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x6e73_6673, "nsfs"),
    (0x6165_676c, "pstore"),
    (0xde5e_81e4, "efivarfs"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x0765_5821, "resctrl"),
];

/// The name of a file's system, if the kernel makes up what is in it.
pub(crate) fn made_up_by(file: impl AsFd) -> io::Result<Option<&'static str>> {
    let magic = fstatfs(file)?.f_type;
    // The type is signed on some architectures.
    let found = MADE_UP.iter().find(|&&(number, _)| i64::from(number) == magic & 0xffff_ffff);
    Ok(found.map(|&(_, name)| name))
}

/// Opens a regular file of a real file system to be read.
pub(super) fn regular(at: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let looked_at = openat(at, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&looked_at)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    if let Some(name) = made_up_by(&looked_at)? {
        let why = format!("it is a file of the kernel's ({name})");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    reopen(looked_at, OFlags::RDONLY | OFlags::NONBLOCK)
}
