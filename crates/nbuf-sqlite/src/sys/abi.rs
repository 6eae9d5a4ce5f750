//! SQLite's structures for a VFS and for a loadable extension, as its C headers lay them out.
//!
//! They are part of SQLite's promise of compatibility: fields are only ever appended, and a version says how far.

use std::ffi::{c_char, c_int, c_void};

/// `sqlite3_file`: the beginning of every open file of every VFS.
#[repr(C)]
pub(super) struct RawFile {
    pub methods: *const Methods,
}

type OfFile<T> = Option<unsafe extern "C" fn(*mut RawFile, T) -> c_int>;

/// `sqlite3_io_methods`, version 3.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Methods {
    pub version: c_int,
    pub close: Option<unsafe extern "C" fn(*mut RawFile) -> c_int>,
    pub read: Option<unsafe extern "C" fn(*mut RawFile, *mut c_void, c_int, i64) -> c_int>,
    pub write: Option<unsafe extern "C" fn(*mut RawFile, *const c_void, c_int, i64) -> c_int>,
    pub truncate: OfFile<i64>,
    pub sync: OfFile<c_int>,
    pub file_size: OfFile<*mut i64>,
    pub lock: OfFile<c_int>,
    pub unlock: OfFile<c_int>,
    pub check_reserved_lock: OfFile<*mut c_int>,
    pub file_control: Option<unsafe extern "C" fn(*mut RawFile, c_int, *mut c_void) -> c_int>,
    pub sector_size: Option<unsafe extern "C" fn(*mut RawFile) -> c_int>,
    pub device_characteristics: Option<unsafe extern "C" fn(*mut RawFile) -> c_int>,
    pub shm_map:
        Option<unsafe extern "C" fn(*mut RawFile, c_int, c_int, c_int, *mut *mut c_void) -> c_int>,
    pub shm_lock: Option<unsafe extern "C" fn(*mut RawFile, c_int, c_int, c_int) -> c_int>,
    pub shm_barrier: Option<unsafe extern "C" fn(*mut RawFile)>,
    pub shm_unmap: OfFile<c_int>,
    pub fetch: Option<unsafe extern "C" fn(*mut RawFile, i64, c_int, *mut *mut c_void) -> c_int>,
    pub unfetch: Option<unsafe extern "C" fn(*mut RawFile, i64, *mut c_void) -> c_int>,
}

pub(super) type Open =
    unsafe extern "C" fn(*mut Vfs, *const c_char, *mut RawFile, c_int, *mut c_int) -> c_int;
pub(super) type AnyFunction = Option<unsafe extern "C" fn()>;

/// `sqlite3_vfs`, version 3.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Vfs {
    pub version: c_int,
    pub file_bytes: c_int,
    pub path_bytes_max: c_int,
    pub next: *mut Self,
    pub name: *const c_char,
    pub data: *mut c_void,
    pub open: Option<Open>,
    pub delete: Option<unsafe extern "C" fn(*mut Self, *const c_char, c_int) -> c_int>,
    pub access: Option<unsafe extern "C" fn(*mut Self, *const c_char, c_int, *mut c_int) -> c_int>,
    pub full_path:
        Option<unsafe extern "C" fn(*mut Self, *const c_char, c_int, *mut c_char) -> c_int>,
    pub dl_open: Option<unsafe extern "C" fn(*mut Self, *const c_char) -> *mut c_void>,
    pub dl_error: Option<unsafe extern "C" fn(*mut Self, c_int, *mut c_char)>,
    pub dl_symbol:
        Option<unsafe extern "C" fn(*mut Self, *mut c_void, *const c_char) -> AnyFunction>,
    pub dl_close: Option<unsafe extern "C" fn(*mut Self, *mut c_void)>,
    pub randomness: Option<unsafe extern "C" fn(*mut Self, c_int, *mut c_char) -> c_int>,
    pub sleep: Option<unsafe extern "C" fn(*mut Self, c_int) -> c_int>,
    pub current_time: Option<unsafe extern "C" fn(*mut Self, *mut f64) -> c_int>,
    pub last_error: Option<unsafe extern "C" fn(*mut Self, c_int, *mut c_char) -> c_int>,
    pub current_time_int64: Option<unsafe extern "C" fn(*mut Self, *mut i64) -> c_int>,
    pub set_system_call:
        Option<unsafe extern "C" fn(*mut Self, *const c_char, AnyFunction) -> c_int>,
    pub get_system_call: Option<unsafe extern "C" fn(*mut Self, *const c_char) -> AnyFunction>,
    pub next_system_call: Option<unsafe extern "C" fn(*mut Self, *const c_char) -> *const c_char>,
}

/// `sqlite3_api_routines`: the functions that SQLite gives an extension, by their place.
#[repr(C)]
pub(super) struct Routines {
    pub places: [AnyFunction; 198],
}

/// The places of the functions that are used.
pub(super) mod place {
    pub(in crate::sys) const FREE: usize = 58;
    pub(in crate::sys) const LIBVERSION_NUMBER: usize = 67;
    pub(in crate::sys) const VFS_FIND: usize = 141;
    pub(in crate::sys) const VFS_REGISTER: usize = 142;
    pub(in crate::sys) const LOG: usize = 167;
    pub(in crate::sys) const URI_PARAMETER: usize = 189;
    pub(in crate::sys) const MALLOC64: usize = 197;
}

pub(super) const OPEN_MAIN_DB: c_int = 0x100;
pub(super) const OK_LOAD_PERMANENTLY: c_int = 1 << 8;
pub(super) const ERROR: c_int = 1;
pub(super) const CANTOPEN: c_int = 14;
pub(super) const NOTFOUND: c_int = 12;

pub(super) const FCNTL_VFSNAME: c_int = 12;
pub(super) const FCNTL_PRAGMA: c_int = 14;
pub(super) const FCNTL_MMAP_SIZE: c_int = 18;
pub(super) const FCNTL_ROLLBACK_ATOMIC_WRITE: c_int = 33;
pub(super) const FCNTL_RESET_CACHE: c_int = 42;

pub(super) const SHM_UNLOCK: c_int = 1;
pub(super) const SHM_LOCK: c_int = 2;
pub(super) const SHM_SHARED: c_int = 4;
pub(super) const SHM_EXCLUSIVE: c_int = 8;
/// The lock of WAL that only one checkpointer of all processes holds.
pub(super) const WAL_CKPT_LOCK: c_int = 1;
