//! A table that leaves nbuf as an Arrow stream.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::columns::{numbers, text};
use crate::sys::{self, Numbers};

/// Batches of one schema.
#[pyclass(frozen, module = "nbuf._nbuf")]
pub(crate) struct Frame {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

impl Frame {
    /// One batch of these columns.
    pub(crate) fn of(columns: Vec<(String, ArrayRef)>) -> Result<Self, ArrowError> {
        let field = |(name, array): &(String, ArrayRef)| {
            Field::new(name, array.data_type().clone(), array.is_nullable())
        };
        let schema: SchemaRef =
            Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
        Ok(Self { schema, batches: vec![batch] })
    }
}

#[pymethods]
impl Frame {
    /// Columns of lists: a name, a type (`u64`, `i64`, `f64`, `bool`, `str`) and values, of which some may
    /// be None.
    #[new]
    fn new(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let array = |kind: &str, values: &Bound<'_, PyAny>| -> PyResult<ArrayRef> {
            Ok(match kind {
                "u64" => Arc::new(UInt64Array::from(values.extract::<Vec<Option<u64>>>()?)),
                "i64" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
                "f64" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
                "bool" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
                _ => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
            })
        };
        let arrays = columns
            .into_iter()
            .map(|(name, kind, values)| Ok((name, array(&kind, &values)?)))
            .collect::<PyResult<Vec<_>>>()?;
        Self::of(arrays).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The table as a capsule, as its protocol wants it; another schema is not made.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        sys::give(py, Box::new(reader))
    }

    /// Each column without any other library: its name, type and numbers as of 64 bits; the numbers of texts
    /// are places in the list behind them.
    fn columns(&self) -> Vec<(String, String, Numbers, Option<Vec<String>>)> {
        let column = |index: usize| {
            let field = self.schema.field(index);
            let (mut all, mut some, mut texts) = (Vec::new(), Vec::new(), None);
            for batch in &self.batches {
                let array = batch.column(index);
                let array = match array.as_any_dictionary_opt() {
                    Some(dictionary) => {
                        let values = dictionary.values();
                        let own = (0..values.len()).map(|row| text(values, row).to_owned());
                        texts = Some(own.collect());
                        dictionary.keys().slice(0, array.len())
                    }
                    None => Arc::clone(array),
                };
                numbers(&array, 0, array.len(), &mut some);
                all.append(&mut some);
            }
            (field.name().clone(), field.data_type().to_string(), all.into(), texts)
        };
        (0..self.schema.fields().len()).map(column).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}
