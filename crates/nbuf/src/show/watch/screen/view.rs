//! What can be displayed live: intervals of something that is watched.

use ratatui::text::Line;

/// An interval of a display. A trait, because a machine and a server have other figures on the same screen.
pub(crate) trait View: Clone {
    /// The names of its pages.
    const PAGES: &'static [&'static str];
    /// What its words mean, for the help.
    const WORDS: &'static [&'static str];

    /// When it was, and of what.
    fn head(&self) -> String;

    /// A figure that each page shows, at the right.
    fn cost(&self) -> String;

    /// The page of this number for the last of these intervals, with strips of all.
    fn lines(seen: &[&Self], page: usize, width: usize, has_colour: bool) -> Vec<Line<'static>>;

    /// The time of the interval as a part of a file name.
    fn stamp(&self) -> String;

    /// A page of the last of these intervals in HTML.
    fn html(seen: &[&Self]) -> String;
}
