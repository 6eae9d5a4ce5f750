//! How documents look: on a terminal, as a page, and as comma-separated values.
//!
//! A verb turns its document into parts: sentences, tables, charts, maps. It knows what they say and
//! not how they are drawn. The kit knows how to draw and not what a verb is:
//!
//! | part | what it is | on a terminal | on a page |
//! |---|---|---|---|
//! | sentence | text without markup | [`text`] wraps it | `page` escapes it |
//! | `table::Table` | columns with ranks, rows of cells | lines, without columns of high ranks where there is no room | a caption, scopes, sorted and copied by the script |
//! | `chart::Chart` | axes (`scale`), bands, lines, bars, dots, marks, and the table behind them | `plot`, on a `canvas` of braille | `svg`, for wide and for narrow windows |
//! | `heat::Heat` | counts in rows and columns | shades | a `page::Map` |
//! | `page::Map` | places of a kind and a strength | as the verb likes | strokes |
//! | `svg::Boxes` | boxes as wide as their shares, and the table behind them | the table | `svg`, as a chart |
//! | `svg::{spark, whisker}` | a picture in a cell of a table | as the verb likes | `svg` |
//!
//! `page` has the one skeleton, style and script of all pages. Only it makes markup of text.
//!
//! Every picture of a page has places, made by `svg::places`. The script shows the numbers of a place to
//! a pointer and to arrow keys. They are a row of the table behind the picture, or a text of the place.

#![expect(clippy::cast_precision_loss, reason = "counts and sizes become places on a screen")]

pub(crate) mod bench;
mod canvas;
mod chart;
pub(crate) mod curve;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod figures;
pub(crate) mod fleet;
mod heat;
mod labels;
pub(crate) mod live;
pub(crate) mod load;
mod markup;
mod page;
pub(crate) mod ping;
mod plot;
pub(crate) mod progress;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
mod scale;
pub(crate) mod serve;
pub(crate) mod stat;
mod svg;
pub(crate) mod sweep;
mod table;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod unix;
pub(crate) mod watch;
