//! Groups below one of ours, which another program made there: a container engine.
//!
//! Async-signal-safe calls only, and nothing allocated: the watchdog needs it after a fork.

use std::ffi::{c_char, c_int};

use crate::sys::supervise::kill::kill_in;

/// An engine makes one group, and a system inside a container a few below that.
const DEPTH: usize = 8;
const NAME_AT: usize = 19;

/// Kills what is in the groups below this directory, and removes those that are empty.
pub(super) unsafe fn end_below(directory: *const c_char) {
    // SAFETY: the path is a C string.
    unsafe {
        let file = libc::open(directory, libc::O_DIRECTORY | libc::O_RDONLY | libc::O_CLOEXEC);
        if file >= 0 {
            end_in(file, DEPTH);
            libc::close(file);
        }
    }
}

unsafe fn end_in(directory: c_int, depth: usize) {
    #[repr(align(8))]
    struct Buffer([u8; 2048]);
    let mut buffer = Buffer([0; 2048]);
    loop {
        // SAFETY: the buffer is a live local of the size that is passed.
        let got = unsafe {
            libc::syscall(libc::SYS_getdents64, directory, buffer.0.as_mut_ptr(), buffer.0.len())
        };
        let Ok(got @ 1..) = usize::try_from(got) else { return };
        let mut rest = &buffer.0[..got.min(buffer.0.len())];
        // `struct linux_dirent64`: inode, offset, length of the record, type, name.
        while let [_, .., _] = rest
            && rest.len() > NAME_AT
        {
            let length = usize::from(u16::from_ne_bytes([rest[16], rest[17]]));
            let Some(record) = rest.get(..length) else { return };
            let name = record.get(NAME_AT..).unwrap_or_default();
            if record[18] == libc::DT_DIR && !name.starts_with(b".") && name.contains(&0) {
                // SAFETY: the name ends with a zero byte inside the record.
                unsafe { end_one(directory, name.as_ptr().cast(), depth) };
            }
            rest = &rest[length..];
        }
    }
}

unsafe fn end_one(parent: c_int, name: *const c_char, depth: usize) {
    // SAFETY: the name is a C string, the rest are numbers.
    unsafe {
        let flags = libc::O_DIRECTORY | libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        let file = libc::openat(parent, name, flags);
        if file >= 0 {
            if depth > 0 {
                end_in(file, depth - 1);
            }
            kill_in(file);
            libc::close(file);
        }
        libc::unlinkat(parent, name, libc::AT_REMOVEDIR);
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn directories_below_go_and_what_is_no_group_stays() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..200 {
            fs::create_dir_all(place.path().join(format!("engine-{number}/{number}/deep")))
                .unwrap();
        }
        fs::create_dir(place.path().join("full")).unwrap();
        fs::write(place.path().join("full/file"), "kept").unwrap();
        let path = CString::new(place.path().as_os_str().as_bytes()).unwrap();
        // A directory that shrinks meanwhile may be read with gaps: as the watchdog, look again.
        for _ in 0..50 {
            // SAFETY: the path lives to the end of this function.
            unsafe { end_below(path.as_ptr()) };
        }
        let left: Vec<_> =
            fs::read_dir(place.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["full"]);
        assert!(place.path().join("full/file").exists());
    }
}
