//! One column of a row group, a batch at a time, as the numbers or names a record wants.
//!
//! Invariant: a batch holds as many values as were asked for, each within the range of its column;
//! whatever else the file holds is an error that names column and row.

use std::collections::HashMap;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::error::ReadError;
use super::{Column, Holds};
use crate::trace::FileId;

/// Where a column of the trace is in the file, and in what form.
#[derive(Clone, Debug)]
pub(super) struct Place {
    column: Column,
    /// Which of the file's columns.
    pub(super) index: usize,
    /// Whether the file means its integers as unsigned.
    unsigned: bool,
    wide: bool,
}

impl Place {
    /// Looks the column up by name.
    pub(super) fn find(schema: &SchemaDescriptor, column: Column) -> Result<Self, ReadError> {
        let named = |found: &Arc<ColumnDescriptor>| found.path().parts() == [column.name];
        let index = schema.columns().iter().position(named);
        let index = index.ok_or_else(|| ReadError::MissingColumn {
            column: column.name,
            found: schema.columns().iter().map(|found| found.path().string()).collect(),
        })?;
        let found = schema.column(index);
        let physical = found.physical_type();
        let unsigned = match found.logical_type_ref() {
            Some(LogicalType::Integer(integer)) => Some(!integer.is_signed),
            Some(_) => None,
            None => signedness(found.converted_type()),
        };
        let fits = match column.holds {
            Holds::Name => physical == Physical::BYTE_ARRAY,
            _ => matches!(physical, Physical::INT32 | Physical::INT64) && unsigned.is_some(),
        };
        if !fits || found.max_rep_level() > 0 || found.max_def_level() > 1 {
            return Err(ReadError::WrongType {
                column: column.name,
                wanted: column.holds,
                found: match found.logical_type_ref() {
                    Some(logical) => format!("{physical} as {logical:?}"),
                    None => physical.to_string(),
                },
            });
        }
        Ok(Self {
            column,
            index,
            unsigned: unsigned.unwrap_or(false),
            wide: physical == Physical::INT64,
        })
    }
}

/// Whether integers without a logical type are unsigned; `None` when they are something else.
fn signedness(converted: ConvertedType) -> Option<bool> {
    use ConvertedType as C;
    match converted {
        C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64 => Some(true),
        C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64 => Some(false),
        _ => None,
    }
}

/// Values of one physical type, read in batches.
struct Batches<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    levels: Vec<i16>,
}

impl<T: DataType> Batches<T> {
    fn new(schema: &SchemaDescriptor, place: &Place, pages: Box<dyn PageReader>) -> Self {
        Self {
            reader: ColumnReaderImpl::new(schema.column(place.index), pages),
            values: Vec::new(),
            levels: Vec::new(),
        }
    }

    /// Exactly this many values, the first of which is of row `row`.
    fn next(&mut self, name: &'static str, row: u64, count: usize) -> Result<&[T::T], ReadError> {
        self.values.clear();
        self.levels.clear();
        let read = self.reader.read_records(count, Some(&mut self.levels), None, &mut self.values);
        let (rows, values, _) =
            read.map_err(|source| ReadError::Column { column: name, row, source })?;
        if let Some(null) = self.levels.iter().position(|&level| level == 0) {
            return Err(ReadError::Null { column: name, row: row + null as u64 });
        }
        if rows != count || values != count {
            return Err(ReadError::Short { column: name, row: row + rows as u64 });
        }
        Ok(&self.values)
    }
}

/// A column of integers, as numbers within the range of the trace's column.
pub(super) struct Integers {
    place: Place,
    source: Width,
    numbers: Vec<u64>,
}

enum Width {
    Narrow(Batches<Int32Type>),
    Wide(Batches<Int64Type>),
}

impl Integers {
    pub(super) fn new(
        schema: &SchemaDescriptor,
        place: &Place,
        pages: Box<dyn PageReader>,
    ) -> Self {
        let source = if place.wide {
            Width::Wide(Batches::new(schema, place, pages))
        } else {
            Width::Narrow(Batches::new(schema, place, pages))
        };
        Self { place: place.clone(), source, numbers: Vec::new() }
    }

    /// The next `count` numbers; a signed column's as the `u64` of the same bits.
    pub(super) fn next(&mut self, row: u64, count: usize) -> Result<&[u64], ReadError> {
        let Column { name, holds } = self.place.column;
        let unsigned = self.place.unsigned;
        self.numbers.clear();
        match &mut self.source {
            Width::Narrow(batches) if unsigned => {
                let values = batches.next(name, row, count)?.iter();
                self.numbers.extend(values.map(|&value| u64::from(value.cast_unsigned())));
            }
            Width::Narrow(batches) => {
                let values = batches.next(name, row, count)?.iter();
                self.numbers.extend(values.map(|&value| i64::from(value).cast_unsigned()));
            }
            Width::Wide(batches) => {
                let values = batches.next(name, row, count)?.iter();
                self.numbers.extend(values.map(|&value| value.cast_unsigned()));
            }
        }
        // A negative number is one beyond the largest signed, unless the file means it so.
        let signed_max = i64::MAX.cast_unsigned();
        let max = match holds {
            Holds::Signed64 if unsigned => signed_max,
            Holds::Signed64 => u64::MAX,
            Holds::Unsigned(bits) if bits < 64 => (1 << bits) - 1,
            _ if unsigned => u64::MAX,
            _ => signed_max,
        };
        if let Some(place) = self.numbers.iter().position(|&number| number > max) {
            let number = self.numbers[place];
            return Err(ReadError::OutOfRange {
                column: name,
                row: row + place as u64,
                value: if unsigned { i128::from(number) } else { i128::from(number.cast_signed()) },
            });
        }
        Ok(&self.numbers)
    }
}

/// The column of names, as numbers of files.
pub(super) struct Names {
    name: &'static str,
    batches: Batches<ByteArrayType>,
    ids: Vec<FileId>,
}

impl Names {
    pub(super) fn new(
        schema: &SchemaDescriptor,
        place: &Place,
        pages: Box<dyn PageReader>,
    ) -> Self {
        Self {
            name: place.column.name,
            batches: Batches::new(schema, place, pages),
            ids: Vec::new(),
        }
    }

    /// The next `count` files; new ones are added to `files`.
    pub(super) fn next(
        &mut self,
        row: u64,
        count: usize,
        files: &mut Files,
    ) -> Result<&[FileId], ReadError> {
        self.ids.clear();
        let mut last: Option<(&ByteArray, FileId)> = None;
        for name in self.batches.next(self.name, row, count)? {
            let id = match last {
                Some((before, id)) if before.data() == name.data() => id,
                _ => files.id_of(name.data())?,
            };
            last = Some((name, id));
            self.ids.push(id);
        }
        Ok(&self.ids)
    }
}

/// Memory of a name besides its text, in a vector and a table that have just grown.
const NAME_BYTES: u64 = 200;

/// The names met so far, in order of first use.
#[derive(Default)]
pub(super) struct Files {
    pub(super) names: Vec<String>,
    /// Memory in use, at the most: each name is kept twice.
    pub(super) bytes: u64,
    ids: HashMap<Vec<u8>, FileId>,
}

impl Files {
    fn id_of(&mut self, name: &[u8]) -> Result<FileId, ReadError> {
        if let Some(&id) = self.ids.get(name) {
            return Ok(id);
        }
        let next = u32::try_from(self.names.len()).map_err(|_| ReadError::TooManyFiles)?;
        // A name that is no text is shown with escapes, which keeps different names apart.
        let shown = std::str::from_utf8(name).map(str::to_owned);
        self.names.push(shown.unwrap_or_else(|_| name.escape_ascii().to_string()));
        // Escapes make four characters of a byte.
        self.bytes += NAME_BYTES + 5 * name.len() as u64;
        self.ids.insert(name.to_vec(), FileId(next));
        Ok(FileId(next))
    }
}
