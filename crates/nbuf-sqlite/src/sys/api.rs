//! The functions of the SQLite that loaded the extension.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::abi::{AnyFunction, Routines, Vfs, place};

type Log = unsafe extern "C" fn(c_int, *const c_char, ...);
type UriParameter = unsafe extern "C" fn(*const c_char, *const c_char) -> *const c_char;

/// The functions that are used.
#[derive(Clone, Copy)]
pub(super) struct Api {
    malloc: unsafe extern "C" fn(u64) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    log: Log,
    uri_parameter: UriParameter,
    pub vfs_find: unsafe extern "C" fn(*const c_char) -> *mut Vfs,
    pub vfs_register: unsafe extern "C" fn(*mut Vfs, c_int) -> c_int,
}

/// The oldest SQLite with all of them: 3.8.7 of 2014.
const FUNCTIONS_SINCE: c_int = 3_008_007;
/// The oldest that keeps a library which asks for it: 3.14 of 2016. Older ones unload the VFS that they use.
const VERSION_MIN: c_int = 3_014_000;

/// Why the functions cannot be used, and those of the SQLite that asks, if they are known.
pub(super) type Refused = (Option<Api>, &'static CStr);

static API: OnceLock<Api> = OnceLock::new();

/// Takes the functions. An error says why they cannot be used.
///
/// # Safety
///
/// The pointer is null, or it is the third argument of an extension's entry point.
pub(super) unsafe fn take(routines: *const Routines) -> Result<Api, Refused> {
    let missing = c"nbuf needs SQLite 3.14 or later: update SQLite";
    if routines.is_null() {
        return Err((None, missing));
    }
    // SAFETY: every version of SQLite has its version's number at this place, of this type.
    let version = unsafe {
        (*routines).places[place::LIBVERSION_NUMBER].map(|function| {
            std::mem::transmute::<unsafe extern "C" fn(), extern "C" fn() -> c_int>(function)()
        })
    };
    let Some(version) = version.filter(|&version| version >= FUNCTIONS_SINCE) else {
        return Err((None, missing));
    };
    // SAFETY: this version of SQLite has functions of these types at these places.
    let api = unsafe { of(|at| (*routines).places[at]) }.ok_or((None, missing))?;
    if version < VERSION_MIN {
        return Err((Some(api), missing));
    }
    let first = API.get_or_init(|| api);
    // The VFS is one object: it cannot be in the lists of two libraries.
    if !ptr::fn_addr_eq(first.vfs_register, api.vfs_register) {
        return Err((
            Some(api),
            c"another SQLite library of this process has loaded nbuf: load it in one of them",
        ));
    }
    Ok(api)
}

/// # Safety
///
/// The functions at the places are those of SQLite.
unsafe fn of(at: impl Fn(usize) -> AnyFunction) -> Option<Api> {
    // SAFETY: SQLite's header gives the functions at these places these types.
    unsafe {
        Some(Api {
            malloc: std::mem::transmute::<
                unsafe extern "C" fn(),
                unsafe extern "C" fn(u64) -> *mut c_void,
            >(at(place::MALLOC64)?),
            free: std::mem::transmute::<unsafe extern "C" fn(), unsafe extern "C" fn(*mut c_void)>(
                at(place::FREE)?,
            ),
            log: std::mem::transmute::<unsafe extern "C" fn(), Log>(at(place::LOG)?),
            uri_parameter: std::mem::transmute::<unsafe extern "C" fn(), UriParameter>(at(
                place::URI_PARAMETER,
            )?),
            vfs_find: std::mem::transmute::<
                unsafe extern "C" fn(),
                unsafe extern "C" fn(*const c_char) -> *mut Vfs,
            >(at(place::VFS_FIND)?),
            vfs_register: std::mem::transmute::<
                unsafe extern "C" fn(),
                unsafe extern "C" fn(*mut Vfs, c_int) -> c_int,
            >(at(place::VFS_REGISTER)?),
        })
    }
}

/// A copy of a text that SQLite frees; null without memory.
pub(super) fn text(text: &[u8]) -> *mut c_char {
    API.get().map_or(ptr::null_mut(), |api| text_of(api, text))
}

/// The same for a SQLite with these functions: each frees with its own allocator.
pub(super) fn text_of(api: &Api, text: &[u8]) -> *mut c_char {
    // SAFETY: SQLite's allocator gives null or as many bytes as were asked for, which are written here.
    unsafe {
        let copy = (api.malloc)(text.len() as u64 + 1).cast::<u8>();
        if !copy.is_null() {
            ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len());
            copy.add(text.len()).write(0);
        }
        copy.cast()
    }
}

/// Frees a text.
///
/// # Safety
///
/// The text is null or of SQLite's allocator, and not used any more.
pub(super) unsafe fn free(text: *mut c_char) {
    if let Some(api) = API.get() {
        // SAFETY: the caller promises it.
        unsafe { (api.free)(text.cast()) }
    }
}

/// Writes a line to SQLite's log.
pub(super) fn log(code: c_int, line: &str) {
    let (Some(api), Ok(line)) = (API.get(), CString::new(line)) else { return };
    // SAFETY: the format takes one text, and that is given.
    unsafe { (api.log)(code, c"%s".as_ptr(), line.as_ptr()) }
}

/// A parameter of the URI by which a file was opened.
///
/// # Safety
///
/// The name is the one that SQLite gave to the VFS to open a main database.
pub(super) unsafe fn parameter(name: *const c_char, of: &CStr) -> Option<String> {
    let api = API.get()?;
    // SAFETY: parameters follow such a name, and the value, if not null, stays as long as the name.
    unsafe {
        let value = (api.uri_parameter)(name, of.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value).to_string_lossy().into_owned())
    }
}
