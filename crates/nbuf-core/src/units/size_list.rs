//! Lists of cache sizes: `10000p,64MiB,10%,1000..500000,64MiB..1GiB:64MiB`.
//!
//! A bare number is pages here, as usual for comparisons of caches. A range includes both ends.
//! With a step it goes up by that step; without one it is sixteen sizes in equal ratios.

use std::fmt;
use std::str::FromStr;

use super::{Size, as_text, whole};

/// The number of sizes in a range without a step.
const EVEN: u32 = 16;
/// The most sizes in a list; a longer list is taken for a mistake.
const SIZES_MAX: usize = 100_000;

/// The size of a cache for some trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CacheSize {
    /// A number of pages of the curve, of whatever page size.
    Pages(u64),
    /// A number of bytes.
    Bytes(u64),
    /// A share of the distinct pages of the trace.
    Percent(f64),
}

/// The sizes as the user wrote them; [`SizeList::pages`] resolves them.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeList(Vec<Item>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    One(CacheSize),
    Range { from: CacheSize, to: CacheSize, step: Option<CacheSize> },
}

/// Rejects a text that is no list of sizes, or a list that does not fit the trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeListError {
    /// The text is not in the grammar.
    #[error(
        "`{0}` is not a size: write 10000 (pages), 10000p, 64MiB, 10%, or a range such as \
         1000..500000 or 64MiB..1GiB:64MiB"
    )]
    Grammar(String),
    /// The range contains no size.
    #[error("the range `{0}` has no sizes: its end is below its beginning, or its step is 0")]
    Empty(String),
    /// The list exceeds the maximum number of sizes.
    #[error("more than {SIZES_MAX} sizes: write a larger step")]
    TooMany,
    /// The list has bytes, but the keys of the trace have none.
    #[error("keys and whole requests have no bytes here: write a number of them, or 10%")]
    NoBytes,
    /// The list has a number without a unit, but the caches are in bytes.
    #[error("caches of objects are in bytes, and `{0}` has no unit: write {0}B, 64MiB or 10%")]
    NoUnit(u64),
    /// The list has shares, but the trace can be read only once.
    #[error(
        "a share such as 10% needs the length of the trace, and a pipe is read once: write pages \
         or bytes, or give a file"
    )]
    Once,
    /// The list has shares, but the distinct pages of the trace were not counted.
    #[error("a share such as 10% is not known here: write units or bytes")]
    Share,
    /// The cache holds no page.
    #[error("a cache of less than one page hits nothing: write 1 or more")]
    Zero,
}

impl FromStr for CacheSize {
    type Err = SizeListError;

    fn from_str(text: &str) -> Result<Self, SizeListError> {
        let wrong = || SizeListError::Grammar(text.trim().to_owned());
        let trimmed = text.trim();
        let digits = trimmed.strip_suffix(['p', 'P']).unwrap_or(trimmed);
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return digits.parse().map(Self::Pages).map_err(|_| wrong());
        }
        match trimmed.parse().map_err(|_| wrong())? {
            Size::Absolute(bytes) => Ok(Self::Bytes(bytes.0)),
            Size::Percent(share) => Ok(Self::Percent(share)),
        }
    }
}

impl CacheSize {
    /// Converts to whole pages of `page_bytes` bytes, rounded down, for a trace with this many
    /// distinct pages.
    pub fn pages(self, page_bytes: u64, distinct_pages: u64) -> u64 {
        match self {
            Self::Pages(pages) => pages,
            Self::Bytes(bytes) => bytes / page_bytes.max(1),
            Self::Percent(share) => whole(distinct_pages as f64 * share / 100.0),
        }
    }

    fn is_relative(self) -> bool {
        matches!(self, Self::Percent(_))
    }
}

impl FromStr for SizeList {
    type Err = SizeListError;

    fn from_str(text: &str) -> Result<Self, SizeListError> {
        let items: Vec<Item> = text.split(',').map(item).collect::<Result<_, _>>()?;
        if items.iter().any(|&item| has_nothing(item)) {
            return Err(SizeListError::Zero);
        }
        Ok(Self(items))
    }
}

impl fmt::Display for CacheSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pages(pages) => write!(f, "{pages}p"),
            Self::Bytes(bytes) => write!(f, "{bytes}B"),
            Self::Percent(share) => write!(f, "{share}%"),
        }
    }
}

impl fmt::Display for SizeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            match item {
                Item::One(size) => size.fmt(f)?,
                Item::Range { from, to, step: None } => write!(f, "{from}..{to}")?,
                Item::Range { from, to, step: Some(step) } => write!(f, "{from}..{to}:{step}")?,
            }
        }
        Ok(())
    }
}

as_text!(SizeList);
as_text!(CacheSize);

fn item(text: &str) -> Result<Item, SizeListError> {
    let Some((from, rest)) = text.split_once("..") else {
        return Ok(Item::One(text.parse()?));
    };
    let (to, step) = match rest.split_once(':') {
        Some((to, step)) => (to, Some(step.parse()?)),
        None => (rest, None),
    };
    let (from, to) = (from.parse()?, to.parse()?);
    if let (CacheSize::Percent(from), CacheSize::Percent(to)) = (from, to)
        && to < from
    {
        return Err(SizeListError::Empty(text.trim().to_owned()));
    }
    let item = Item::Range { from, to, step };
    // Sizes that do not depend on the trace can be refused before it is read.
    if !sizes_of(item).any(CacheSize::is_relative) {
        let is_bytes = sizes_of(item).all(|size| matches!(size, CacheSize::Bytes(_)));
        let unit_bytes = if is_bytes { 1 } else { 4096 };
        expand(item, unit_bytes, 0, &mut Vec::new()).map_err(|error| match error {
            SizeListError::Empty(_) => SizeListError::Empty(text.trim().to_owned()),
            other => other,
        })?;
    }
    Ok(item)
}

/// Whether 0 is among the sizes for every trace. A range without a step begins with one page.
fn has_nothing(item: Item) -> bool {
    let (Item::One(first) | Item::Range { from: first, step: Some(_), .. }) = item else {
        return false;
    };
    match first {
        CacheSize::Pages(number) | CacheSize::Bytes(number) => number == 0,
        CacheSize::Percent(share) => share <= 0.0,
    }
}

/// The sizes that the user wrote in this item.
fn sizes_of(item: Item) -> impl Iterator<Item = CacheSize> {
    let sizes = match item {
        Item::One(size) => [Some(size), None, None],
        Item::Range { from, to, step } => [Some(from), Some(to), step],
    };
    sizes.into_iter().flatten()
}

impl SizeList {
    /// Parses a list in which 0 means no cache: `0`, `0..768:32`.
    pub fn with_none(text: &str) -> Result<Self, SizeListError> {
        text.split(',').map(item).collect::<Result<_, _>>().map(Self)
    }

    /// Like [`SizeList::pages`], but 0 means no cache. A range from 0 contains it, with a step or
    /// without. Shares of a trace are an error.
    pub fn pages_or_none(&self, page_bytes: u64) -> Result<Vec<u64>, SizeListError> {
        if self.is_relative() {
            return Err(SizeListError::Share);
        }
        let mut sizes = Vec::new();
        for &item in &self.0 {
            expand(item, page_bytes, 0, &mut sizes)?;
            let first = sizes_of(item).next().map(|size| size.pages(page_bytes, 0));
            sizes.extend(first.filter(|&first| first == 0));
        }
        sizes.sort_unstable();
        sizes.dedup();
        Ok(sizes)
    }

    /// Whether some size is a share of the trace, whose distinct pages must then be counted first.
    pub fn is_relative(&self) -> bool {
        self.0.iter().any(|&item| sizes_of(item).any(CacheSize::is_relative))
    }

    /// Whether some size is in bytes.
    pub fn has_bytes(&self) -> bool {
        let is_bytes = |size| matches!(size, CacheSize::Bytes(_));
        self.0.iter().any(|&item| sizes_of(item).any(is_bytes))
    }

    /// The sizes in bytes, ascending and distinct, for a trace of objects of this many bytes. A number of
    /// pages is an error, because objects have no common size.
    pub fn bytes(&self, distinct_bytes: u64) -> Result<Vec<u64>, SizeListError> {
        let pages = |size| match size {
            CacheSize::Pages(pages) => Some(pages),
            CacheSize::Bytes(_) | CacheSize::Percent(_) => None,
        };
        match self.0.iter().flat_map(|&item| sizes_of(item)).find_map(pages) {
            Some(pages) => Err(SizeListError::NoUnit(pages)),
            None => self.pages(1, distinct_bytes),
        }
    }

    /// The sizes in pages, ascending and distinct. `page_bytes` is 0 if pages have no bytes.
    pub fn pages(&self, page_bytes: u64, distinct_pages: u64) -> Result<Vec<u64>, SizeListError> {
        let mut sizes = Vec::new();
        for &item in &self.0 {
            if page_bytes == 0 && sizes_of(item).any(|size| matches!(size, CacheSize::Bytes(_))) {
                return Err(SizeListError::NoBytes);
            }
            expand(item, page_bytes, distinct_pages, &mut sizes)?;
        }
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.first() == Some(&0) { Err(SizeListError::Zero) } else { Ok(sizes) }
    }
}

fn expand(
    item: Item,
    page_bytes: u64,
    distinct: u64,
    sizes: &mut Vec<u64>,
) -> Result<(), SizeListError> {
    let pages = |size: CacheSize| size.pages(page_bytes, distinct);
    let (from, to, step) = match item {
        Item::One(size) => (pages(size), pages(size), Some(1)),
        Item::Range { from, to, step } => (pages(from), pages(to), step.map(pages)),
    };
    if to < from || step == Some(0) {
        return Err(SizeListError::Empty(format!("{from}..{to}")));
    }
    let Some(step) = step else {
        sizes.extend(even(from.max(1), to.max(1), EVEN));
        return Ok(());
    };
    if (to - from) / step >= SIZES_MAX as u64 || sizes.len() > SIZES_MAX {
        return Err(SizeListError::TooMany);
    }
    let mut next = Some(from);
    while let Some(size) = next.filter(|&size| size <= to) {
        sizes.push(size);
        next = size.checked_add(step);
    }
    Ok(())
}

/// This many sizes in equal ratios, including both ends.
pub fn even(from: u64, to: u64, count: u32) -> impl Iterator<Item = u64> {
    let ratio = to as f64 / from.max(1) as f64;
    let steps = f64::from(count.max(2) - 1);
    (0..count.max(2)).map(move |at| whole(from as f64 * ratio.powf(f64::from(at) / steps)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(text: &str) -> Result<Vec<u64>, String> {
        let list: SizeList = text.parse().map_err(|error: SizeListError| error.to_string())?;
        list.pages(8192, 1000).map_err(|error| error.to_string())
    }

    #[test]
    fn sizes_are_pages_bytes_or_shares() {
        let cases: [(&str, &[u64]); 8] = [
            ("10000", &[10000]),
            ("10000p", &[10000]),
            ("64KiB", &[8]),
            ("9KiB", &[1]),
            ("10%", &[100]),
            ("3,1,2,3", &[1, 2, 3]),
            ("10..30:10, 5", &[5, 10, 20, 30]),
            ("16KiB..1MiB:500KiB", &[2, 64, 126]),
        ];
        for (text, want) in cases {
            assert_eq!(pages(text).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn a_range_without_a_step_is_sixteen_sizes_in_equal_ratios() {
        let sizes = pages("1000..500000").unwrap();
        assert_eq!((sizes.len(), sizes[0], sizes[15]), (16, 1000, 500_000));
        for pair in sizes.windows(2) {
            let ratio = pair[1] as f64 / pair[0] as f64;
            assert!((ratio - 500f64.powf(1.0 / 15.0)).abs() < 0.01, "{pair:?}");
        }
        assert_eq!(pages("1..2"), Ok(vec![1, 2]));
        assert!("10%..90%".parse::<SizeList>().unwrap().is_relative());
    }

    #[test]
    fn no_cache_is_a_size_where_it_may_be() {
        let check = |text: &str, want: Option<&[u64]>| {
            let list = SizeList::with_none(text);
            let got = list.and_then(|list| list.pages_or_none(256));
            assert_eq!(got.as_deref().ok(), want, "{text}");
        };
        check("0", Some(&[0]));
        check("0..768:256", Some(&[0, 256, 512, 768]));
        check("0..64KiB:32KiB,7", Some(&[0, 7, 128, 256]));
        check("0..2", Some(&[0, 1, 2]));
        check("512", Some(&[512]));
        check("10%", None);
        check("5..1", None);
        check("-1", None);
    }

    #[test]
    fn keys_have_no_bytes() {
        let list = |text: &str| text.parse::<SizeList>().unwrap().pages(0, 50);
        assert_eq!(list("10,10%"), Ok(vec![5, 10]));
        assert_eq!(list("1..5,64MiB"), Err(SizeListError::NoBytes));
    }

    #[test]
    fn caches_of_objects_are_in_bytes() {
        let check = |text: &str, want: Result<&[u64], SizeListError>| {
            let list = text.parse::<SizeList>().unwrap();
            assert_eq!(list.bytes(1000).as_deref(), want.as_deref(), "{text}");
        };
        check("1KiB,7B,10%", Ok(&[7, 100, 1024]));
        check("1KiB..2KiB:512B", Ok(&[1024, 1536, 2048]));
        check("1KiB,70", Err(SizeListError::NoUnit(70)));
        check("10..90,5%", Err(SizeListError::NoUnit(10)));
        check("0.01%", Err(SizeListError::Zero));
        let has_bytes = |text: &str| text.parse::<SizeList>().unwrap().has_bytes();
        assert!(has_bytes("10,1B..2KiB") && !has_bytes("10p,10%,1..9:2"));
    }

    #[test]
    fn what_makes_no_sense_is_refused_before_a_trace_is_read() {
        for (text, want) in [
            ("", "`` is not a size"),
            ("ten", "`ten` is not a size"),
            ("1..", "`` is not a size"),
            ("-3", "`-3` is not a size"),
            ("5..1", "the range `5..1` has no sizes"),
            ("1..5:0", "the range `1..5:0` has no sizes"),
            ("1..99999999:1", "more than 100000 sizes"),
            ("0", "a cache of less than one page"),
            ("0%", "a cache of less than one page"),
            ("0..4:1", "a cache of less than one page"),
            ("5%..1%", "the range `5%..1%` has no sizes"),
            ("4KiB", "a cache of less than one page"),
            ("99999999999999999999", "is not a size"),
        ] {
            let error = pages(text).unwrap_err();
            assert!(error.contains(want), "{text}: {error}");
        }
    }
}
