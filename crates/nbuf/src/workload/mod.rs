//! Who asks: commands, recorded traces and the formats they are kept in.

pub mod anonymize;
pub mod command;
pub mod convert;
pub mod format;
pub mod pages;
pub mod process;
pub mod ranges;
pub mod record;
pub mod request;
pub mod source;
pub mod synthetic;
pub mod trace;
mod varint;
pub mod within;
