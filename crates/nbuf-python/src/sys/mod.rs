//! Memory that another library owns: Arrow's C streams and `NumPy`'s arrays. Nothing else here is unsafe.

mod numpy;
mod stream;

pub(crate) use numpy::{Numbers, column};
pub(crate) use stream::{give, take};
