//! The shared memory of WAL: the methods for it, and its first words.

use std::ffi::{c_int, c_void};

use super::abi::{RawFile, SHM_EXCLUSIVE, SHM_LOCK, SHM_SHARED, SHM_UNLOCK, WAL_CKPT_LOCK};
use super::methods::{Open, with};
use crate::code::{Code, OK};
use crate::index::Index;

pub(super) unsafe extern "C" fn shm_map(
    file: *mut RawFile,
    region: c_int,
    bytes: c_int,
    extends: c_int,
    out: *mut *mut c_void,
) -> c_int {
    let map = |open: &mut Open| {
        let Some(method) = open.below.methods().shm_map else { return Code::FAILED.0 };
        // SAFETY: the file below is open, and gets what SQLite gives. The region is the first one, which stays
        // mapped until `shm_unmap`, where the index is dropped.
        unsafe {
            let code = method(open.below.raw(), region, bytes, extends, out);
            if code == OK
                && region == 0
                && let Some(index) = index(*out)
            {
                open.handle.mapped(index);
            }
            code
        }
    };
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, map) }
}

pub(super) unsafe extern "C" fn shm_lock(
    file: *mut RawFile,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    let is_checkpoint =
        flags & SHM_EXCLUSIVE != 0 && (first..first.saturating_add(count)).contains(&WAL_CKPT_LOCK);
    let lock = |open: &mut Open| {
        if is_checkpoint && flags & SHM_UNLOCK != 0 {
            open.handle.checkpoint_ends();
        }
        let Some(method) = open.below.methods().shm_lock else { return Code::FAILED.0 };
        // SAFETY: the file below is open, and gets what SQLite gives.
        let code = unsafe { method(open.below.raw(), first, count, flags) };
        if is_checkpoint && flags & SHM_LOCK != 0 && code == OK {
            open.handle.checkpoint_begins();
        }
        if flags & (SHM_LOCK | SHM_SHARED) == SHM_LOCK | SHM_SHARED && code == OK {
            open.handle.begins();
        }
        code
    };
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, lock) }
}

pub(super) unsafe extern "C" fn shm_barrier(file: *mut RawFile) {
    let barrier = |open: &mut Open| {
        if let Some(method) = open.below.methods().shm_barrier {
            // SAFETY: the file below is open.
            unsafe { method(open.below.raw()) };
        }
        OK
    };
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, barrier) };
}

pub(super) unsafe extern "C" fn shm_unmap(file: *mut RawFile, deletes: c_int) -> c_int {
    let unmap = |open: &mut Open| {
        open.handle.unmaps();
        open.below.call(open.below.methods().shm_unmap, deletes)
    };
    // SAFETY: SQLite gives an open file.
    unsafe { with(file, unmap) }
}

/// # Safety
///
/// The memory is the first region of the shared memory of a WAL, and stays mapped until the connection unmaps it. The
/// caller drops the index before.
unsafe fn index(memory: *mut c_void) -> Option<Index> {
    let is_aligned = memory.cast::<u32>().is_aligned();
    if memory.is_null() || !is_aligned {
        return None;
    }
    // SAFETY: the region has at least 32 KiB. Others change it, and atomic loads of words permit that. The
    // lifetime ends before the mapping does, as the caller promises.
    Some(unsafe { &*memory.cast() })
}
