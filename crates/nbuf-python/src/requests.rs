//! A table as the requests of a trace.

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use nbuf::experiment::session::Rows;
use nbuf::experiment::trace::{Op, Request, Unit};
use nbuf::trace::{CacheEvent, Cost, FileId, Lifetime, Record};
use nbuf::workload::format::{BATCH_REQUESTS, Batch, key_of_text, native_request};

use crate::columns::{fractions, is_text, numbers, text, times};
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

/// Batches of a table whose columns are known.
pub(crate) struct Requests {
    batches: Vec<RecordBatch>,
    /// The first row of each batch, and the number of all rows.
    starts: Vec<u64>,
    /// The column of each role.
    pub(crate) columns: Vec<(Role, usize)>,
    unit: Unit,
    /// What each operation of a native trace asks for.
    pub(crate) native: Vec<Option<Op>>,
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

    /// The parts of a column.
    pub(crate) fn arrays(&self, column: usize) -> impl Iterator<Item = &ArrayRef> {
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

pub(crate) fn operation(text: &str) -> Option<Op> {
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
