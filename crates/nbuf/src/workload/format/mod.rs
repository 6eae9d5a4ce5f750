//! The forms a trace is kept in, one file a form.
//!
//! A form turns bytes into a [`Trace`](super::trace::Trace) and back. It opens nothing, and no
//! bytes make it panic or take more memory than they justify: a trace comes from anywhere.

pub mod native;
