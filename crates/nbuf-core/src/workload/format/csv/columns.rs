//! Which column of a table is what.

use super::super::fields::Fields;
use super::super::parameters::{ParameterError, Parameters};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Key,
    Offset,
    Size,
    Time,
    Op,
    Object,
    Task,
    Lifetime,
    Cost,
    /// Something that is not used.
    Other,
}

/// Parameters that name columns, and names that columns have when none does.
const NAMES: [(&str, Column, &[&str]); 9] = [
    ("key", Column::Key, &["key", "object", "obj", "obj_id", "object_id", "id", "lbn", "block"]),
    ("offset", Column::Offset, &["offset", "offset_bytes"]),
    ("size", Column::Size, &["size", "obj_size", "object_size", "length", "length_bytes", "bytes"]),
    ("time", Column::Time, &["time", "timestamp", "clock_time", "ts"]),
    ("op", Column::Op, &["op", "operation", "type", "rw", "opcode"]),
    ("object", Column::Object, &["file", "filename", "device", "volume"]),
    ("task", Column::Task, &["pid", "tid", "task"]),
    ("ttl", Column::Lifetime, &["ttl"]),
    // What a column costs only its reader can say.
    ("cost", Column::Cost, &[]),
];

/// Parameters that may stand next to columns with usual names.
const EXTRA: [&str; 2] = ["ttl", "cost"];

/// How a line is read.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Up to the last that is used.
    pub(super) columns: Vec<Column>,
    pub(super) separator: u8,
    pub(super) is_keys: bool,
    pub(super) is_sectors: bool,
    pub(super) time_unit_ns: u64,
    /// The line that names the columns; empty when they were numbered.
    pub(super) header: Vec<u8>,
}

impl Layout {
    pub(super) fn new(parameters: &Parameters, first: &[u8]) -> Result<Self, ParameterError> {
        let known: Vec<&str> = NAMES.iter().map(|(parameter, ..)| *parameter).collect();
        let units = ["separator", "time-unit", "offset-unit"];
        parameters.only(&[&known[..], &units].concat())?;
        let separators =
            [("comma", b','), ("tab", b'\t'), ("semicolon", b';'), ("blank", b' '), ("bar", b'|')];
        let separator = match parameters.get("separator") {
            None => guessed_separator(first),
            Some(_) => chosen(parameters, "separator", &separators, b',')?,
        };
        let names = names(first, separator);
        // What is said of a column next to the usual ones leaves these as they are.
        let is_place = |name: &str| known.contains(&name) && !EXTRA.contains(&name);
        let has_columns = parameters.pairs.iter().any(|(name, _)| is_place(name));
        let (mut places, mut is_named) = named_columns(parameters, &names)?;
        if !has_columns {
            let taken: Vec<_> = places.iter().map(|&(column, at)| (column, at)).collect();
            let is_free = |&(column, at): &(Column, usize)| {
                taken.iter().all(|&(other, place)| other != column && place != at)
            };
            places.extend(usual(&names).into_iter().filter(is_free));
            is_named = true;
        }
        let of = |column| places.iter().any(|(found, _)| *found == column);
        let is_keys = of(Column::Key);
        if is_keys == of(Column::Offset) {
            let what =
                format!("either key=COLUMN or offset=COLUMN; there are {}", names.join(", "));
            return Err(ParameterError::Missing { format: "csv".to_owned(), what });
        }
        let count = places.iter().map(|(_, at)| at + 1).max().unwrap_or(0);
        let mut columns = vec![Column::Other; count];
        for (column, at) in &places {
            columns[*at] = *column;
        }
        let times = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)];
        let offsets = [("bytes", false), ("sectors", true)];
        let is_sectors = chosen(parameters, "offset-unit", &offsets, false)?;
        Ok(Self {
            columns,
            separator,
            is_keys,
            is_sectors: is_sectors && !is_keys,
            time_unit_ns: chosen(parameters, "time-unit", &times, 1_000_000_000)?,
            header: if is_named { first.to_owned() } else { Vec::new() },
        })
    }
}

/// The one of some words that a parameter is.
fn chosen<T: Copy>(
    parameters: &Parameters,
    name: &str,
    words: &[(&str, T)],
    otherwise: T,
) -> Result<T, ParameterError> {
    let Some(value) = parameters.get(name) else {
        return Ok(otherwise);
    };
    let found = words.iter().find(|(word, _)| *word == value);
    found.map(|(_, chosen)| *chosen).ok_or_else(|| {
        let takes: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let (name, value) = (name.to_owned(), value.to_owned());
        ParameterError::Value { name, value, takes: takes.join(", ") }
    })
}

/// The first of the usual separators that the line has.
fn guessed_separator(first: &[u8]) -> u8 {
    let found = [b',', b'\t', b';', b'|'].into_iter().find(|byte| first.contains(byte));
    found.unwrap_or(if first.contains(&b' ') { b' ' } else { b',' })
}

/// The names of the columns, if the first line has names.
fn names(first: &[u8], separator: u8) -> Vec<String> {
    let first = first.strip_prefix(b"#").unwrap_or(first);
    let mut fields = Fields::new(first.trim_ascii(), separator);
    let mut names = Vec::new();
    while let Ok(name) = fields.text("") {
        names.push(String::from_utf8_lossy(name).trim_matches('"').to_owned());
    }
    names
}

/// The columns that the parameters name or number, and whether any is named.
fn named_columns(
    parameters: &Parameters,
    names: &[String],
) -> Result<(Vec<(Column, usize)>, bool), ParameterError> {
    let (mut places, mut is_named) = (Vec::<(Column, usize)>::new(), false);
    for (parameter, column, _) in NAMES {
        let Some(wanted) = parameters.get(parameter) else {
            continue;
        };
        let at = match wanted.parse::<usize>() {
            Ok(number) => (1..=names.len()).contains(&number).then(|| number - 1),
            Err(_) => names.iter().position(|name| name == wanted),
        };
        is_named |= wanted.parse::<usize>().is_err();
        let at = at.ok_or_else(|| {
            let (column, found) = (wanted.to_owned(), names.to_vec());
            ParameterError::NoColumn { column, found }
        })?;
        if places.iter().any(|(_, taken)| *taken == at) {
            let takes = "a column that no other parameter names".to_owned();
            let (name, value) = (parameter.to_owned(), wanted.to_owned());
            return Err(ParameterError::Value { name, value, takes });
        }
        places.push((column, at));
    }
    Ok((places, is_named))
}

/// The columns with usual names.
fn usual(names: &[String]) -> Vec<(Column, usize)> {
    let mut places = Vec::new();
    for (_, column, usual) in NAMES {
        let is_usual = |name: &String| usual.contains(&name.to_ascii_lowercase().as_str());
        if let Some(at) = names.iter().position(is_usual) {
            // Bytes of objects say more than keys of them.
            if column == Column::Offset {
                places.retain(|(found, _)| *found != Column::Key);
            }
            places.push((column, at));
        }
    }
    places
}
