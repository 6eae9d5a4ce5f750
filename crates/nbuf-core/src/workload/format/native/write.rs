//! Writing the native trace.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::types::{ColumnPath, Type};

use super::{COLUMNS, Column, FACTS_KEY, Holds};
use crate::trace::{Facts, Record, Trace};

/// Records in a row group: enough that a dictionary pays, few enough for memory besides the trace.
const GROUP_RECORDS: usize = 1 << 20;

/// Records handed to a column at a time.
const BATCH_RECORDS: usize = 1 << 16;

/// Bytes up to which the names of a row group are kept as a dictionary.
const DICTIONARY_BYTES_MAX: usize = 64 << 20;

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A record names a file that the trace does not have.
    #[error(
        "record {record} is of file {file}, but the trace has {files} files: this is a fault of nbuf, please report it"
    )]
    UnknownFile {
        /// Which record, from 0.
        record: usize,
        /// Which file it names.
        file: u32,
        /// How many there are.
        files: usize,
    },
    /// The facts cannot be put into JSON.
    #[error(
        "the facts of the trace do not go into JSON ({0}): this is a fault of nbuf, please report it"
    )]
    Facts(#[from] serde_json::Error),
    /// The output failed, or its coder.
    #[error("the trace could not be written: {0}")]
    Output(#[from] ParquetError),
}

/// Writes `trace` as a Parquet file.
pub fn write(trace: &Trace, out: impl Write + Send) -> Result<(), WriteError> {
    write_with(trace, out, &|_, _| ())
}

/// The same; `progress` gets the records that were written, and all.
pub(crate) fn write_with(
    trace: &Trace,
    out: impl Write + Send,
    progress: &dyn Fn(u64, u64),
) -> Result<(), WriteError> {
    let all = trace.records.len() as u64;
    progress(0, all);
    let facts = Facts { schema: Facts::SCHEMA.to_owned(), ..trace.facts.clone() };
    let facts = KeyValue::new(FACTS_KEY.to_owned(), serde_json::to_string(&facts)?);
    let names: Vec<ByteArray> = trace.files.iter().map(|name| name.as_str().into()).collect();
    let mut writer = SerializedFileWriter::new(out, schema()?, Arc::new(properties(facts)?))?;
    let mut records = trace.records.iter();
    let mut written = 0;
    let mut batch = Vec::with_capacity(GROUP_RECORDS.min(trace.records.len()));
    loop {
        batch.clear();
        batch.extend(records.by_ref().take(GROUP_RECORDS));
        if batch.is_empty() {
            break;
        }
        check(&batch, written, trace.files.len())?;
        written += batch.len();
        let mut group = writer.next_row_group()?;
        write_group(&mut group, &batch, &names)?;
        group.close()?;
        progress(written as u64, all);
    }
    writer.close()?;
    Ok(())
}

/// Whether all these records are of files that there are. `before` counts those before them.
fn check(records: &[Record], before: usize, files: usize) -> Result<(), WriteError> {
    let unknown = |record: &Record| record.file.0 as usize >= files;
    match records.iter().position(unknown) {
        None => Ok(()),
        Some(at) => {
            let (record, file) = (before + at, records[at].file.0);
            Err(WriteError::UnknownFile { record, file, files })
        }
    }
}

fn schema() -> Result<Arc<Type>, ParquetError> {
    let fields: Result<Vec<Arc<Type>>, ParquetError> = COLUMNS.iter().map(field).collect();
    let schema = Type::group_type_builder("trace").with_fields(fields?).build()?;
    Ok(Arc::new(schema))
}

fn field(column: &Column) -> Result<Arc<Type>, ParquetError> {
    let integer = LogicalType::integer;
    let (physical, logical) = match column.holds {
        Holds::Signed64 => (Physical::INT64, integer(64, true)),
        Holds::Unsigned(64) => (Physical::INT64, integer(64, false)),
        Holds::Unsigned(8) => (Physical::INT32, integer(8, false)),
        Holds::Unsigned(_) => (Physical::INT32, integer(32, false)),
        Holds::Name => (Physical::BYTE_ARRAY, LogicalType::String),
    };
    let field = Type::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(logical))
        .build()?;
    Ok(Arc::new(field))
}

/// The cheapest level of zstd.
#[cfg(feature = "compression")]
fn compression() -> Result<Compression, ParquetError> {
    Ok(Compression::ZSTD(parquet::basic::ZstdLevel::try_new(1)?))
}

/// Snappy, which needs no C.
#[cfg(not(feature = "compression"))]
#[expect(clippy::unnecessary_wraps, reason = "as the one with zstd")]
fn compression() -> Result<Compression, ParquetError> {
    Ok(Compression::SNAPPY)
}

fn properties(facts: KeyValue) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("nbuf version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![facts]))
        .set_compression(compression()?)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(GROUP_RECORDS));
    // What hardly repeats is kept as differences; what repeats, as numbers of a dictionary.
    for name in ["time_ns", "offset_bytes", "request"] {
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(name), false)
            .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    Ok(properties
        .set_column_statistics_enabled(ColumnPath::from("file"), EnabledStatistics::None)
        .set_column_dictionary_page_size_limit(ColumnPath::from("file"), DICTIONARY_BYTES_MAX)
        .build())
}

fn write_group<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    records: &[Record],
    names: &[ByteArray],
) -> Result<(), ParquetError> {
    let mut column = 0;
    while let Some(mut writer) = group.next_column()? {
        let out = &mut writer;
        // In the order of `COLUMNS`.
        match column {
            0 => fill::<Int64Type>(out, records, |record| record.time_ns),
            1 => fill::<Int32Type>(out, records, |record| i32::from(record.op.number())),
            2 => {
                fill::<ByteArrayType>(out, records, |record| names[record.file.0 as usize].clone())
            }
            3 => fill::<Int64Type>(out, records, |record| record.offset_bytes.cast_signed()),
            4 => fill::<Int32Type>(out, records, |record| record.length_bytes.cast_signed()),
            5 => fill::<Int64Type>(out, records, |record| record.file_bytes.cast_signed()),
            6 => fill::<Int32Type>(out, records, |record| record.task.cast_signed()),
            _ => fill::<Int32Type>(out, records, |record| record.request.cast_signed()),
        }?;
        writer.close()?;
        column += 1;
    }
    Ok(())
}

/// Writes one column of these records.
fn fill<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    records: &[Record],
    value: impl Fn(&Record) -> T::T,
) -> Result<(), ParquetError> {
    let mut values = Vec::with_capacity(records.len().min(BATCH_RECORDS));
    for batch in records.chunks(BATCH_RECORDS) {
        values.clear();
        values.extend(batch.iter().map(&value));
        writer.typed::<T>().write_batch(&values, None, None)?;
    }
    Ok(())
}
