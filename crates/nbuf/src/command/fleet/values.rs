//! How the values of the arguments of `nbuf fleet` are written.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use nbuf::experiment::fleet::{RUNNERS, Runner};
use nbuf::experiment::result::FleetBy;
use nbuf::units::{Bytes, CacheSize, Nanos, Size, SizeList};

/// The names of runners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runners;

impl TypedValueParser for Runners {
    type Value = Runner;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Runner, clap::Error> {
        let names = PossibleValuesParser::new(RUNNERS.map(|runner| runner.name));
        let name = names.parse_ref(command, argument, value)?;
        Ok(RUNNERS.into_iter().find(|runner| runner.name == name).unwrap_or(RUNNERS[0]))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |runner: &Runner| PossibleValue::new(runner.name).help(runner.summary);
        Some(Box::new(RUNNERS.iter().map(value)))
    }
}

/// What a volume is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    /// Each input
    File,
    /// Each directory, whose inputs follow each other in time
    Directory,
    /// Each volume that the inputs name; inputs follow each other in time
    Volume,
    /// Each host, by folders such as host=web-1; its inputs are merged by time
    Host,
}

impl From<By> for FleetBy {
    fn from(by: By) -> Self {
        match by {
            By::File => Self::File,
            By::Directory => Self::Directory,
            By::Volume => Self::Volume,
            By::Host => Self::Host,
        }
    }
}

/// What has a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Partitions {
    /// Each input
    File,
    /// Each directory, whose inputs follow each other in time
    Directory,
}

impl From<Partitions> for FleetBy {
    fn from(by: Partitions) -> Self {
        match by {
            Partitions::File => Self::File,
            Partitions::Directory => Self::Directory,
        }
    }
}

/// A page: a power of two from a byte to a gibibyte.
pub(super) fn page(text: &str) -> Result<u64, String> {
    let page = bytes(text).ok().filter(|page| page.0.is_power_of_two() && page.0 <= 1 << 30);
    page.map(|page| page.0).ok_or_else(|| "write a power of two up to 1GiB, such as 4KiB".into())
}

pub(super) fn bytes(text: &str) -> Result<Bytes, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(bytes)) if bytes.0 > 0 => Ok(bytes),
        _ => Err("write an amount such as 64GiB".into()),
    }
}

pub(super) fn cache_size(text: &str) -> Result<CacheSize, String> {
    let is_one = text.parse::<SizeList>().is_ok() && !text.contains("..");
    let size = text.parse().ok().filter(|_| is_one);
    size.ok_or_else(|| "write 1000p (pages), 64MiB, or a share such as 10%".into())
}

pub(super) fn time(text: &str) -> Result<Nanos, String> {
    let time = text.parse::<Nanos>().ok().filter(|time| *time > Nanos::ZERO);
    time.ok_or_else(|| "write a time such as 24h, 30m or 1.5s".into())
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|percent| percent.parse::<f64>().ok());
    let share = percent.map(|percent| percent / 100.0).or_else(|| text.parse().ok());
    let share = share.filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "write a share below 1, such as 90% or 0.9".into())
}

pub(super) fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "write a number that is not negative, such as 0.4".into())
}

pub(super) fn rows(text: &str) -> Result<(usize, usize), String> {
    let ends = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    ends.ok_or_else(|| "write 1..20 for the first twenty rows".into())
}
