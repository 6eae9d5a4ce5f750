//! A table of a script, and the values in it, each with its place.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ScriptError;

/// Names that are this unlike are not what was meant.
const LIKENESS_MIN: f64 = 0.6;

/// A value with its place.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// A table, and what it describes.
pub(super) struct Section<'t, 'i> {
    text: &'t str,
    table: &'t DeTable<'i>,
    span: Range<usize>,
    what: &'static str,
}

/// The error at a place of the text.
pub(super) fn error(text: &str, span: Range<usize>, what: impl Into<String>) -> ScriptError {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    ScriptError { line, column, what: what.into() }
}

fn listed(known: &[&str]) -> String {
    let all: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    all.join(", ")
}

/// Which of these was probably meant, and all of them.
pub(super) fn meant(word: &str, known: &[&str]) -> String {
    let all = listed(known);
    let likeness = |name: &&&str| strsim::jaro_winkler(word, name);
    let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest.filter(|name| likeness(name) >= LIKENESS_MIN) {
        Some(near) => format!("did you mean `{near}`? Known are {all}"),
        None => format!("write one of {all}"),
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

impl<'t, 'i> Section<'t, 'i> {
    /// A table, whose keys must all be known.
    pub(super) fn new(
        text: &'t str,
        (table, span): (&'t DeTable<'i>, Range<usize>),
        what: &'static str,
        known: &[&str],
    ) -> Result<Self, ScriptError> {
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let hint = meant(name, known);
                let what = format!("{what} has no key `{name}`: {hint}");
                return Err(error(text, key.span(), what));
            }
        }
        Ok(Self { text, table, span, what })
    }

    /// The same for a value that must be a table.
    pub(super) fn of(
        text: &'t str,
        value: &'t Value<'i>,
        what: &'static str,
        known: &[&str],
    ) -> Result<Self, ScriptError> {
        match value.get_ref() {
            DeValue::Table(table) => Self::new(text, (table, value.span()), what, known),
            other => {
                let keys = listed(known);
                let what = format!("{what} is {}: write a table with some of {keys}", kind(other));
                Err(error(text, value.span(), what))
            }
        }
    }

    pub(super) fn value(&self, key: &str) -> Option<&'t Value<'i>> {
        self.table.get(key)
    }

    /// The error of the whole table.
    pub(super) fn wrong(&self, what: impl std::fmt::Display) -> ScriptError {
        error(self.text, self.span.clone(), format!("{} {what}", self.what))
    }

    /// The error at a value.
    pub(super) fn wrong_at(&self, value: &Value<'_>, what: impl std::fmt::Display) -> ScriptError {
        error(self.text, value.span(), what.to_string())
    }

    /// A text that is not empty.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, ScriptError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        self.word(value, key).map(Some)
    }

    fn word(&self, value: &Value<'_>, key: &str) -> Result<String, ScriptError> {
        match value.get_ref() {
            DeValue::String(word) if word.contains('\0') => {
                Err(self.wrong_at(value, format!("`{key}` has a NUL character: remove it")))
            }
            DeValue::String(word) => Ok(word.as_ref().to_owned()),
            other => {
                let what = format!("`{key}` is {}: write a text in quotes", kind(other));
                Err(self.wrong_at(value, what))
            }
        }
    }

    /// A number in a range.
    pub(super) fn number(
        &self,
        key: &str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<f64>, ScriptError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number: Option<f64> = match value.get_ref() {
            DeValue::Integer(whole) if whole.radix() == 10 => whole.as_str().parse().ok(),
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => None,
        };
        let (low, high) = (range.start(), range.end());
        let fits = number.filter(|number| range.contains(number));
        fits.map(Some).ok_or_else(|| {
            let what = format!("`{key}` must be a number from {low} to {high}");
            self.wrong_at(value, what)
        })
    }

    /// A whole number of 63 bits.
    pub(super) fn whole(&self, key: &str) -> Result<Option<u64>, ScriptError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Integer(whole) => i64::from_str_radix(whole.as_str(), whole.radix()).ok(),
            _ => None,
        };
        match number.and_then(|number| u64::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => {
                Err(self.wrong_at(value, format!("`{key}` must be a whole number of 0 or more")))
            }
        }
    }

    /// A list; empty where there is none.
    pub(super) fn list(&self, key: &str) -> Result<&'t [Value<'i>], ScriptError> {
        let Some(value) = self.value(key) else { return Ok(&[]) };
        match value.get_ref() {
            DeValue::Array(items) => Ok(items),
            other => {
                let what = format!("`{key}` is {}: write a list, as `[[{key}]]`", kind(other));
                Err(self.wrong_at(value, what))
            }
        }
    }

    /// A list of words.
    pub(super) fn words(&self, key: &str) -> Result<Vec<String>, ScriptError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            let example = r#"["sh", "-c", "sleep 1"]"#;
            let what = format!("`{key}` must be a list of words, as {example}");
            return Err(self.wrong_at(value, what));
        };
        items.iter().map(|item| self.word(item, key)).collect()
    }
}
