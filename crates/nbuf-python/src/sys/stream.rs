//! Arrow's C streams in capsules: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.

use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::Failure;

/// The name that the protocol gives a capsule of a stream.
const NAME: &std::ffi::CStr = c"arrow_array_stream";

/// Batches of one schema.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The batches of a capsule's stream; a stream of one column is a table of it. The capsule is empty from now on.
pub(crate) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<(SchemaRef, Batches)> {
    let pointer = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name points to a stream, which the protocol lets its consumer move out;
    // what stays behind is marked as released. Python's lock is held, so that nothing else takes it too.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let failed = |error: ArrowError| Failure::new(error.to_string()).raise(capsule.py());
    let released = || failed(ArrowError::CDataInterface("the stream is released".to_owned()));
    let get = stream.get_schema.ok_or_else(released)?;
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and the schema is room for one, as the protocol wants it.
    if unsafe { get(&raw mut stream, &raw mut schema) } != 0 {
        return Err(failed(ArrowError::CDataInterface("the stream has no schema".to_owned())));
    }
    let kind = DataType::try_from(&schema).map_err(failed)?;
    if matches!(kind, DataType::Struct(_)) {
        let reader = ArrowArrayStreamReader::try_new(stream).map_err(failed)?;
        return Ok((reader.schema(), Box::new(reader)));
    }
    let name = schema.name().filter(|name| !name.is_empty()).unwrap_or("key");
    let table = Arc::new(Schema::new(vec![Field::new(name, kind, true)]));
    Ok((Arc::clone(&table), Box::new(Column { stream, schema, table })))
}

/// A stream of arrays, such as of a series: each becomes a batch of one column.
struct Column {
    stream: FFI_ArrowArrayStream,
    schema: FFI_ArrowSchema,
    table: SchemaRef,
}

impl Iterator for Column {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut array = FFI_ArrowArray::empty();
        let get = self.stream.get_next?;
        // SAFETY: the stream is not released, and the array is room for one, as the protocol wants it.
        if unsafe { get(&raw mut self.stream, &raw mut array) } != 0 {
            let text = "the stream of a column broke off".to_owned();
            return Some(Err(ArrowError::CDataInterface(text)));
        }
        if array.is_released() {
            return None;
        }
        // SAFETY: the array is of the stream's schema.
        let data = unsafe { from_ffi(array, &self.schema) };
        let batch = data
            .and_then(|data| RecordBatch::try_new(Arc::clone(&self.table), vec![make_array(data)]));
        Some(batch)
    }
}

/// A capsule of the stream of a reader. A stream that is not taken is released with its capsule.
pub(crate) fn give(
    py: Python<'_>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), NAME)
}
