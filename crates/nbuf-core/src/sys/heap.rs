//! The program's heap: an allocator that never fails. Without memory the process ends in one line that says
//! what to do, and not with an abort.

use std::alloc::{GlobalAlloc, Layout};

/// For `#[global_allocator]`. Not for programs that ask whether there is memory (`try_reserve`): they get no
/// answer.
#[derive(Debug)]
pub struct Heap<A>(pub A);

const MESSAGE: &[u8] =
    b"nbuf: out of memory; raise the limit (`ulimit -v`), free some, or ask for less \
    at once (fewer sizes or policies, --sample)\n";
/// Something of ours failed, as the program's other errors.
const STATUS: i32 = 125;

/// Says so with nothing but system calls: there is no memory to be had for more.
pub(crate) fn refuse() -> ! {
    // SAFETY: a constant of the length that is passed; `_exit` runs nothing of this process's.
    unsafe {
        libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(STATUS)
    }
}

// SAFETY: every call is handed on to the one allocator with what it was given; only memory that it gave
// is given back.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Heap<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let got = unsafe { self.0.alloc(layout) };
        if got.is_null() { refuse() } else { got }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let got = unsafe { self.0.alloc_zeroed(layout) };
        if got.is_null() { refuse() } else { got }
    }

    unsafe fn realloc(&self, from: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let got = unsafe { self.0.realloc(from, layout, size) };
        if got.is_null() { refuse() } else { got }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { self.0.dealloc(at, layout) }
    }
}
