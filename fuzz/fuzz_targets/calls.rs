//! Any record of a system call, after any `format` files: a call, nothing, or an error; and any
//! `fdinfo`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::internal::workload::record::calls::Calls;
use nbuf::internal::workload::record::events::{Body, TaskIn};
use nbuf::internal::workload::record::writes::FdInfo;

fuzz_target!(|input: (String, String, Vec<u8>)| {
    let (enter, exit, record) = input;
    let _ = FdInfo::parse(&enter);
    let calls = Calls::parse(&enter, &exit);
    for task_in in [TaskIn::Sample, TaskIn::Record] {
        if let (Ok(calls), Some(body)) = (&calls, Body::parse(&record, task_in)) {
            let _ = calls.decode(&body);
        }
    }
});
