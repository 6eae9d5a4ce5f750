//! One page that needs nothing beside it.
use nbuf::experiment::result::CurveDocument;

/// One page that needs nothing beside it.
pub(crate) fn page(document: &CurveDocument) -> String {
    let text = super::super::markup::escape(&super::table(document, 80)).replace(' ', "\u{a0}");
    format!("<!DOCTYPE html>\n<html lang=\"en\"><body><pre>{text}</pre></body></html>\n")
}
