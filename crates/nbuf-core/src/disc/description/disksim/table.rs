//! A block of parameters. An unknown parameter is an error with its name and line.

use std::cell::RefCell;

use super::super::DescriptionError;
use super::syntax::{Block, Item, Value};

/// A block, and the parameters that were not read yet.
pub(super) struct Table<'a> {
    pub file: &'a str,
    block: &'a Block,
    /// The line on which the block starts.
    line: usize,
    known: RefCell<Vec<bool>>,
}

impl<'a> Table<'a> {
    pub(super) fn of(file: &'a str, line: usize, block: &'a Block) -> Self {
        Self { file, block, line, known: RefCell::new(vec![false; block.entries.len()]) }
    }

    /// Refuses a block of another kind.
    pub(super) fn must_be(&self, kind: &str) -> Result<(), DescriptionError> {
        if self.block.kind == kind {
            return Ok(());
        }
        self.wrong(self.line, format!("`{}` is not modelled here: `{kind}` is", self.block.kind))
    }

    pub(super) fn name(&self) -> &'a str {
        &self.block.name
    }

    pub(super) fn wrong<T>(
        &self,
        line: usize,
        what: impl Into<String>,
    ) -> Result<T, DescriptionError> {
        Err(DescriptionError::at(self.file, line, what))
    }

    /// The last value of a parameter.
    pub(super) fn get(&self, key: &str) -> Option<&'a Item> {
        let mut found = None;
        for (at, (name, item)) in self.block.entries.iter().enumerate() {
            if name == key {
                self.known.borrow_mut()[at] = true;
                found = Some(item);
            }
        }
        found
    }

    /// Marks parameters without effect on a lone request as known.
    pub(super) fn pass(&self, keys: &[&str]) {
        for key in keys {
            let _ = self.get(key);
        }
    }

    pub(super) fn must(&self, key: &str) -> Result<&'a Item, DescriptionError> {
        match self.get(key) {
            Some(item) => Ok(item),
            None => self.wrong(self.line, format!("`{}` lacks `{key}`", self.block.kind)),
        }
    }

    /// A number; `None` if the parameter is missing.
    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, DescriptionError> {
        self.get(key).map(|item| self.number_of(key, item)).transpose()
    }

    pub(super) fn number_of(&self, key: &str, item: &Item) -> Result<f64, DescriptionError> {
        let number = match &item.value {
            Value::Words(words) => words.parse().ok().filter(|number: &f64| number.is_finite()),
            Value::List(_) | Value::Block(_) => None,
        };
        match number {
            Some(number) => Ok(number),
            None => self.wrong(item.line, format!("`{key}` is no number")),
        }
    }

    /// A number that defaults to zero.
    pub(super) fn ms(&self, key: &str) -> Result<f64, DescriptionError> {
        Ok(self.number(key)?.unwrap_or(0.0))
    }

    /// A whole number from 0 on.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was looked at"
    )]
    pub(super) fn count_of(&self, key: &str, item: &Item) -> Result<u64, DescriptionError> {
        let number = self.number_of(key, item)?;
        if number.fract() != 0.0 || !(0.0..=1e15).contains(&number) {
            return self.wrong(item.line, format!("`{key}` is {number}: write a whole number"));
        }
        Ok(number as u64)
    }

    pub(super) fn count(&self, key: &str) -> Result<u64, DescriptionError> {
        self.count_of(key, self.must(key)?)
    }

    pub(super) fn count_or(&self, key: &str, otherwise: u64) -> Result<u64, DescriptionError> {
        self.get(key).map_or(Ok(otherwise), |item| self.count_of(key, item))
    }

    pub(super) fn small(&self, key: &str) -> Result<u32, DescriptionError> {
        let item = self.must(key)?;
        let count = self.count_of(key, item)?;
        u32::try_from(count).or_else(|_| self.wrong(item.line, format!("`{key}` is too large")))
    }

    /// 0 or 1.
    pub(super) fn is(&self, key: &str) -> Result<bool, DescriptionError> {
        let Some(item) = self.get(key) else { return Ok(false) };
        match self.count_of(key, item)? {
            0 => Ok(false),
            1 => Ok(true),
            other => self.wrong(item.line, format!("`{key}` is {other}: write 0 or 1")),
        }
    }

    pub(super) fn words(&self, key: &str) -> Result<Option<(usize, &'a str)>, DescriptionError> {
        match self.get(key) {
            None => Ok(None),
            Some(Item { line, value: Value::Words(words) }) => Ok(Some((*line, words))),
            Some(item) => self.wrong(item.line, format!("`{key}` is a word, and here it is none")),
        }
    }

    pub(super) fn list(&self, key: &str) -> Result<&'a [Item], DescriptionError> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Item { value: Value::List(items), .. }) => Ok(items),
            Some(item) => self.wrong(item.line, format!("`{key}` is a list, and here it is none")),
        }
    }

    /// Returns an error for a parameter that was not read.
    pub(super) fn finish(&self) -> Result<(), DescriptionError> {
        let known = self.known.borrow();
        let unknown = self.block.entries.iter().zip(known.iter()).find(|(_, known)| !**known);
        match unknown {
            None => Ok(()),
            Some(((key, item), _)) => self.wrong(
                item.line,
                format!("`{}` has no parameter `{key}` that is known here", self.block.kind),
            ),
        }
    }
}
