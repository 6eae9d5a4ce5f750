//! What the columns of a table must hold, before any row is read.

use arrow_array::Array as _;
use arrow_schema::Schema;
use nbuf::trace::Cost;

use crate::columns::{
    fractions, has_negative, is_number, is_text, is_time, is_whole, largest, numbers, smallest,
    text,
};
use crate::requests::{Requests, operation};
use crate::roles::Role;

/// The years 2000 to 2100 in seconds since 1970.
const CENTURY_SECONDS: (u64, u64) = (946_684_800, 4_102_444_800);

impl Requests {
    /// Refuses columns of another type, and rows without a value.
    pub(crate) fn check(&self, schema: &Schema) -> Result<(), String> {
        for &(role, index) in &self.columns {
            let field = schema.field(index);
            let (column, kind) = (field.name(), field.data_type());
            let (fits, wanted) = match role {
                Role::Key | Role::Object | Role::Op => {
                    (is_whole(kind) || is_text(kind), "whole numbers or texts")
                }
                Role::Ttl | Role::Cost => (is_number(kind), "numbers"),
                Role::Time => (is_time(kind), "timestamps, nanoseconds or seconds with a fraction"),
                _ => (is_whole(kind), "whole numbers"),
            };
            if !fits {
                return Err(format!(
                    "the column `{column}` is of the type {kind}: make it one of {wanted}"
                ));
            }
            let nulls: usize = self.arrays(index).map(arrow_array::Array::logical_null_count).sum();
            if nulls > 0 {
                return Err(format!(
                    "the column `{column}` has {nulls} rows without a value: leave them out, or fill them"
                ));
            }
            let is_amount = matches!(role, Role::Size | Role::Offset | Role::Length | Role::Task);
            if is_amount && self.arrays(index).any(has_negative) {
                return Err(format!("the column `{column}` has negative numbers: leave them out"));
            }
            match role {
                Role::Op => self.check_operations(index, column)?,
                Role::Ttl => self.check_amounts(index, column, "seconds to live")?,
                Role::Cost => self.check_amounts(index, column, "costs")?,
                Role::Time => self.check_times(index, column)?,
                Role::Task => {
                    let most = self.arrays(index).map(largest).max().unwrap_or(0);
                    if u32::try_from(most).is_err() {
                        return Err(format!(
                            "the column `{column}` has the task {most}, and the largest is {}: number the tasks from \
                             0, or leave the column out",
                            u32::MAX
                        ));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses whole numbers that are seconds, or parts of them, since 1970, and no nanoseconds.
    fn check_times(&self, index: usize, column: &str) -> Result<(), String> {
        let is_whole = self.arrays(index).all(|array| is_whole(array.data_type()));
        if !is_whole || column.ends_with("_ns") {
            return Ok(());
        }
        let least = self.arrays(index).map(smallest).min().unwrap_or(0);
        let most = self.arrays(index).map(largest).max().unwrap_or(0);
        for (unit, times) in [("seconds", 1), ("milliseconds", 1_000), ("microseconds", 1_000_000)]
        {
            if least >= CENTURY_SECONDS.0 * times && most <= CENTURY_SECONDS.1 * times {
                let by = 1_000_000_000 / times;
                return Err(format!(
                    "the column `{column}` has whole numbers that look like {unit} since 1970, and are taken for \
                     nanoseconds: multiply them by {by}, or make them timestamps; nanoseconds they are in a \
                     column of a table that is named time_ns"
                ));
            }
        }
        Ok(())
    }

    /// Refuses what is below 0, infinite or no number.
    fn check_amounts(&self, index: usize, column: &str, what: &str) -> Result<(), String> {
        let mut amounts = Vec::new();
        for array in self.arrays(index) {
            fractions(array, 0, array.len(), &mut amounts);
            if let Some(wrong) = amounts.iter().find(|&&amount| Cost::new(amount).is_none()) {
                return Err(format!(
                    "the column `{column}` has {wrong}, and {what} are 0 or more: leave these rows out"
                ));
            }
        }
        Ok(())
    }

    fn check_operations(&self, index: usize, column: &str) -> Result<(), String> {
        for array in self.arrays(index) {
            let rows = 0..array.len();
            let unknown = if is_text(array.data_type()) {
                let mut texts = rows.map(|row| text(array, row));
                texts.find(|text| operation(text).is_none()).map(str::to_owned)
            } else {
                let mut whole = Vec::new();
                numbers(array, 0, array.len(), &mut whole);
                let known = self.native.len() as u64;
                whole.into_iter().find(|&number| number >= known).map(|number| number.to_string())
            };
            if let Some(unknown) = unknown {
                return Err(format!(
                    "the column `{column}` has the operation {unknown}: write read, write, discard or flush, \
                     or the numbers of docs/trace.md"
                ));
            }
        }
        Ok(())
    }
}
