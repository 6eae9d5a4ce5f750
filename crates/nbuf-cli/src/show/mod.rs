//! How results look: on a terminal, and as a picture.

#![expect(clippy::cast_precision_loss, reason = "counts and sizes become places on a screen")]

mod axis;
pub(crate) mod bench;
mod canvas;
mod chart;
pub(crate) mod curve;
pub(crate) mod figures;
pub(crate) mod html;
mod labels;
mod markup;
pub(crate) mod picture;
pub(crate) mod ping;
pub(crate) mod plot;
pub(crate) mod progress;
pub(crate) mod replay;
pub(crate) mod report;
#[cfg(test)]
mod sample;
pub(crate) mod sweep;
pub(crate) mod terminal;
pub(crate) mod text;
pub(crate) mod unix;
