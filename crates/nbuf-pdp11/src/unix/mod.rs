//! First Edition Unix (1971, as restored from the listing of June 1972) on the machine.
//!
//! Only [`kernel`] depends on the inside of the kernel. [`files`] reads its file system, [`guest`]
//! runs its console, and `crash` explains why it stopped. [`stages`] and [`sweep`] make the nbuf
//! experiment. The user supplies the images; this crate contains none.

mod crash;
pub mod files;
pub mod guest;
pub mod kernel;
pub mod result;
pub mod stages;
pub mod sweep;
