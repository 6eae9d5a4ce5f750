//! Hit ratio against cache size on a terminal.

use nbuf::experiment::result::CurveDocument;

/// A plot for each page size.
pub(crate) fn plot(document: &CurveDocument, width: usize, _colour: bool) -> String {
    super::table(document, width)
}
