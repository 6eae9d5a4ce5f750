//! A table as the requests of a trace.

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use nbuf::experiment::session::Rows;
use nbuf::experiment::trace::{Op, Request, Unit};
use nbuf::trace::{CacheEvent, Cost, FileId, Lifetime, Record};
use nbuf::workload::format::{BATCH_REQUESTS, Batch, key_of_text, native_request};

use crate::columns::{
    fractions, has_negative, is_number, is_text, is_time, is_whole, largest, numbers, smallest,
    text, times,
};
use crate::roles::{Role, find, missing};

/// Operations that are texts.
const OPERATIONS: [(&str, Op); 12] = [
    ("read", Op::Read),
    ("r", Op::Read),
    ("get", Op::Read),
    ("write", Op::Write),
    ("w", Op::Write),
    ("set", Op::Write),
    ("discard", Op::Discard),
    ("d", Op::Discard),
    ("trim", Op::Discard),
    ("delete", Op::Discard),
    ("flush", Op::Flush),
    ("f", Op::Flush),
];

/// The years 2000 to 2100 in seconds since 1970.
const CENTURY_SECONDS: (u64, u64) = (946_684_800, 4_102_444_800);

/// Batches of a table whose columns are known.
pub(crate) struct Requests {
    batches: Vec<RecordBatch>,
    /// The first row of each batch, and the number of all rows.
    starts: Vec<u64>,
    /// The column of each role.
    columns: Vec<(Role, usize)>,
    unit: Unit,
    /// What each operation of a native trace asks for.
    native: Vec<Option<Op>>,
}

impl Requests {
    /// Finds the columns by what the caller says of them, and by their names. An error says what is missing.
    pub(crate) fn new(
        schema: &Schema,
        batches: Vec<RecordBatch>,
        named: &[(String, String)],
    ) -> Result<Self, String> {
        let mut columns = find(schema, named)?;
        let is_named = |name: &str| named.iter().any(|(role, _)| role == name);
        if is_named("key") && !is_named("file") {
            columns.retain(|&(role, _)| role != Role::Object);
        }
        let has = |role| columns.iter().any(|&(other, _)| other == role);
        if has(Role::Key) && has(Role::Object) {
            return Err(
                "keys and files are two columns, and a key stands for itself: name a column that has both, \
                 or columns={\"key\": ...} if the keys of all files are one"
                    .to_owned(),
            );
        }
        let unit = match (has(Role::Key), has(Role::Offset), has(Role::Length)) {
            (true, _, _) => Unit::Keys,
            (false, true, true) => Unit::Bytes,
            (false, true, false) => return Err(missing(schema, "length_bytes")),
            _ => return Err(missing(schema, "key, or offset_bytes and length_bytes")),
        };
        let mut starts = vec![0];
        for batch in &batches {
            starts.push(starts[starts.len() - 1] + batch.num_rows() as u64);
        }
        let made = Self { batches, starts, columns, unit, native: native() };
        made.check(schema)?;
        Ok(made)
    }

    /// Refuses columns of another type, and rows without a value.
    fn check(&self, schema: &Schema) -> Result<(), String> {
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

    fn arrays(&self, column: usize) -> impl Iterator<Item = &ArrayRef> {
        self.batches.iter().map(move |batch| batch.column(column))
    }

    /// Appends the requests of some rows of a batch.
    fn read_batch(&self, batch: &RecordBatch, from: usize, to: usize, out: &mut Batch) {
        let first = out.requests.len();
        out.requests.resize(first + to - from, Request::new(Op::Read, 0, 1));
        let mut kept: Option<Vec<bool>> = None;
        let (mut whole, mut moments, mut amounts) = (Vec::new(), Vec::new(), Vec::new());
        for &(role, index) in &self.columns {
            let array = batch.column(index);
            let is_text = is_text(array.data_type());
            if role == Role::Time {
                times(array, from, to, &mut moments);
            } else if matches!(role, Role::Ttl | Role::Cost) {
                fractions(array, from, to, &mut amounts);
            } else if !is_text {
                numbers(array, from, to, &mut whole);
            }
            let requests = &mut out.requests[first..];
            match role {
                Role::Key if is_text => {
                    for (row, request) in (from..).zip(requests) {
                        request.offset = key_of_text(text(array, row).as_bytes());
                    }
                }
                Role::Object => {
                    for (at, request) in requests.iter_mut().enumerate() {
                        request.object = if is_text {
                            out.objects.number(text(array, from + at).as_bytes())
                        } else {
                            out.objects.number(whole[at].to_string().as_bytes())
                        };
                    }
                }
                Role::Op if is_text => {
                    for (row, request) in (from..).zip(requests) {
                        request.op = operation(text(array, row)).unwrap_or(Op::Read);
                    }
                }
                Role::Op => {
                    let ops = whole
                        .iter()
                        .map(|&op| self.native.get(usize::try_from(op).ok()?)?.as_ref());
                    let ops: Vec<Option<&Op>> = ops.collect();
                    for (request, op) in requests.iter_mut().zip(&ops) {
                        request.op = op.copied().unwrap_or(Op::Read);
                    }
                    kept = Some(ops.iter().map(Option::is_some).collect());
                }
                Role::Ttl => {
                    for (request, &seconds) in requests.iter_mut().zip(&amounts) {
                        request.lifetime = lifetime(seconds);
                    }
                }
                Role::Cost => {
                    for (request, &cost) in requests.iter_mut().zip(&amounts) {
                        request.cost = Cost::new(cost).unwrap_or_default();
                    }
                }
                _ => put(role, requests, &whole, &moments),
            }
        }
        // What the kernel did is in a native trace too, and is no request.
        if let Some(kept) = kept.filter(|kept| kept.contains(&false)) {
            let mut at = 0;
            out.requests.retain(|_| {
                at += 1;
                at <= first || kept[at - 1 - first]
            });
        }
    }
}

/// Puts numbers into their field.
fn put(role: Role, requests: &mut [Request], whole: &[u64], moments: &[i64]) {
    let each = requests.iter_mut();
    match role {
        Role::Key | Role::Offset => each.zip(whole).for_each(|(to, &from)| to.offset = from),
        Role::Size | Role::Length => each.zip(whole).for_each(|(to, &from)| to.length_bytes = from),
        Role::Time => each.zip(moments).for_each(|(to, &from)| to.time_ns = from),
        Role::Task => each
            .zip(whole)
            .for_each(|(to, &from)| to.task = u32::try_from(from).unwrap_or(u32::MAX)),
        Role::Op | Role::Object | Role::Ttl | Role::Cost => {}
    }
}

/// A time to live in seconds; none for 0.
fn lifetime(seconds: f64) -> Lifetime {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let ns = (seconds * 1e9).round() as u64;
    Lifetime::from_ns(ns)
}

impl Rows for Requests {
    fn unit(&self) -> Unit {
        self.unit
    }

    fn has_sizes(&self) -> bool {
        let size = if self.unit == Unit::Keys { Role::Size } else { Role::Length };
        self.columns.iter().any(|&(role, _)| role == size)
    }

    fn has_costs(&self) -> bool {
        self.columns.iter().any(|&(role, _)| role == Role::Cost)
    }

    fn count(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    fn read(&self, from: u64, out: &mut Batch) -> u64 {
        let end = self.count().min(from + BATCH_REQUESTS as u64);
        let mut next = from;
        while next < end {
            let at = self.starts.partition_point(|&start| start <= next) - 1;
            let stop = end.min(self.starts[at + 1]);
            let inside = |row: u64| usize::try_from(row - self.starts[at]).unwrap_or(usize::MAX);
            self.read_batch(&self.batches[at], inside(next), inside(stop), out);
            next = stop;
        }
        next
    }
}

fn operation(text: &str) -> Option<Op> {
    OPERATIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|&(_, op)| op)
}

/// What each number of a native trace asks for.
fn native() -> Vec<Option<Op>> {
    let of = |&op: &CacheEvent| {
        let record = Record {
            time_ns: 0,
            offset_bytes: 0,
            file_bytes: 0,
            length_bytes: 0,
            file: FileId(0),
            task: 0,
            request: 0,
            op,
        };
        native_request(&record).map(|request| request.op)
    };
    CacheEvent::ALL.iter().map(of).collect()
}
