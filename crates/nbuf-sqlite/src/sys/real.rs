//! The file of the VFS below.

use std::ffi::{c_int, c_void};

use super::abi::{Methods, RawFile};
use crate::below::Below;
use crate::code::Code;

/// An open file of another VFS. It is used by one thread at a time, as SQLite promises for each of its files.
#[derive(Clone, Copy)]
pub(super) struct Real(*mut RawFile, Methods);

// SAFETY: SQLite lets a file be used by another thread than the one that opened it.
unsafe impl Send for Real {}

impl Real {
    /// # Safety
    ///
    /// The file is open, and neither the value nor a copy of it is used after the file was closed.
    pub(super) unsafe fn new(file: *mut RawFile) -> Self {
        // SAFETY: the file is open, so it has methods, which are constants of its VFS.
        unsafe { Self(file, methods((*file).methods)) }
    }

    pub(super) fn raw(&self) -> *mut RawFile {
        self.0
    }

    pub(super) fn methods(&self) -> &Methods {
        &self.1
    }

    /// Calls a method that has one argument.
    pub(super) fn call<T>(
        &self,
        method: Option<unsafe extern "C" fn(*mut RawFile, T) -> c_int>,
        argument: T,
    ) -> c_int {
        // SAFETY: the file is open, the method is its own, and the argument is the one that SQLite gave for it.
        method.map_or(Code::FAILED.0, |method| unsafe { method(self.0, argument) })
    }

    /// Calls a method without arguments.
    pub(super) fn ask(&self, method: Option<unsafe extern "C" fn(*mut RawFile) -> c_int>) -> c_int {
        // SAFETY: the file is open, and the method is its own.
        method.map_or(Code::FAILED.0, |method| unsafe { method(self.0) })
    }
}

/// A copy of what a VFS has: of an earlier version the memory ends before the later fields.
///
/// # Safety
///
/// The methods are those of an open file.
unsafe fn methods(from: *const Methods) -> Methods {
    // SAFETY: the caller promises them, and the version says which fields are there. No reference is made.
    unsafe {
        let (has_shm, has_pages) = ((*from).version >= 2, (*from).version >= 3);
        Methods {
            version: (*from).version,
            close: (*from).close,
            read: (*from).read,
            write: (*from).write,
            truncate: (*from).truncate,
            sync: (*from).sync,
            file_size: (*from).file_size,
            lock: (*from).lock,
            unlock: (*from).unlock,
            check_reserved_lock: (*from).check_reserved_lock,
            file_control: (*from).file_control,
            sector_size: (*from).sector_size,
            device_characteristics: (*from).device_characteristics,
            shm_map: if has_shm { (*from).shm_map } else { None },
            shm_lock: if has_shm { (*from).shm_lock } else { None },
            shm_barrier: if has_shm { (*from).shm_barrier } else { None },
            shm_unmap: if has_shm { (*from).shm_unmap } else { None },
            fetch: if has_pages { (*from).fetch } else { None },
            unfetch: if has_pages { (*from).unfetch } else { None },
        }
    }
}

/// A length as SQLite has it.
fn length(bytes: usize) -> Result<c_int, Code> {
    c_int::try_from(bytes).map_err(|_| Code::FAILED)
}

fn place(offset: u64) -> Result<i64, Code> {
    i64::try_from(offset).map_err(|_| Code::FAILED)
}

impl Below for Real {
    fn read(&self, buffer: &mut [u8], offset: u64) -> Result<(), Code> {
        let read = self.methods().read.ok_or(Code::READ)?;
        let (length, offset) = (length(buffer.len())?, place(offset)?);
        // SAFETY: the file is open, and the buffer has this length.
        Code::check(unsafe { read(self.0, buffer.as_mut_ptr().cast::<c_void>(), length, offset) })
    }

    fn write(&self, data: &[u8], offset: u64) -> Result<(), Code> {
        let write = self.methods().write.ok_or(Code::WRITE)?;
        let (length, offset) = (length(data.len())?, place(offset)?);
        // SAFETY: the file is open, and the data have this length.
        Code::check(unsafe { write(self.0, data.as_ptr().cast::<c_void>(), length, offset) })
    }

    fn truncate(&self, length: u64) -> Result<(), Code> {
        Code::check(self.call(self.methods().truncate, place(length)?))
    }
}
