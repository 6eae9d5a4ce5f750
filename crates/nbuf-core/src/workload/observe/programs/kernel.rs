//! Where members of the kernel's structures are, and the numbers of its tracepoints, by its own description.

use crate::sys::bpf::description::Description;
use crate::workload::record::btf::Btf;

/// The tracepoints whose arguments have types.
const TYPED: [&str; 4] = [
    "btf_trace_sched_switch",
    "btf_trace_task_newtask",
    "btf_trace_sched_process_exit",
    "btf_trace_mm_filemap_add_to_page_cache",
];
const STRUCTURES: [&str; 3] = ["task_struct", "folio", "pageflags"];
/// Offsets in bytes, as instructions have them, and numbers of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    pub(super) switch: u32,
    pub(super) newtask: u32,
    pub(super) exit: u32,
    pub(super) add: u32,
    pub(super) task: Task,
    pub(super) folio: Folio,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) number: i16,
    pub(super) process: i16,
    pub(super) flags: i16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folio {
    pub(super) flags: i16,
    pub(super) order: i16,
    /// The bit that says that it has several pages.
    pub(super) head: i32,
}

impl Kernel {
    /// The kernel that runs, if it describes all that is needed.
    pub(super) fn described() -> Option<Self> {
        let description = Description::open().ok()?;
        let bytes = description.bytes();
        let wanted = [&TYPED[..], &STRUCTURES].concat();
        let early = Btf::parse_until_found(bytes, &wanted);
        early.and_then(|btf| Self::of(&btf)).or_else(|| Self::of(&Btf::parse(bytes, &wanted)?))
    }

    fn of(btf: &Btf<'_>) -> Option<Self> {
        let of = |structure: &str, member: &str| i16::try_from(btf.offset(structure, member)?).ok();
        let [switch, newtask, exit, add] = TYPED.map(|name| btf.type_named(name));
        Some(Self {
            switch: switch?,
            newtask: newtask?,
            exit: exit?,
            add: add?,
            task: Task {
                number: of("task_struct", "pid")?,
                process: of("task_struct", "tgid")?,
                flags: of("task_struct", "flags")?,
            },
            folio: Folio {
                flags: of("folio", "flags")?,
                // A member of its own until Linux 6.6.
                order: of("folio", "_folio_order").or_else(|| of("folio", "_flags_1"))?,
                head: btf.value("pageflags", "PG_head")?.cast_signed(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_the_description_says_what_all_of_it_says() {
        let Ok(description) = Description::open() else { return };
        let wanted = [&TYPED[..], &STRUCTURES].concat();
        let whole = Btf::parse(description.bytes(), &wanted).and_then(|btf| Kernel::of(&btf));
        assert_eq!(Kernel::described(), whole);
    }
}
