//! Columns and cells.

use nbuf::units::{Bytes, grouped};

use super::super::markup::escape;

/// A column, and how much it is needed.
#[derive(Clone, Debug)]
pub(in crate::show) struct Column {
    pub(super) name: String,
    /// The name where an empty one says too little.
    label: Option<&'static str>,
    pub(super) is_text: bool,
    pub(super) rank: u8,
}

/// A column of words, from the left.
pub(in crate::show) fn text(name: impl Into<String>) -> Column {
    Column { name: name.into(), label: None, is_text: true, rank: 0 }
}

/// A column of numbers, from the right.
pub(in crate::show) fn number(name: impl Into<String>) -> Column {
    Column { is_text: false, ..text(name) }
}

impl Column {
    /// Where there is no room, columns of higher ranks go before those of lower ones.
    pub(in crate::show) fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// A name for pages, of a column that has none on a terminal.
    pub(in crate::show) fn label(self, label: &'static str) -> Self {
        Self { label: Some(label), ..self }
    }

    /// Its class in the style.
    pub(super) fn class(&self) -> &'static str {
        if self.is_text { " class=\"text\"" } else { "" }
    }

    /// The name on a page.
    pub(super) fn label_text(&self) -> &str {
        self.label.unwrap_or(self.name.trim())
    }
}

/// What a page shows of a cell beyond its text.
#[derive(Clone, Debug, Default)]
enum Look {
    #[default]
    Plain,
    /// A class of the style: `good`, `bad`, `open`, `strong`, `path`.
    Class(&'static str),
    /// A bar behind the text, as a share.
    Bar(f64),
    /// A colour behind the text, as a share.
    Heat(f64),
    /// A picture in the place of the text, as markup.
    Picture(String),
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(in crate::show) struct Cell {
    pub(super) text: String,
    look: Look,
}

impl Cell {
    /// A text in a class of the style.
    pub(in crate::show) fn class(text: impl Into<String>, class: &'static str) -> Self {
        Self { text: text.into(), look: Look::Class(class) }
    }

    /// A number with a bar as long as its share of the whole.
    pub(in crate::show) fn bar(text: impl Into<String>, share: f64) -> Self {
        Self { text: text.into(), look: Look::Bar(share) }
    }

    /// A number in a colour as strong as its place on a scale.
    pub(in crate::show) fn heat(text: impl Into<String>, share: f64) -> Self {
        Self { text: text.into(), look: Look::Heat(share) }
    }

    /// A text on a terminal, a picture on a page.
    pub(in crate::show) fn picture(text: impl Into<String>, svg: String) -> Self {
        Self { text: text.into(), look: Look::Picture(svg) }
    }

    pub(super) fn html(&self) -> String {
        let text = escape(self.text.trim());
        let shaded = |class: &str, part: f64| {
            format!("<span class=\"{class}\" style=\"--part:{part:.0}%\">{text}</span>")
        };
        match &self.look {
            Look::Plain => text,
            Look::Class(class) => format!("<span class=\"{class}\">{text}</span>"),
            Look::Bar(share) => shaded("bar", 100.0 * share),
            Look::Heat(share) => shaded("heat", 55.0 * share),
            Look::Picture(svg) => svg.clone(),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, look: Look::Plain }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        grouped(number).into()
    }
}

impl From<Bytes> for Cell {
    fn from(bytes: Bytes) -> Self {
        bytes.to_string().into()
    }
}

/// What is not known has an empty cell.
impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Self {
        cell.map_or_else(Self::default, Into::into)
    }
}
