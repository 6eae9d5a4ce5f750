//! What a column of a table has to be, and its values as nbuf takes them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

/// Whether it has whole numbers.
pub(crate) fn is_whole(kind: &DataType) -> bool {
    kind.is_integer() || *kind == DataType::Boolean
}

/// Whether it has texts, each in full or by its number in a dictionary.
pub(crate) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Whether it can be a time.
pub(crate) fn is_time(kind: &DataType) -> bool {
    kind.is_integer() || matches!(kind, DataType::Timestamp(..) | DataType::Float64)
}

/// Whether it has whole numbers or fractions.
pub(crate) fn is_number(kind: &DataType) -> bool {
    kind.is_integer() || matches!(kind, DataType::Float32 | DataType::Float64)
}

/// Runs one of two expressions with the values of whole numbers as a slice.
macro_rules! slices {
    ($array:expr, $values:ident, $signed:expr, $unsigned:expr) => {
        match $array.data_type() {
            DataType::Int8 => slices!(@ $array, Int8Type, $values, $signed),
            DataType::Int16 => slices!(@ $array, Int16Type, $values, $signed),
            DataType::Int32 => slices!(@ $array, Int32Type, $values, $signed),
            DataType::Int64 => slices!(@ $array, Int64Type, $values, $signed),
            DataType::UInt8 => slices!(@ $array, UInt8Type, $values, $unsigned),
            DataType::UInt16 => slices!(@ $array, UInt16Type, $values, $unsigned),
            DataType::UInt32 => slices!(@ $array, UInt32Type, $values, $unsigned),
            DataType::UInt64 => slices!(@ $array, UInt64Type, $values, $unsigned),
            _ => {}
        }
    };
    (@ $array:expr, $type:ty, $values:ident, $take:expr) => {{
        let $values = $array.as_primitive::<$type>().values();
        $take
    }};
}

/// Whole numbers of some rows; a negative one as its bits, which is another key.
#[expect(clippy::useless_conversion, reason = "one of the types is the result")]
pub(crate) fn numbers(array: &ArrayRef, from: usize, to: usize, out: &mut Vec<u64>) {
    out.clear();
    if *array.data_type() == DataType::Boolean {
        let values = array.as_boolean();
        return out.extend((from..to).map(|row| u64::from(values.value(row))));
    }
    slices!(
        array,
        values,
        out.extend(values[from..to].iter().map(|&value| i64::from(value).cast_unsigned())),
        out.extend(values[from..to].iter().map(|&value| u64::from(value)))
    );
}

/// Whether some number is negative.
pub(crate) fn has_negative(array: &ArrayRef) -> bool {
    let mut has = false;
    slices!(array, values, has = values.iter().any(|&value| value < 0), _ = values);
    has
}

/// The smallest of its whole numbers; one below 0 counts as 0.
#[expect(clippy::useless_conversion, reason = "one of the types is the result")]
pub(crate) fn smallest(array: &ArrayRef) -> u64 {
    let mut least = u64::MAX;
    let mut take = |number: u64| least = least.min(number);
    slices!(
        array,
        values,
        values.iter().for_each(|&value| take(u64::try_from(value).unwrap_or(0))),
        values.iter().for_each(|&value| take(u64::from(value)))
    );
    least
}

/// The largest of its whole numbers; 0 where all are negative.
#[expect(clippy::useless_conversion, reason = "one of the types is the result")]
pub(crate) fn largest(array: &ArrayRef) -> u64 {
    let mut most = 0;
    let mut take = |number: u64| most = most.max(number);
    slices!(
        array,
        values,
        values.iter().for_each(|&value| take(u64::try_from(value).unwrap_or(0))),
        values.iter().for_each(|&value| take(u64::from(value)))
    );
    most
}

/// Times of some rows in nanoseconds. Numbers are nanoseconds, and fractions are seconds.
pub(crate) fn times(array: &ArrayRef, from: usize, to: usize, out: &mut Vec<i64>) {
    out.clear();
    let scaled = |values: &[i64], by: i64, out: &mut Vec<i64>| {
        out.extend(values[from..to].iter().map(|value| value.saturating_mul(by)));
    };
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            scaled(array.as_primitive::<TimestampNanosecondType>().values(), 1, out);
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            scaled(array.as_primitive::<TimestampMicrosecondType>().values(), 1_000, out);
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            scaled(array.as_primitive::<TimestampMillisecondType>().values(), 1_000_000, out);
        }
        DataType::Timestamp(TimeUnit::Second, _) => {
            scaled(array.as_primitive::<TimestampSecondType>().values(), 1_000_000_000, out);
        }
        DataType::Float64 => {
            let values = &array.as_primitive::<Float64Type>().values()[from..to];
            #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
            out.extend(values.iter().map(|seconds| (seconds * 1e9).round() as i64));
        }
        _ => {
            let mut whole = Vec::new();
            numbers(array, from, to, &mut whole);
            out.extend(whole.into_iter().map(u64::cast_signed));
        }
    }
}

/// Numbers of some rows, whole or with a fraction.
pub(crate) fn fractions(array: &ArrayRef, from: usize, to: usize, out: &mut Vec<f64>) {
    out.clear();
    match array.data_type() {
        DataType::Float64 => {
            out.extend(&array.as_primitive::<Float64Type>().values()[from..to]);
        }
        DataType::Float32 => {
            let values = &array.as_primitive::<Float32Type>().values()[from..to];
            out.extend(values.iter().map(|&value| f64::from(value)));
        }
        _ => {
            let mut whole = Vec::new();
            numbers(array, from, to, &mut whole);
            out.extend(whole.into_iter().map(|value| value.cast_signed() as f64));
        }
    }
}

/// The text of a row.
pub(crate) fn text(array: &ArrayRef, row: usize) -> &str {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row),
        DataType::Utf8View => array.as_string_view().value(row),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut number = Vec::new();
            numbers(&dictionary.keys().slice(row, 1), 0, 1, &mut number);
            let number = number.first().and_then(|&number| usize::try_from(number).ok());
            text(dictionary.values(), number.unwrap_or(0))
        }
        _ => "",
    }
}
