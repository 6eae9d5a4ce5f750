//! Who remembers. So far one cache: the kernel's.

pub mod kernel;
