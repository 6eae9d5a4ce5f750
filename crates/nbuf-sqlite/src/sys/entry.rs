//! The entry points that SQLite calls when it loads the extension.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::abi::{ERROR, OK_LOAD_PERMANENTLY, Routines};
use super::api::Api;
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
    let failed = Err((None, c"nbuf failed when it was loaded: report this"));
    let registered = guard(failed, || {
        // SAFETY: the caller promises the functions.
        unsafe {
            let api = api::take(routines)?;
            vfs::register(api, is_default).map_err(|what| (Some(api), what))
        }
    });
    match registered {
        // The VFS stays registered, so the library must not be unloaded.
        Ok(()) => OK_LOAD_PERMANENTLY,
        Err((api, what)) => {
            // SAFETY: SQLite gives room for a text, or null.
            unsafe { said(error, api, what) };
            ERROR
        }
    }
}

/// # Safety
///
/// The pointer is null or has room for a text.
unsafe fn said(error: *mut *mut c_char, api: Option<Api>, what: &CStr) {
    if let Some(api) = api.filter(|_| !error.is_null()) {
        // SAFETY: the caller promises it.
        unsafe { *error = api::text_of(&api, what.to_bytes()) }
    }
}
