//! Asks the processor to bring something close before it is needed.

/// Starts to load the cache line of `items[at]`. A hint: it has no effect but on time, and a place
/// beyond the end is nothing. Worth it where the address is known some dozens of instructions ahead
/// and the load would most likely miss.
#[inline]
pub(crate) fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = items.get(at) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing into the program and never faults; SSE is part of the
        // x86-64 baseline.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}
