//! Links of the site that lead nowhere: to a file that is not there, or to a place that its page does not have.

use std::collections::BTreeMap;

use super::has_suffix;
use crate::tidy::joined;

/// A line for each, from the pages and files of a site by their paths.
pub(super) fn broken(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut broken = Vec::new();
    for (page, text) in files.iter().filter(|(path, _)| has_suffix(path, "html")) {
        for link in links(text) {
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { page.clone() } else { joined(page, path) };
            // mdBook names a README index.html. The page by the old name leads there, to the same place.
            let shown = files.get(&path.replace("README.html", "index.html"));
            let has_place = |text: &String| text.contains(&format!(" id=\"{place}\""));
            let leads =
                files.contains_key(&path) && (place.is_empty() || shown.is_some_and(has_place));
            if !leads {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    broken
}

/// What a page refers to, if it is of the same site.
fn links(text: &str) -> impl Iterator<Item = &str> {
    [" href=\"", " src=\""]
        .into_iter()
        .flat_map(|mark| text.split(mark).skip(1))
        .filter_map(|rest| rest.split_once('"').map(|(link, _)| link))
        .filter(|link| !link.contains("://") && !link.starts_with("mailto:"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn links_to_no_file_and_to_no_place_are_found() {
        let text = "<a href=\"../index.html\"> <a class=x href=\"b.html#part\"> <img src=\"a.svg\"> \
                    <a href=\"https://x.org/a\"> <a href=\"#here\"> <h2 id=\"here\"> <a href=\"gone.html\"> \
                    <a href=\"b.html#gone\"> <a href=\"#gone\"> <img src=\"gone.svg\"> <a href=\"../../x.html\"> \
                    <a href=\"README.html#top\">";
        let files = [
            ("index.html", "<a href=\"docs/a.html\">"),
            ("docs/a.html", text),
            ("docs/README.html", "it has moved"),
            ("docs/index.html", "<h1 id=\"top\">"),
            ("docs/b.html", "<h2 id=\"part\">"),
            ("docs/a.svg", ""),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        expect![[r"
            docs/a.html: gone.html
            docs/a.html: b.html#gone
            docs/a.html: #gone
            docs/a.html: ../../x.html
            docs/a.html: gone.svg"]]
        .assert_eq(&broken(&files).join("\n"));
    }
}
