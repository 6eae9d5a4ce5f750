//! The entry points that SQLite calls when it loads the extension.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::abi::{ERROR, OK_LOAD_PERMANENTLY, Routines};
use super::{api, guard, vfs};

/// Registers the VFS `nbuf`. SQLite finds this by the name of the library.
///
/// # Safety
///
/// SQLite calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_nbufsqlite_init(
    _connection: *mut c_void,
    error: *mut *mut c_char,
    routines: *const c_void,
) -> c_int {
    // SAFETY: SQLite gives an extension these.
    unsafe { begin(error, routines.cast(), false) }
}

/// Registers the VFS `nbuf` as the default, for programs whose databases have no URI.
///
/// # Safety
///
/// SQLite calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_nbufdefault_init(
    _connection: *mut c_void,
    error: *mut *mut c_char,
    routines: *const c_void,
) -> c_int {
    // SAFETY: SQLite gives an extension these.
    unsafe { begin(error, routines.cast(), true) }
}

/// # Safety
///
/// The pointers are those of an extension's entry point.
unsafe fn begin(error: *mut *mut c_char, routines: *const Routines, is_default: bool) -> c_int {
    let registered = guard(Err(c"nbuf failed when it was loaded: report this"), || {
        // SAFETY: the caller promises the functions.
        unsafe { api::take(routines).and_then(|api| vfs::register(api, is_default)) }
    });
    match registered {
        // The VFS stays registered, so the library must not be unloaded.
        Ok(()) => OK_LOAD_PERMANENTLY,
        Err(what) => {
            // SAFETY: SQLite gives room for a text, or null.
            unsafe { said(error, what) };
            ERROR
        }
    }
}

/// # Safety
///
/// The pointer is null or has room for a text.
unsafe fn said(error: *mut *mut c_char, what: &CStr) {
    if !error.is_null() {
        // SAFETY: the caller promises it.
        unsafe { *error = api::text(what.to_bytes()) }
    }
}
