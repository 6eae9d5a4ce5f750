//! Drives as `DiskSim` 4.0 describes them: `.model` and `.seek`, `.diskspecs`, `.parv`.
//!
//! A `.model` is the mechanism alone. A `.diskspecs` adds the controller and the buffer; a `.parv` the bus on which
//! its topology has the drive. What else a `.parv` describes (hosts, controllers of their own, workloads) is no
//! part of a drive and left out. Figures and names are those of `DiskSim`'s manual (CMU-PDL-08-101, 2008).

mod controller;
mod mechanism;
mod syntax;
mod system;
mod table;

use self::syntax::{Block, Statement, Value};
use self::system::Bus;
use self::table::Table;
use super::{DescriptionError, Document};

/// Files name each other so deep at most, and so many.
const FILES_MAX: usize = 64;

/// Whether a text is one of these, and not TOML: by its first word.
pub fn is_one(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    let first = lines.flat_map(str::split_whitespace).next().unwrap_or("");
    first.starts_with("disksim_") || ["dm_disk", "source"].contains(&first)
}

/// The files that others name.
struct Files<'a> {
    read: &'a mut dyn FnMut(&str) -> Result<String, String>,
    count: usize,
}

impl Files<'_> {
    fn read(&mut self, file: &str, line: usize, name: &str) -> Result<String, DescriptionError> {
        self.count += 1;
        if self.count > FILES_MAX {
            let what = format!("files name more than {FILES_MAX} others");
            return Err(DescriptionError::at(file, line, what));
        }
        (self.read)(name).map_err(|what| DescriptionError::at(file, line, what))
    }
}

/// What a file describes; `read` gives the text of one that it names.
pub fn parse(
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Document, DescriptionError> {
    let mut files = Files { read, count: 0 };
    let mut all = Vec::new();
    gather("", text, &mut files, &mut all)?;
    let found = |wanted: &'static str| {
        all.iter().filter_map(move |(file, line, statement)| match statement {
            Statement::Block(block) if block.kind == wanted => Some((file, *line, block)),
            _ => None,
        })
    };
    let bus = Bus::of(&all)?;
    let drives: Vec<_> = found("disksim_disk").filter(|(.., block)| bus.has(&block.name)).collect();
    match drives.as_slice() {
        [(file, line, block)] => {
            controller::document(&Table::of(file, *line, block), &bus, &mut files)
        }
        [] => {
            let Some((file, line, block)) = found("dm_disk").next() else {
                let what = "neither a `dm_disk` nor a `disksim_disk` is in it: name a .model, .diskspecs or .parv";
                return Err(DescriptionError::whole(what));
            };
            mechanism::document(&Table::of(file, line, block), &mut files)
        }
        [_, (file, line, _), ..] => {
            let what = "a second drive: describe one in each file";
            Err(DescriptionError::at(file, *line, what))
        }
    }
}

/// A statement, its file and its line.
type Placed = (String, usize, Statement);

/// The statements of a file, and of those that it names.
fn gather(
    file: &str,
    text: &str,
    files: &mut Files<'_>,
    all: &mut Vec<Placed>,
) -> Result<(), DescriptionError> {
    for (line, statement) in statements(file, text)? {
        if let Statement::Source(name) = &statement {
            let text = files.read(file, line, name)?;
            gather(name, &text, files, all)?;
        } else {
            all.push((file.to_owned(), line, statement));
        }
    }
    Ok(())
}

fn statements(file: &str, text: &str) -> Result<Vec<(usize, Statement)>, DescriptionError> {
    syntax::parse(text).map_err(|error| DescriptionError { file: file.to_owned(), ..error })
}

/// A block that is there, or in a file that is named: with that file, and its line.
fn sourced(
    table: &Table<'_>,
    key: &str,
    files: &mut Files<'_>,
) -> Result<(String, (usize, Block)), DescriptionError> {
    let item = table.must(key)?;
    let name = match &item.value {
        Value::Block(block) => return Ok((table.file.to_owned(), (item.line, block.clone()))),
        Value::Words(words) => words.strip_prefix("source ").unwrap_or(""),
        Value::List(_) => "",
    };
    if name.is_empty() {
        return table.wrong(item.line, format!("`{key}` is neither a block nor `source FILE`"));
    }
    let text = files.read(table.file, item.line, name)?;
    let blocks =
        statements(name, &text)?.into_iter().find_map(|(line, statement)| match statement {
            Statement::Block(block) => Some((line, block)),
            _ => None,
        });
    match blocks {
        Some(found) => Ok((name.to_owned(), found)),
        None => table.wrong(item.line, format!("{name} has no block for `{key}`")),
    }
}
