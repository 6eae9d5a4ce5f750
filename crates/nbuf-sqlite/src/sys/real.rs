//! The file of the VFS below.

use std::ffi::{c_int, c_void};

use super::abi::{Methods, RawFile};
use crate::below::Below;
use crate::code::Code;

/// An open file of another VFS. It is used by one thread at a time, as SQLite promises for each of its files.
#[derive(Clone, Copy)]
pub(super) struct Real(*mut RawFile);

// SAFETY: SQLite lets a file be used by another thread than the one that opened it.
unsafe impl Send for Real {}

impl Real {
    /// # Safety
    ///
    /// The file is open, and neither the value nor a copy of it is used after the file was closed.
    pub(super) unsafe fn new(file: *mut RawFile) -> Self {
        Self(file)
    }

    pub(super) fn raw(self) -> *mut RawFile {
        self.0
    }

    pub(super) fn methods(self) -> &'static Methods {
        // SAFETY: the file is open, so it has methods, which are constants of its VFS.
        unsafe { &*(*self.0).methods }
    }

    /// Calls a method that has one argument.
    pub(super) fn call<T>(
        self,
        method: Option<unsafe extern "C" fn(*mut RawFile, T) -> c_int>,
        argument: T,
    ) -> c_int {
        // SAFETY: the file is open, the method is its own, and the argument is the one that SQLite gave for it.
        method.map_or(Code::FAILED.0, |method| unsafe { method(self.0, argument) })
    }

    /// Calls a method without arguments.
    pub(super) fn ask(self, method: Option<unsafe extern "C" fn(*mut RawFile) -> c_int>) -> c_int {
        // SAFETY: the file is open, and the method is its own.
        method.map_or(Code::FAILED.0, |method| unsafe { method(self.0) })
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
