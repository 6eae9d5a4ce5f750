//! One file or folder a verb.

pub(crate) mod size;
