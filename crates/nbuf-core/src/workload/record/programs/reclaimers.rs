//! Pages that threads of the kernel take from any program: counted, not recorded.

use super::kernel::Kernel;
use super::program::{GET_TASK, Numbers, Word, add, line};
use crate::sys::bpf::assembly::{Assembly, STACK};
use crate::sys::bpf::code::{AND, AND_NUMBER, JUMP_IF_EQUAL, JUMP_UNLESS_SAME, SHIFT_LEFT_BY};

const GET_NAME: i32 = 16;
/// `PF_KTHREAD`
const OF_THE_KERNEL: i32 = 0x0020_0000;

/// Counts the pages by the names of those that reclaim, and goes on for all other tasks.
pub(super) fn count(program: &mut Assembly, kernel: &Kernel, numbers: &Numbers) -> Option<()> {
    program.call(GET_TASK);
    program.load_half(1, 0, kernel.task.flags);
    program.with_number(AND_NUMBER, 1, OF_THE_KERNEL);
    program.jump_if(JUMP_IF_EQUAL, 1, 0, "program");
    program.on_stack(1, -32);
    program.set(2, 16);
    program.call(GET_NAME);
    line(program, numbers)?;
    program.set(2, 1);
    program.with(SHIFT_LEFT_BY, 2, 9);
    for (name, word, other) in
        [("kswapd", Word::Kswapd, "no kswapd"), ("kdamond", Word::Kdamond, "program")]
    {
        let mut bytes = [0_u8; 8];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        program.load(3, STACK, -32);
        // The number of the node or of the thread follows.
        program.set_long(4, u64::from_ne_bytes(bytes.map(|byte| if byte == 0 { 0 } else { 0xff })));
        program.with(AND, 3, 4);
        program.set_long(4, u64::from_ne_bytes(bytes));
        program.jump_by(JUMP_UNLESS_SAME, 3, 4, other);
        add(program, word);
        program.jump("out");
        if other != "program" {
            program.place(other);
        }
    }
    program.place("program");
    Some(())
}
