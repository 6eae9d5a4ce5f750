//! Whose event it is: the beginning of each program, and the program that passes marks on.

use super::kernel::Kernel;
use super::program::{GET_PROCESS_AND_TASK, GET_TASK};
use super::whom::Whom;
use crate::sys::bpf::Instruction;
use crate::sys::bpf::assembly::{Assembly, STACK};
use crate::sys::bpf::code::{
    ADD_NUMBER, JUMP_IF_EQUAL, JUMP_IF_LESS, JUMP_UNLESS, JUMP_UNLESS_SAME, SHIFT_RIGHT,
};

const IS_UNDER_GROUP: i32 = 37;
const PROBE_READ_KERNEL: i32 = 113;
const STORAGE_OF_TASK: i32 = 156;
/// Makes storage where there is none.
const CREATE: i32 = 1;

/// The program that marks what a marked process starts.
pub(super) fn fork(kernel: &Kernel, marks: i32) -> Option<Vec<Instruction>> {
    let mut program = Assembly::default();
    program.copy(6, 1);
    if_marked(&mut program, kernel, marks);
    // Threads too: one that executes becomes the process, and the mark of the first thread goes with that thread.
    program.load(2, 6, 8);
    program.map(1, marks);
    program.set(3, 0);
    program.set(4, CREATE);
    program.call(STORAGE_OF_TASK);
    program.finish()
}

/// Goes on if the first thread of the process has a mark. The kernel makes a thread that executes the first.
fn if_marked(program: &mut Assembly, kernel: &Kernel, marks: i32) {
    program.call(GET_TASK);
    program.load(2, 0, kernel.task.leader);
    program.map(1, marks);
    program.set(3, 0);
    program.set(4, 0);
    program.call(STORAGE_OF_TASK);
    program.jump_if(JUMP_IF_EQUAL, 0, 0, "out");
}

/// Goes on for those who are watched.
pub(super) fn only(program: &mut Assembly, kernel: &Kernel, whom: &Whom) -> Option<()> {
    match whom {
        Whom::Marked(marks) => {
            if_marked(program, kernel, marks.number());
            return Some(());
        }
        Whom::Group(groups) => {
            program.map(1, groups.number());
            program.set(2, 0);
            program.call(IS_UNDER_GROUP);
            program.jump_if(JUMP_UNLESS, 0, 1, "out");
        }
        Whom::Charged { level, number } => {
            let at = kernel.charged?;
            program.call(GET_TASK);
            program.load(1, 0, at.groups);
            program.load(1, 1, at.memory);
            program.load(3, 1, at.group);
            program.load_half(2, 3, at.level);
            program.jump_if(JUMP_IF_LESS, 2, *level, "out");
            // The kernel does not follow an array without an end: each step is a copy.
            let ancestor = i32::from(at.ancestors) + 8 * level;
            for offset in [ancestor, at.node.into(), at.number.into()] {
                program.with_number(ADD_NUMBER, 3, offset);
                program.on_stack(1, -8);
                program.set(2, 8);
                program.call(PROBE_READ_KERNEL);
                program.load(3, STACK, -8);
            }
            program.set_long(1, *number);
            program.jump_by(JUMP_UNLESS_SAME, 3, 1, "out");
        }
    }
    // A group may be the one that nbuf runs in.
    program.call(GET_PROCESS_AND_TASK);
    program.with_number(SHIFT_RIGHT, 0, 32);
    let own = i32::try_from(std::process::id()).ok()?;
    program.jump_if(JUMP_IF_EQUAL, 0, own, "out");
    Some(())
}
