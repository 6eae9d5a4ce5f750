//! The requests of a trace as a table.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{StringDictionaryBuilder, UInt64Builder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int64Array, UInt32Array};
use nbuf::experiment::session::{Interim, Observer, Session};
use nbuf::experiment::trace::{Inputs, Op, Request, Unit, head};

use crate::errors::Failure;
use crate::frame::Frame;

/// Gathers what the library shows of a trace.
#[derive(Default)]
struct Gathered {
    unit: Option<Unit>,
    time_ns: Vec<i64>,
    offset: UInt64Builder,
    length: UInt64Builder,
    task: Vec<u32>,
    op: StringDictionaryBuilder<Int32Type>,
    object: StringDictionaryBuilder<Int32Type>,
    has_objects: bool,
}

struct Gathering<'a> {
    gathered: Mutex<Gathered>,
    /// Who looks on.
    outer: &'a dyn Observer,
}

impl Observer for Gathering<'_> {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        self.outer.progress(stage, done, total);
    }

    fn interim(&self, interim: Interim<'_>) -> io::Result<()> {
        if let Interim::Requests { unit, requests, objects } = interim {
            let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
            gathered.take(unit, requests, objects).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl Gathered {
    fn take(
        &mut self,
        unit: Unit,
        requests: &[Request],
        objects: &[String],
    ) -> Result<(), arrow_schema::ArrowError> {
        self.unit = Some(unit);
        self.has_objects |= !objects.is_empty();
        for request in requests {
            self.time_ns.push(request.time_ns);
            self.offset.append_value(request.offset);
            self.length.append_value(request.length_bytes);
            self.task.push(request.task);
            self.op.append(match request.op {
                Op::Read => "read",
                Op::Write => "write",
                Op::Discard => "discard",
                Op::Flush => "flush",
            })?;
            let name = objects.get(request.object as usize).map_or("", String::as_str);
            self.object.append(name)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Frame, Failure> {
        let is_keys = self.unit == Some(Unit::Keys);
        let (offset, length) =
            if is_keys { ("key", "size") } else { ("offset_bytes", "length_bytes") };
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("time_ns", Arc::new(Int64Array::from(self.time_ns))),
            ("op", Arc::new(self.op.finish())),
        ];
        if self.has_objects {
            columns.push(("file", Arc::new(self.object.finish())));
        }
        columns.push((offset, Arc::new(self.offset.finish())));
        columns.push((length, Arc::new(self.length.finish())));
        columns.push(("task", Arc::new(UInt32Array::from(self.task))));
        let named = columns.into_iter().map(|(name, array)| (name.to_owned(), array));
        Ok(Frame::of(named.collect())?)
    }
}

/// All requests of a trace.
pub(crate) fn rows(inputs: Inputs, session: Session<'_>) -> Result<Frame, Failure> {
    let gathering = Gathering { gathered: Mutex::default(), outer: session.observer };
    let mut session = Session { observer: &gathering, ..session };
    head::run(&head::Spec { inputs, count: usize::MAX }, &mut session)?;
    drop(session);
    gathering.gathered.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}
