//! The methods of a database file.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::slice;

use super::abi::{
    FCNTL_MMAP_SIZE, FCNTL_PRAGMA, FCNTL_RESET_CACHE, FCNTL_ROLLBACK_ATOMIC_WRITE, FCNTL_VFSNAME,
    Methods, NOTFOUND, RawFile,
};
use super::real::Real;
use super::shm::{shm_barrier, shm_lock, shm_map, shm_unmap};
use super::{api, guard};
use crate::code::{Code, OK};
use crate::handle::Handle;

/// An open database. The file below follows it in the same memory, which SQLite has given.
#[repr(C)]
pub(super) struct File {
    base: RawFile,
    open: *mut Open,
}

/// Where the file below begins.
pub(super) const BELOW: usize = size_of::<File>().next_multiple_of(16);

pub(super) struct Open {
    pub handle: Handle<Real>,
    pub below: Real,
}

/// Methods for a file below without shared memory.
static PLAIN: Methods = Methods { version: 1, ..SHARING };
/// Methods for a file below with it.
static WITH_SHM: Methods = SHARING;

const SHARING: Methods = Methods {
    version: 3,
    close: Some(close),
    read: Some(read),
    write: Some(write),
    truncate: Some(truncate),
    sync: Some(sync),
    file_size: Some(file_size),
    lock: Some(lock),
    unlock: Some(unlock),
    check_reserved_lock: Some(check_reserved_lock),
    file_control: Some(file_control),
    sector_size: Some(sector_size),
    device_characteristics: Some(device_characteristics),
    shm_map: Some(shm_map),
    shm_lock: Some(shm_lock),
    shm_barrier: Some(shm_barrier),
    shm_unmap: Some(shm_unmap),
    fetch: Some(fetch),
    unfetch: Some(unfetch),
};

/// Makes the memory an open file.
///
/// # Safety
///
/// The memory has room for a [`File`], and the file below is open behind it, at [`BELOW`].
pub(super) unsafe fn begin(file: *mut RawFile, handle: Handle<Real>, below: Real) {
    let has_shm = below.methods().shm_map.is_some();
    // The file below would read from a mapping, and only SQLite's own reads know when that is too short.
    let mut none: i64 = 0;
    if let Some(method) = below.methods().file_control {
        // SAFETY: the file below is open, and this control wants room for a number.
        unsafe { method(below.raw(), FCNTL_MMAP_SIZE, (&raw mut none).cast()) };
    }
    let open = Box::into_raw(Box::new(Open { handle, below }));
    let methods: &'static Methods = if has_shm { &WITH_SHM } else { &PLAIN };
    // SAFETY: the caller promises the room.
    unsafe { file.cast::<File>().write(File { base: RawFile { methods }, open }) }
}

/// Calls the body with an open file.
///
/// # Safety
///
/// The file was made by [`begin`] and is not closed, and no other call uses it.
pub(super) unsafe fn with(file: *mut RawFile, body: impl FnOnce(&mut Open) -> c_int) -> c_int {
    // SAFETY: the caller promises that.
    guard(Code::FAILED.0, || body(unsafe { &mut *(*file.cast::<File>()).open }))
}

unsafe extern "C" fn close(file: *mut RawFile) -> c_int {
    let release = |open: &mut Open| {
        open.handle.unmaps();
        open.handle.unlocks(0);
        OK
    };
    // SAFETY: SQLite closes an open file, once.
    unsafe {
        with(file, release);
        let below = guard(None, || {
            let open = Box::from_raw((*file.cast::<File>()).open);
            Some(open.below)
        });
        below.map_or(Code::FAILED.0, |below| {
            guard(Code::FAILED.0, || below.ask(below.methods().close))
        })
    }
}

unsafe extern "C" fn read(file: *mut RawFile, to: *mut c_void, length: c_int, at: i64) -> c_int {
    let (Ok(length), Ok(at)) = (usize::try_from(length), u64::try_from(at)) else {
        return Code::READ.0;
    };
    // SAFETY: SQLite gives an open file and a buffer of this length, which nothing else uses meanwhile.
    unsafe {
        let buffer = slice::from_raw_parts_mut(to.cast::<u8>(), length);
        with(file, |open| Code::of(open.handle.read(buffer, at)))
    }
}

unsafe extern "C" fn write(
    file: *mut RawFile,
    from: *const c_void,
    length: c_int,
    at: i64,
) -> c_int {
    let (Ok(length), Ok(at)) = (usize::try_from(length), u64::try_from(at)) else {
        return Code::WRITE.0;
    };
    // SAFETY: SQLite gives an open file and data of this length.
    unsafe {
        let data = slice::from_raw_parts(from.cast::<u8>(), length);
        with(file, |open| Code::of(open.handle.write(data, at)))
    }
}

unsafe extern "C" fn truncate(file: *mut RawFile, length: i64) -> c_int {
    let Ok(length) = u64::try_from(length) else { return Code::FAILED.0 };
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, |open| Code::of(open.handle.truncate(length))) }
}

/// All that was written is in the file below already.
unsafe extern "C" fn sync(file: *mut RawFile, flags: c_int) -> c_int {
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, |open| open.below.call(open.below.methods().sync, flags)) }
}

unsafe extern "C" fn file_size(file: *mut RawFile, out: *mut i64) -> c_int {
    // SAFETY: SQLite gives an open file, and room for the size.
    unsafe { with(file, |open| open.below.call(open.below.methods().file_size, out)) }
}

unsafe extern "C" fn lock(file: *mut RawFile, level: c_int) -> c_int {
    let take = |open: &mut Open| {
        let code = open.below.call(open.below.methods().lock, level);
        if code == OK {
            open.handle.locked(level);
        }
        code
    };
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, take) }
}

unsafe extern "C" fn unlock(file: *mut RawFile, level: c_int) -> c_int {
    let release = |open: &mut Open| {
        open.handle.unlocks(level);
        open.below.call(open.below.methods().unlock, level)
    };
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, release) }
}

unsafe extern "C" fn check_reserved_lock(file: *mut RawFile, out: *mut c_int) -> c_int {
    // SAFETY: SQLite gives an open file, and room for the answer.
    unsafe { with(file, |open| open.below.call(open.below.methods().check_reserved_lock, out)) }
}

unsafe extern "C" fn sector_size(file: *mut RawFile) -> c_int {
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, |open| open.below.ask(open.below.methods().sector_size)) }
}

unsafe extern "C" fn device_characteristics(file: *mut RawFile) -> c_int {
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, |open| open.below.ask(open.below.methods().device_characteristics)) }
}

unsafe extern "C" fn file_control(file: *mut RawFile, what: c_int, argument: *mut c_void) -> c_int {
    let control = |open: &mut Open| {
        // SAFETY: SQLite gives this control an array of three texts, of which the first is for the answer.
        if what == FCNTL_PRAGMA && unsafe { answers(open, argument.cast()) } {
            return OK;
        }
        if what == FCNTL_MMAP_SIZE {
            // SAFETY: SQLite gives this control room for a number. Nothing is mapped.
            unsafe { argument.cast::<i64>().write(0) };
            return OK;
        }
        let Some(method) = open.below.methods().file_control else { return NOTFOUND };
        // SAFETY: the file below is open, and gets what SQLite gives.
        let code = unsafe { method(open.below.raw(), what, argument) };
        match what {
            FCNTL_ROLLBACK_ATOMIC_WRITE | FCNTL_RESET_CACHE => open.handle.forget(),
            // SAFETY: SQLite gives this control room for a text, which the file below may have filled.
            FCNTL_VFSNAME if code == OK => unsafe { name(argument.cast()) },
            _ => {}
        }
        code
    };
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, control) }
}

/// Answers a pragma that is ours.
///
/// # Safety
///
/// `texts` has three places; the second is the name of the pragma.
unsafe fn answers(open: &Open, texts: *mut *mut c_char) -> bool {
    // SAFETY: the caller promises them, and the name is a text.
    unsafe {
        let is_ours = CStr::from_ptr(*texts.add(1)).to_bytes().eq_ignore_ascii_case(b"nbuf_stats");
        if is_ours {
            *texts = api::text(open.handle.statistics().as_bytes());
        }
        is_ours
    }
}

/// Puts our name before the one of the VFS below.
///
/// # Safety
///
/// `out` has null or a text of SQLite's allocator.
unsafe fn name(out: *mut *mut c_char) {
    // SAFETY: the caller promises it.
    unsafe {
        if !(*out).is_null() {
            let both = [b"nbuf/", CStr::from_ptr(*out).to_bytes()].concat();
            api::free(std::mem::replace(&mut *out, api::text(&both)));
        }
    }
}

/// Gives no pointer into the file, which would go past the cache: SQLite then reads.
unsafe extern "C" fn fetch(_: *mut RawFile, _: i64, _: c_int, out: *mut *mut c_void) -> c_int {
    // SAFETY: SQLite gives room for a pointer.
    unsafe { *out = std::ptr::null_mut() };
    OK
}

unsafe extern "C" fn unfetch(_: *mut RawFile, _: i64, _: *mut c_void) -> c_int {
    OK
}
