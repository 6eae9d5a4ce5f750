//! How a verb makes its page.

use super::{Answer, Page, Part, Tile};

impl Page {
    /// A page under a heading. Its title is the verb and the heading.
    pub(in crate::show) fn new(
        verb: &'static str,
        heading: impl Into<String>,
        words: &'static str,
    ) -> Self {
        let heading = heading.into();
        Self { verb, title: format!("nbuf {verb}: {heading}"), heading, words, ..Self::default() }
    }

    /// The page under another title.
    pub(in crate::show) fn title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    pub(in crate::show) fn answers(self, answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: answers.into_iter().collect(), ..self }
    }

    pub(in crate::show) fn tiles(self, tiles: Vec<Tile>) -> Self {
        Self { tiles, ..self }
    }

    /// The page with these parts above its sections.
    pub(in crate::show) fn lead(self, lead: impl IntoIterator<Item = Part>) -> Self {
        Self { lead: lead.into_iter().collect(), ..self }
    }

    /// The page with another section, which is left out if it has no parts.
    pub(in crate::show) fn section(
        self,
        title: impl Into<String>,
        parts: impl IntoIterator<Item = Part>,
    ) -> Self {
        self.sections([(title, parts.into_iter().collect())])
    }

    /// The page with more sections.
    pub(in crate::show) fn sections<S: Into<String>>(
        mut self,
        sections: impl IntoIterator<Item = (S, Vec<Part>)>,
    ) -> Self {
        self.sections.extend(sections.into_iter().map(|(title, parts)| (title.into(), parts)));
        self
    }
}
