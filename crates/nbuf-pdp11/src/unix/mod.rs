//! First Edition Unix (1971, as restored from the listing of June 1972) on the machine.
//!
//! Only [`kernel`] depends on the inside of the kernel. [`files`] reads its file system, [`guest`]
//! runs its console, and `crash` explains why it stopped. [`stages`] and [`sweep`] make the nbuf
//! experiment, and [`boot`] a session at the console. [`images`] reads the folder of the user, who supplies the images; this crate contains none.

pub mod boot;
mod crash;
pub mod files;
pub mod guest;
pub mod images;
pub mod kernel;
pub mod result;
pub mod scan;
pub mod stages;
pub mod sweep;
pub mod warning;
