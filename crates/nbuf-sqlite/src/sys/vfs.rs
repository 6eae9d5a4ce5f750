//! The VFS: opens databases with a cache, and leaves all else to the VFS below.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use super::abi::{AnyFunction, CANTOPEN, OPEN_MAIN_DB, Open, RawFile, Vfs};
use super::api::{self, Api};
use super::guard;
use super::methods::{self, BELOW};
use super::real::Real;
use crate::code::OK;
use crate::files::Files;
use crate::handle::Handle;
use crate::options::Options;

/// Its name.
const NAME: &CStr = c"nbuf";

/// `SQLITE_FCNTL_HAS_MOVED`.
const FCNTL_HAS_MOVED: c_int = 20;

/// The files that are open.
static FILES: Files<Real> = Files::new();

/// Registers the VFS over the one that is the default now. Registered again, it becomes the default if that is asked for.
///
/// # Safety
///
/// The functions are those of the SQLite that calls.
pub(super) unsafe fn register(api: Api, is_default: bool) -> Result<(), &'static CStr> {
    // Two loads at a time would each find no VFS of ours, and one would find the other's as the one below.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: SQLite finds a VFS by a text, or the default without one; each stays where it is.
    let ours = unsafe { (api.vfs_find)(NAME.as_ptr()) };
    let ours = if ours.is_null() {
        // SAFETY: as above.
        let below = unsafe { (api.vfs_find)(ptr::null()) };
        if below.is_null() {
            return Err(c"SQLite has no VFS that nbuf could use: register one first");
        }
        // SAFETY: a registered VFS is one.
        let is_ours = unsafe { (*below).open.is_some_and(|of| ptr::fn_addr_eq(of, open as Open)) };
        if is_ours {
            return Err(c"the default VFS is nbuf already: load it once");
        }
        // SAFETY: as above.
        let vfs = unsafe { over(below) };
        Box::into_raw(Box::new(vfs))
    } else if is_default {
        ours
    } else {
        return Ok(());
    };
    // SAFETY: the VFS is a leaked box, so it stays as long as the process.
    match unsafe { (api.vfs_register)(ours, c_int::from(is_default)) } {
        OK => Ok(()),
        _ => Err(c"SQLite did not register the VFS nbuf: it has no memory left"),
    }
}

/// # Safety
///
/// The VFS is a registered one.
unsafe fn over(below: *mut Vfs) -> Vfs {
    // SAFETY: the caller promises it. Fields of later versions are read only if it has them.
    let (version, file_bytes, path_bytes_max) =
        unsafe { ((*below).version, (*below).file_bytes, (*below).path_bytes_max) };
    let own = c_int::try_from(BELOW).unwrap_or(c_int::MAX);
    let has_times = version >= 2;
    let has_calls = version >= 3;
    Vfs {
        version: version.min(3),
        file_bytes: own.saturating_add(file_bytes),
        path_bytes_max,
        next: ptr::null_mut(),
        name: NAME.as_ptr(),
        data: below.cast::<c_void>(),
        open: Some(open),
        delete: Some(delete),
        access: Some(access),
        full_path: Some(full_path),
        dl_open: Some(dl_open),
        dl_error: Some(dl_error),
        dl_symbol: Some(dl_symbol),
        dl_close: Some(dl_close),
        randomness: Some(randomness),
        sleep: Some(sleep),
        current_time: Some(current_time),
        last_error: Some(last_error),
        current_time_int64: has_times.then_some(current_time_int64 as _),
        set_system_call: has_calls.then_some(set_system_call as _),
        get_system_call: has_calls.then_some(get_system_call as _),
        next_system_call: has_calls.then_some(next_system_call as _),
    }
}

/// The VFS below.
///
/// # Safety
///
/// The VFS is ours.
unsafe fn below(vfs: *mut Vfs) -> *mut Vfs {
    // SAFETY: the caller promises it, and `over` has put it there.
    unsafe { (*vfs).data.cast() }
}

unsafe extern "C" fn open(
    vfs: *mut Vfs,
    name: *const c_char,
    file: *mut RawFile,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let opens = || {
        // SAFETY: SQLite calls our VFS with a name, which may be null, and memory of `file_bytes`. That is room for our
        // file and the one below, and the place of the latter is aligned as the memory is.
        unsafe {
            let vfs = below(vfs);
            let Some(open) = (*vfs).open else { return CANTOPEN };
            if name.is_null() || flags & OPEN_MAIN_DB == 0 {
                return open(vfs, name, file, flags, out_flags);
            }
            (*file).methods = ptr::null();
            let options = match options(name) {
                Ok(options) => options,
                Err(what) => {
                    api::log(CANTOPEN, &what);
                    return CANTOPEN;
                }
            };
            let other = file.byte_add(BELOW);
            (*other).methods = ptr::null();
            let code = open(vfs, name, other, flags, out_flags);
            if code == OK {
                let begun = guard(false, || {
                    begin(name, file, Real::new(other), &options);
                    true
                });
                if !begun {
                    (*file).methods = ptr::null();
                    let other = Real::new(other);
                    other.ask(other.methods().close);
                    return CANTOPEN;
                }
            } else if !(*other).methods.is_null() {
                let other = Real::new(other);
                other.ask(other.methods().close);
            }
            code
        }
    };
    guard(CANTOPEN, opens)
}

/// # Safety
///
/// The name and the memory are those of `open`, and the file below is open.
unsafe fn begin(name: *const c_char, file: *mut RawFile, below: Real, options: &Options) {
    let is_there = || {
        let mut has_moved: c_int = 1;
        let control = below.methods().file_control;
        let argument = (&raw mut has_moved).cast::<c_void>();
        // SAFETY: the file is open, and this control wants room for a number.
        let code =
            control.map(|control| unsafe { control(below.raw(), FCNTL_HAS_MOVED, argument) });
        code == Some(OK) && has_moved == 0
    };
    // SAFETY: the name is a text, and the memory has room.
    unsafe {
        let shared = FILES.shared(CStr::from_ptr(name), options, is_there);
        methods::begin(file, Handle::new(below, shared), below);
    }
}

/// # Safety
///
/// The name is the one of a main database.
unsafe fn options(name: *const c_char) -> Result<Options, String> {
    let by_uri = |of: &str| {
        let of = std::ffi::CString::new(of).ok()?;
        // SAFETY: the caller promises the name.
        unsafe { api::parameter(name, &of) }
    };
    Options::read(|of| by_uri(of).or_else(|| std::env::var(of.to_ascii_uppercase()).ok()))
}

/// Defines functions that call the same function of the VFS below, or give `otherwise` if it has none.
macro_rules! passed_on {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty, $otherwise:expr;)*) => {$(
        unsafe extern "C" fn $name(vfs: *mut Vfs, $($argument: $kind),*) -> $result {
            // SAFETY: SQLite calls our VFS, and the VFS below gets what SQLite gives.
            guard($otherwise, || unsafe {
                let vfs = below(vfs);
                (*vfs).$name.map_or($otherwise, |function| function(vfs, $($argument),*))
            })
        }
    )*};
}

passed_on! {
    delete(name: *const c_char, syncs: c_int) -> c_int, CANTOPEN;
    access(name: *const c_char, flags: c_int, out: *mut c_int) -> c_int, CANTOPEN;
    full_path(name: *const c_char, bytes: c_int, out: *mut c_char) -> c_int, CANTOPEN;
    dl_open(name: *const c_char) -> *mut c_void, ptr::null_mut();
    dl_error(bytes: c_int, out: *mut c_char) -> (), ();
    dl_symbol(library: *mut c_void, name: *const c_char) -> AnyFunction, None;
    dl_close(library: *mut c_void) -> (), ();
    randomness(bytes: c_int, out: *mut c_char) -> c_int, 0;
    sleep(microseconds: c_int) -> c_int, 0;
    current_time(out: *mut f64) -> c_int, CANTOPEN;
    last_error(bytes: c_int, out: *mut c_char) -> c_int, 0;
    current_time_int64(out: *mut i64) -> c_int, CANTOPEN;
    set_system_call(name: *const c_char, function: AnyFunction) -> c_int, CANTOPEN;
    get_system_call(name: *const c_char) -> AnyFunction, None;
    next_system_call(name: *const c_char) -> *const c_char, ptr::null();
}
