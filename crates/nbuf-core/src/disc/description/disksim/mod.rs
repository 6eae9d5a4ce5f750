//! Drives in the formats of `DiskSim` 4.0: `.model` and `.seek`, `.diskspecs`, `.parv`.
//!
//! A `.model` is the mechanism alone. A `.diskspecs` adds the controller and the buffer. A `.parv`
//! adds the bus on which its topology has the drive. The other parts of a `.parv` (hosts, separate
//! controllers, workloads) do not belong to a drive and are ignored. Figures and names are those of
//! `DiskSim`'s manual (CMU-PDL-08-101, 2008).

mod controller;
mod mechanism;
mod syntax;
mod system;
mod table;

use self::syntax::{Block, Statement, Value};
use self::system::Bus;
use self::table::Table;
use super::{DescriptionError, Document};

/// The most files that may be read for one drive.
const FILES_MAX: usize = 64;

/// Whether the first word of a text shows this format, and not TOML.
pub(crate) fn is_one(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    let first = lines.flat_map(str::split_whitespace).next().unwrap_or("");
    first.starts_with("disksim_") || ["dm_disk", "source"].contains(&first)
}

/// Whether a text is a `.seek`: times that a `.model` names.
pub(crate) fn is_seek(text: &str) -> bool {
    text.trim_start().starts_with("Seek distances measured")
}

/// Reads the files that other files name, and counts them.
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

/// Parses a file; `read` returns the text of a file that it names.
pub(crate) fn parse(
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

/// Collects the statements of a file, and of the files that it names.
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

/// Finds a block in place, or in the file that the value names. Returns it with its file and line.
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
