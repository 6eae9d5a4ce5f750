//! Any record of the programs of `nbuf run`, and any description of a kernel: things and places, or nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbuf::internal::workload::observe::{members_in, things_in};

fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (record, mut description) = input;
    // A call, how the thread left, and that it looked for memory, at the most.
    assert!(things_in(&record) <= 4);
    let members = [("task_struct", "pid"), ("outer", "second")];
    let _ = members_in(&description, &members);
    // Few inputs begin as a description does.
    if let Some(magic) = description.get_mut(..2) {
        magic.copy_from_slice(&0xeb9f_u16.to_ne_bytes());
    }
    let _ = members_in(&description, &members);
});
