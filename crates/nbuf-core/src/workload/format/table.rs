//! What a row of the table of formats says, and how the format of an input is found.

use super::batch::Batch;
use super::parameters::{ParameterError, Parameters};
use crate::trace::request::Unit;

/// Takes requests from bytes. Pure: the same bytes give the same requests, however they are cut.
pub trait Parser: Send {
    /// Takes whole records from the front of `bytes` until there are none or the batch is full, and
    /// says how many bytes they were. `end`: nothing follows these bytes; then all is taken, unless
    /// the batch is full.
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize;

    /// The format, if what it learned of one input holds in the next: it then reads that too, in place of a new parser.
    fn goes_on(&self) -> Option<&'static str> {
        None
    }
}

/// The beginning of an input.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The first bytes, unpacked.
    pub bytes: &'a [u8],
    /// Whether that is all of it.
    pub is_whole: bool,
}

/// How much an input looks like a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// It is something else.
    No,
    /// Nothing speaks against it, and little for it.
    Possible,
    /// It would be a coincidence if it were something else.
    Likely,
    /// It says so itself.
    Certain,
}

/// A parser for an input that begins so, or why there is none.
pub type Make = fn(&Parameters, Head) -> Result<Made, ParameterError>;

/// A parser that was made.
pub struct Made {
    /// It.
    pub parser: Box<dyn Parser>,
    /// What its offsets count.
    pub unit: Unit,
    /// Whether its requests have lengths, or its keys sizes.
    pub has_sizes: bool,
}

impl Made {
    /// A parser whose offsets are bytes.
    pub(super) fn bytes(parser: impl Parser + 'static) -> Self {
        Self { parser: Box::new(parser), unit: Unit::Bytes, has_sizes: true }
    }

    /// A parser whose offsets are keys of objects with sizes.
    pub(super) fn keys(parser: impl Parser + 'static) -> Self {
        Self { parser: Box::new(parser), unit: Unit::Keys, has_sizes: true }
    }

    /// A parser whose offsets are keys without sizes.
    pub(super) fn bare_keys(parser: impl Parser + 'static) -> Self {
        Self { has_sizes: false, ..Self::keys(parser) }
    }
}

/// How an input of a format is read.
#[derive(Clone, Copy, Debug)]
pub enum Reading {
    /// Lines that do not depend on each other: they may be read by several threads.
    Lines(Make),
    /// From the front to the end.
    Stream(Make),
    /// The native trace: its index is at its end.
    Native,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// What its offsets count, unless its parameters say otherwise.
    pub unit: Unit,
    /// Where the layout is described.
    pub source: &'static str,
    /// Ends of file names that speak for it, before those of a compression.
    pub suffixes: &'static [&'static str],
    /// The parameters it takes, as on the command line; empty for none.
    pub parameters: &'static str,
    /// How much an input looks like it.
    pub looks: fn(Head) -> Likeness,
    /// How it is read.
    pub reading: Reading,
    /// Whether several inputs are one trace that is merged by time, not one after the other.
    pub is_merged: bool,
}

impl Format {
    /// What makes its parser; none for the native trace, whose index is at its end.
    pub fn make(&self) -> Option<Make> {
        match self.reading {
            Reading::Lines(make) | Reading::Stream(make) => Some(make),
            Reading::Native => None,
        }
    }
}

/// What an input was taken for.
#[derive(Clone, Debug)]
pub struct Guess {
    /// The likeliest.
    pub format: &'static Format,
    /// How likely it is.
    pub likeness: Likeness,
    /// Others that are as likely.
    pub also: Vec<&'static str>,
}

/// Guesses the format of an input. `name` is the name of its file, without the suffix of a
/// compression.
///
/// The likeliest wins; among equals the one that the name speaks for, then the first of the table.
pub fn guess(formats: &'static [Format], head: Head, name: &str) -> Option<Guess> {
    let name = name.to_ascii_lowercase();
    let is_named = |format: &Format| format.suffixes.iter().any(|end| name.ends_with(end));
    let rank = |format: &Format| ((format.looks)(head), is_named(format));
    let ranks: Vec<_> = formats.iter().map(rank).collect();
    let best = *ranks.iter().max()?;
    let mut alike = formats.iter().zip(&ranks).filter(|(_, rank)| **rank == best);
    let (format, _) = alike.next().filter(|_| best.0 > Likeness::No)?;
    let also = alike.map(|(format, _)| format.name).collect();
    Some(Guess { format, likeness: best.0, also })
}
