//! Pages as a reader of markup sees them.

/// Fails unless every element that is opened is closed, in order, and no text has a bare sign in it,
/// and where the page fetches something or has a number that is none. Gives the names of all elements.
#[track_caller]
pub(in crate::show) fn well_formed(page: &str) -> Vec<String> {
    for word in ["http://", "https://", "url(", "@import", " src=", "href", "NaN", "inf\""] {
        assert!(!page.contains(word), "{word}");
    }
    let body = page.strip_prefix("<!DOCTYPE html>\n").expect("a document type");
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or_else(|| panic!("bare <: {piece}"));
        let is_code = matches!(open.last().map(String::as_str), Some("script" | "style"));
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "before {text}");
            continue;
        }
        assert!(!is_code, "an element in code: {tag}");
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        if !tag.ends_with('/') {
            open.push(name.clone());
        }
        let is_code = matches!(name.as_str(), "script" | "style");
        if !is_code {
            assert!(!text.contains('>'), "bare >: {text}");
            for entity in text.split('&').skip(1) {
                let (entity, _) =
                    entity.split_once(';').unwrap_or_else(|| panic!("bare &: {text}"));
                assert!(["amp", "lt", "gt", "quot", "#39"].contains(&entity), "&{entity};");
            }
        }
        seen.push(name);
    }
    assert_eq!(open, Vec::<String>::new());
    seen
}
