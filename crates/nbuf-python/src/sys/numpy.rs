//! `NumPy`'s arrays without `NumPy`: <https://numpy.org/doc/stable/reference/arrays.interface.html>.

use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::Failure;

/// A column over the memory of an array of one dimension, which is not copied.
pub(crate) fn column(name: &str, array: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let interface = array.getattr("__array_interface__")?;
    let shape: Bound<'_, PyTuple> = interface.get_item("shape")?.cast_into()?;
    let wrong = |what: &str| Failure::new(format!("`{name}` {what}")).raise(array.py());
    if shape.len() != 1 {
        return Err(wrong("has not one dimension: give one array for each column"));
    }
    let strides = interface.get_item("strides");
    if strides.is_ok_and(|strides| !strides.is_none()) {
        return Err(wrong("is not contiguous: give `numpy.ascontiguousarray` of it"));
    }
    let length: usize = shape.get_item(0)?.extract()?;
    let (address, _): (usize, bool) = interface.get_item("data")?.extract()?;
    let kind: String = interface.get_item("typestr")?.extract()?;
    let memory = (address, length, array.clone().unbind());
    match kind.trim_start_matches(['<', '|', '=']) {
        "u1" | "b1" => of::<UInt8Type>(memory),
        "u2" => of::<UInt16Type>(memory),
        "u4" => of::<UInt32Type>(memory),
        "u8" => of::<UInt64Type>(memory),
        "i1" => of::<Int8Type>(memory),
        "i2" => of::<Int16Type>(memory),
        "i4" => of::<Int32Type>(memory),
        "i8" => of::<Int64Type>(memory),
        "f8" => of::<Float64Type>(memory),
        "M8[s]" => of::<TimestampSecondType>(memory),
        "M8[ms]" => of::<TimestampMillisecondType>(memory),
        "M8[us]" => of::<TimestampMicrosecondType>(memory),
        "M8[ns]" => of::<TimestampNanosecondType>(memory),
        other => {
            let what =
                format!("has the type {other}: give whole numbers, such as of `astype('u8')`");
            return Err(wrong(&what));
        }
    }
    .ok_or_else(|| wrong("is not aligned: give a copy of it"))
}

/// A column of this type, if the memory is aligned for it.
fn of<T: ArrowPrimitiveType>(
    (address, length, owner): (usize, usize, Py<PyAny>),
) -> Option<ArrayRef> {
    let bytes = length * size_of::<T::Native>();
    let Some(start) =
        NonNull::new(std::ptr::with_exposed_provenance_mut::<u8>(address)).filter(|_| length > 0)
    else {
        return Some(Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(Vec::new()), None)));
    };
    if !address.is_multiple_of(align_of::<T::Native>()) {
        return None;
    }
    // SAFETY: the interface promises `bytes` readable bytes there for as long as the array lives, which the
    // buffer keeps alive; NumPy does not resize an array with a second owner. That nothing writes to it
    // meanwhile is asked of the caller in docs/python.md, as by every library that reads without the lock.
    let buffer =
        unsafe { Buffer::from_custom_allocation(start, bytes, Arc::new(AssertUnwindSafe(owner))) };
    Some(Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::new(buffer, 0, length), None)))
}

/// Numbers that `NumPy` takes over without a copy: `numpy.asarray` of it.
#[pyclass(frozen, module = "nbuf._nbuf")]
pub(crate) struct Numbers {
    /// A boxed slice, which is written through this pointer alone once Python has it.
    start: NonNull<u64>,
    length: usize,
}

// SAFETY: it owns the memory, and itself reads none of it.
unsafe impl Send for Numbers {}
// SAFETY: the same.
unsafe impl Sync for Numbers {}

impl From<Vec<u64>> for Numbers {
    fn from(values: Vec<u64>) -> Self {
        let values = Box::leak(values.into_boxed_slice());
        Self { length: values.len(), start: NonNull::from(values).cast() }
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        let slice = NonNull::slice_from_raw_parts(self.start, self.length);
        // SAFETY: the box that was leaked above; an array over it would keep this alive.
        drop(unsafe { Box::from_raw(slice.as_ptr()) });
    }
}

#[pymethods]
impl Numbers {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.length,))?;
        interface.set_item("typestr", "<u8")?;
        interface.set_item("data", (self.start.as_ptr().expose_provenance(), false))?;
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        self.length
    }
}
