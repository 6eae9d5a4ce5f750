//! Who asks: recorded traces and the formats they are kept in.

pub mod format;
pub mod record;
pub mod trace;
