//! Arrow's C streams in capsules: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name that the protocol gives a capsule of a stream.
const NAME: &std::ffi::CStr = c"arrow_array_stream";

/// The stream of a capsule. The capsule is empty from now on.
pub(crate) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<ArrowArrayStreamReader> {
    let pointer = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name points to a stream, which the protocol lets its consumer move out;
    // what stays behind is marked as released. Python's lock is held, so that nothing else takes it too.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A capsule of the stream of a reader. A stream that is not taken is released with its capsule.
pub(crate) fn give(
    py: Python<'_>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), NAME)
}
