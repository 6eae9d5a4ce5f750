//! The program's heap: the system's, but that want of memory ends the process in one line that says what
//! to do, and not with an abort.

use std::alloc::{GlobalAlloc, Layout, System};

/// For `#[global_allocator]`. Not for programs that ask whether there is memory (`try_reserve`): they get no
/// answer.
#[derive(Debug)]
pub struct Heap;

const MESSAGE: &[u8] =
    b"nbuf: out of memory; raise the limit (`ulimit -v`), free some, or ask for less \
    at once (fewer sizes or policies, --sample)\n";
/// Something of ours failed, as the program's other errors.
const STATUS: i32 = 125;

/// Says so with nothing but system calls: there is no memory to be had for more.
fn refuse() -> ! {
    // SAFETY: a constant of the length that is passed; `_exit` runs nothing of this process's.
    unsafe {
        libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(STATUS)
    }
}

// SAFETY: every call is handed on to the system's allocator with what it was given; only memory that it gave
// is given back.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let got = unsafe { System.alloc(layout) };
        if got.is_null() { refuse() } else { got }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let got = unsafe { System.alloc_zeroed(layout) };
        if got.is_null() { refuse() } else { got }
    }

    unsafe fn realloc(&self, from: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let got = unsafe { System.realloc(from, layout, size) };
        if got.is_null() { refuse() } else { got }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}
