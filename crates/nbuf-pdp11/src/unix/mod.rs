//! First Edition Unix (1971, as restored from the listing of June 1972) on the machine.
//!
//! [`kernel`] is the only folder that knows the inside of the kernel. [`files`] reads its file system,
//! [`guest`] talks with it on its console and `crash` says why it stands still, [`stages`] and [`sweep`] make the nbuf experiment.
//! The images are the user's; none is part of this crate.

mod crash;
pub mod files;
pub mod guest;
pub mod kernel;
pub mod result;
pub mod stages;
pub mod sweep;
