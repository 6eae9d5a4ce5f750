//! The page of every verb: one skeleton, one style, one script.
//!
//! A page needs no network, no font and no library. The answer comes first, then the sections, then
//! the meaning of its words. Text is escaped here and nowhere else, so that no verb can forget it;
//! the page fetches nothing, and its policy forbids it to. It is well-formed as XML too, so that a
//! test can read it.

mod build;
mod map;
#[cfg(test)]
pub(super) mod tests;

use std::fmt::Write as _;

use super::chart::Chart;
use super::markup::escape;
use super::svg::{self, Boxes};
use super::table::Table;
pub(super) use map::{Map, Spot};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Rows of a table behind curves that is open from the beginning.
const OPEN_ROWS: usize = 16;

/// How good the news is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Good,
    Open,
    Bad,
}

impl Mood {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Open => "open",
            Self::Bad => "bad",
        }
    }

    /// Good where nothing is to be said against it.
    pub(super) fn of<T>(warnings: &[T]) -> Self {
        if warnings.is_empty() { Self::Good } else { Self::Open }
    }
}

/// A part of a section.
pub(super) enum Part {
    Text(String),
    /// In small print.
    Note(String),
    /// A warning.
    Bad(String),
    List(Vec<String>),
    /// Names and values, which may have several lines.
    Facts(Vec<(&'static str, String)>),
    /// Lines as they are.
    Lines(String),
    Table(Table),
    Chart(Chart),
    Boxes(Boxes),
    Map(Map),
}

impl Part {
    /// Sentences without full stops, a note each.
    pub(super) fn notes(sentences: impl IntoIterator<Item = String>) -> impl Iterator<Item = Self> {
        sentences.into_iter().map(|sentence| Self::Note(sentence + "."))
    }

    /// A table that has rows.
    pub(super) fn table(table: Table) -> Option<Self> {
        (!table.is_empty()).then_some(Self::Table(table))
    }
}

/// A number that matters, large.
pub(super) struct Tile {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) note: String,
}

/// The answer: a word ahead, a command, a sentence.
pub(super) struct Answer {
    pub(super) mood: Mood,
    pub(super) verdict: &'static str,
    pub(super) command: String,
    pub(super) sentence: String,
}

impl Answer {
    pub(super) fn new(mood: Mood, sentence: impl Into<String>) -> Self {
        Self { mood, verdict: "", command: String::new(), sentence: sentence.into() }
    }

    pub(super) fn html(&self) -> String {
        let part = |tag: &str, text: &str| match text {
            "" => String::new(),
            text => format!("<{tag}>{}</{tag}> ", escape(text)),
        };
        let (verdict, command) = (part("b", self.verdict), part("code", &self.command));
        format!("{verdict}{command}{}", escape(&self.sentence))
    }
}

/// All of a page.
#[derive(Default)]
pub(super) struct Page {
    /// The name of the verb.
    verb: &'static str,
    /// In the list of windows.
    title: String,
    /// Over the answers.
    heading: String,
    answers: Vec<Answer>,
    /// The first is the chosen one.
    tiles: Vec<Tile>,
    lead: Vec<Part>,
    sections: Vec<(String, Vec<Part>)>,
    /// What the words on it mean, each on a line: `hit: an access that finds its page`.
    words: &'static str,
}

impl Page {
    pub(super) fn html(&self) -> String {
        let heading = escape(&shortened(&self.heading, 200));
        let mut body =
            format!("<header><p class=\"eyebrow\">nbuf {}</p>\n<h1>{heading}</h1>\n", self.verb);
        for answer in &self.answers {
            let (mood, text) = (answer.mood.class(), answer.html());
            let _ = writeln!(body, "<p class=\"answer {mood}\">{text}</p>");
        }
        if !self.tiles.is_empty() {
            let _ = writeln!(body, "<dl class=\"tiles\">{}</dl>", tiles(&self.tiles));
        }
        self.lead.iter().for_each(|lead| body.push_str(&part(lead)));
        body.push_str("</header>\n<main>\n");
        for (title, parts) in self.sections.iter().filter(|(_, parts)| !parts.is_empty()) {
            let parts: String = parts.iter().map(part).collect();
            let _ = writeln!(body, "<section><h2>{}</h2>\n{parts}</section>", escape(title));
        }
        let words = self.words.lines().filter_map(|line| line.split_once(": "));
        let words: String = words.map(|(word, says)| definition(word, says)).collect();
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(
            body,
            "<section><h2>Words</h2>\n<dl class=\"facts\">\n{words}</dl></section>\n</main>\n\
             <footer>nbuf {version}</footer>"
        );
        document(&self.title, &body)
    }
}

/// Any sentence with a full stop and a capital letter.
pub(super) fn sentence(text: &str) -> String {
    uppercased(text) + "."
}

/// With a capital letter.
pub(super) fn uppercased(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// The beginning of a text that is too long for its place.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("<p>{}</p>\n", escape(text)),
        Part::Note(text) => format!("<p class=\"note\">{}</p>\n", escape(text)),
        Part::Bad(text) => format!("<p class=\"bad\">{}</p>\n", escape(text)),
        Part::List(items) => {
            let items: Vec<String> = items.iter().map(|item| escape(item)).collect();
            format!("<ul>\n<li>{}</li>\n</ul>\n", items.join("</li>\n<li>"))
        }
        Part::Facts(facts) => {
            let facts: String = facts.iter().map(|(name, value)| definition(name, value)).collect();
            format!("<dl class=\"facts\">\n{facts}</dl>\n")
        }
        Part::Lines(text) => {
            let lines: Vec<String> = text.lines().map(escape).collect();
            format!("<pre>{}</pre>\n", lines.join("\n"))
        }
        Part::Table(table) => table.html(),
        Part::Chart(chart) => {
            let is_open = chart.bars.is_empty() && chart.table.len() <= OPEN_ROWS;
            let numbers = numbers(&chart.table, is_open);
            figure("", &svg::figure(chart), &chart.caption, &numbers)
        }
        Part::Boxes(it) => {
            figure("", &it.figure(), "", &numbers(&it.table, it.table.len() <= OPEN_ROWS))
        }
        Part::Map(map) => {
            figure(" class=\"map\"", &map.html(), &map.caption, &numbers(&map.table, true))
        }
    }
}

/// A picture, what it says, and the numbers behind it.
fn figure(class: &str, picture: &str, caption: &str, numbers: &str) -> String {
    let caption = match caption {
        "" => String::new(),
        text => format!("<figcaption>{}</figcaption>\n", escape(text)),
    };
    format!("<figure{class}>\n{picture}{caption}{numbers}</figure>\n")
}

fn numbers(table: &Table, is_open: bool) -> String {
    if table.is_empty() {
        return String::new();
    }
    let open = if is_open { " open=\"\"" } else { "" };
    let table = table.html();
    format!("<details{open}><summary>The numbers</summary>\n{table}</details>\n")
}

fn tiles(tiles: &[Tile]) -> String {
    let tile = |Tile { name, value, note }: &Tile| {
        let (value, note) = (escape(value), escape(note));
        format!("<div><dt>{name}</dt><dd>{value}</dd><dd class=\"faint\">{note}</dd></div>")
    };
    tiles.iter().map(tile).collect()
}

fn definition(name: &str, says: &str) -> String {
    let lines: Vec<String> = says.lines().map(escape).collect();
    format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), lines.join("<br/>"))
}

fn document(title: &str, body: &str) -> String {
    format!(
        r#"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"/>
<meta name="color-scheme" content="light dark"/>
<title>{}</title>
<style>
{STYLE}</style></head>
<body>
{body}<script>
{SCRIPT}</script></body></html>
"#,
        escape(&shortened(title, 100))
    )
}

/// The style of pictures that stand alone: the style of pages, without the parts around pictures.
pub(super) fn picture_style() -> String {
    let own = STYLE.split("/* pictures */").nth(1).unwrap_or_default();
    let colours = STYLE.split("*{").next().unwrap_or_default();
    let scale =
        "svg{background:none}.card{fill:var(--paper);stroke:var(--line)}.title{font-weight:600}";
    format!("{colours}{scale}{}", own.split("/* end */").next().unwrap_or_default())
}
