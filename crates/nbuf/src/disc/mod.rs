//! What is behind the cache.

pub mod private;
