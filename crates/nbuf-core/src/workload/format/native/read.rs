//! Reading a native trace, and what others have made of one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;

use super::column::{Files, Integers, Names, Place};
use super::error::ReadError;
use super::{COLUMNS, FACTS_KEY, guard};
use crate::trace::{CacheEvent, Facts, FileId, Record, Records, Trace};
use crate::units::Bound;

/// Records decoded at a time.
const BATCH_RECORDS: usize = 1 << 16;

/// What sorting takes a record: unpacked, and half of them once more.
const SORTED_BYTES: u64 = 3 * size_of::<Record>() as u64 / 2;

/// What the facts take a byte of JSON, as values and as what is made of them.
const FACT_BYTES: u64 = 32;

/// Reads a trace from a Parquet file: `bytes::Bytes`, an open `std::fs::File`, or the like.
pub fn read<R: ChunkReader + 'static>(source: R) -> Result<Trace, ReadError> {
    read_within(source, Bound::NONE)
}

/// Reads a trace as `read` does, with a bound on the memory besides a row group in columns.
pub fn read_within<R: ChunkReader + 'static>(source: R, bound: Bound) -> Result<Trace, ReadError> {
    read_with(source, bound, &|_, _| ())
}

/// The same; `progress` gets the records that were read, and all.
pub(crate) fn read_with<R: ChunkReader + 'static>(
    source: R,
    bound: Bound,
    progress: &dyn Fn(u64, u64),
) -> Result<Trace, ReadError> {
    // `guard` refuses what is known to be taken on trust; what is not known must not end the process.
    let read = || read_trace(&Arc::new(source), bound, progress);
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let message = "its decoder gave up".to_owned();
        Err(ParquetError::General(message).into())
    })
}

/// The footer of a trace, whatever its bytes.
#[cfg(feature = "capture")]
fn footer<R: ChunkReader>(source: &R) -> Result<ParquetMetaData, ReadError> {
    let metadata = catch_unwind(AssertUnwindSafe(|| guard::footer(source)));
    let gave_up = |_| ParquetError::General("its decoder gave up".to_owned());
    metadata.map_err(gave_up)?
}

/// Seconds since 1970 when the recording began, by the footer alone; 0 where it is no recording.
#[cfg(feature = "capture")]
pub(crate) fn started<R: ChunkReader>(source: &R) -> Result<u64, ReadError> {
    Ok(facts(&footer(source)?, Bound::NONE)?.started_unix_seconds)
}

/// Records of a trace, by its footer alone.
#[cfg(feature = "capture")]
pub(crate) fn rows<R: ChunkReader>(source: &R) -> Result<u64, ReadError> {
    let metadata = footer(source)?;
    let rows = metadata.row_groups().iter().map(|group| group.num_rows().unsigned_abs());
    Ok(rows.fold(0, u64::saturating_add))
}

fn read_trace<R: ChunkReader + 'static>(
    source: &Arc<R>,
    bound: Bound,
    progress: &dyn Fn(u64, u64),
) -> Result<Trace, ReadError> {
    let metadata = guard::footer(&**source)?;
    let mut facts = facts(&metadata, bound)?;
    let mut places = Vec::with_capacity(COLUMNS.len());
    for column in COLUMNS {
        places.push(Place::find(metadata.file_metadata().schema_descr(), column)?);
    }
    let rows = checked_rows(&metadata, source.len())?;
    progress(0, rows);
    let mut records = Records::default();
    let mut files = Files::default();
    for group in metadata.row_groups() {
        read_group((source, bound), group, &places, &mut files, &mut records)?;
        progress(records.len() as u64, rows);
    }
    if !records.iter().is_sorted_by_key(|record| record.time_ns) {
        let needed = SORTED_BYTES * records.len() as u64 + 2 * records.bytes() + files.bytes;
        bound.allow("putting these records in time order", needed)?;
        let mut unpacked: Vec<Record> = records.into_iter().collect();
        unpacked.sort_by_key(|record| record.time_ns);
        records = unpacked.into();
        let warning = "the records were not in time order and have been put so".to_owned();
        facts.warnings.push(warning);
    }
    Ok(Trace { records, files: files.names, facts })
}

/// The facts, or the warning that there are none.
fn facts(metadata: &ParquetMetaData, bound: Bound) -> Result<Facts, ReadError> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let pair = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == FACTS_KEY));
    let Some(json) = pair.and_then(|pair| pair.value.as_deref()) else {
        let warning = "the trace came without the facts of its recording (metadata `nbuf`): \
                       machine, memory and losses are unknown";
        return Ok(Facts { warnings: vec![warning.to_owned()], ..Facts::default() });
    };
    bound.allow("the facts of this trace", FACT_BYTES.saturating_mul(json.len() as u64))?;
    let value: serde_json::Value = serde_json::from_str(json).map_err(ReadError::Facts)?;
    if let Some(found) = value.get("schema").and_then(serde_json::Value::as_str)
        && found != Facts::SCHEMA
    {
        let found = found.to_owned();
        return Err(ReadError::Schema { found });
    }
    serde_json::from_value(value).map_err(ReadError::Facts)
}

/// How many rows the file says it has. An error if it cannot hold as many.
fn checked_rows(metadata: &ParquetMetaData, file_bytes: u64) -> Result<u64, ReadError> {
    let mut rows = 0_u64;
    for group in metadata.row_groups() {
        let group_rows = u64::try_from(group.num_rows()).map_err(ParquetError::from)?;
        rows = rows.saturating_add(group_rows);
    }
    if rows > file_bytes.saturating_mul(guard::UNPACKED_RATIO_MAX) {
        return Err(ReadError::TooManyRows { rows, file_bytes });
    }
    Ok(rows)
}

fn read_group<R: ChunkReader + 'static>(
    (source, bound): (&Arc<R>, Bound),
    group: &RowGroupMetaData,
    places: &[Place],
    files: &mut Files,
    records: &mut Records,
) -> Result<(), ReadError> {
    let rows = usize::try_from(group.num_rows()).map_err(ParquetError::from)?;
    let schema = group.schema_descr();
    let integers = |column: usize| -> Result<Integers, ReadError> {
        let place = &places[column];
        let pages = guard::pages(source, group.column(place.index), rows, bound)?;
        Ok(Integers::new(schema, place, pages))
    };
    // In the order of `COLUMNS`.
    let (mut times, mut ops) = (integers(0)?, integers(1)?);
    let pages = guard::pages(source, group.column(places[2].index), rows, bound)?;
    let mut names = Names::new(schema, &places[2], pages);
    let (mut offsets, mut lengths) = (integers(3)?, integers(4)?);
    let (mut sizes, mut tasks, mut requests) = (integers(5)?, integers(6)?, integers(7)?);
    let mut left = rows;
    while left > 0 {
        let count = left.min(BATCH_RECORDS);
        let row = records.len() as u64;
        let batch = Batch {
            row,
            times: times.next(row, count)?,
            ops: ops.next(row, count)?,
            offsets: offsets.next(row, count)?,
            lengths: lengths.next(row, count)?,
            sizes: sizes.next(row, count)?,
            tasks: tasks.next(row, count)?,
            requests: requests.next(row, count)?,
        };
        for (at, &file) in names.next(row, count, files)?.iter().enumerate() {
            records.push(batch.record(at, file)?);
        }
        bound.allow("the records of this trace", records.bytes() + files.bytes)?;
        left -= count;
    }
    Ok(())
}

/// As many numbers of each column as there are records in the batch.
struct Batch<'a> {
    row: u64,
    times: &'a [u64],
    ops: &'a [u64],
    offsets: &'a [u64],
    lengths: &'a [u64],
    sizes: &'a [u64],
    tasks: &'a [u64],
    requests: &'a [u64],
}

impl Batch<'_> {
    fn record(&self, at: usize, file: FileId) -> Result<Record, ReadError> {
        let row = self.row + at as u64;
        let number = self.ops[at];
        let op = u8::try_from(number).ok().and_then(CacheEvent::from_number);
        let (offset_bytes, length) = (self.offsets[at], self.lengths[at]);
        if offset_bytes.checked_add(length).is_none() {
            return Err(ReadError::OutOfRange {
                column: "offset_bytes",
                row,
                value: i128::from(offset_bytes),
            });
        }
        Ok(Record {
            time_ns: self.times[at].cast_signed(),
            offset_bytes,
            file_bytes: self.sizes[at],
            length_bytes: narrow(length),
            file,
            task: narrow(self.tasks[at]),
            request: narrow(self.requests[at]),
            op: op.ok_or(ReadError::UnknownOp { row, number })?,
        })
    }
}

/// A number of a column of 32 bits, whose range [`Integers`] has checked.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
